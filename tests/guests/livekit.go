package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/livekit/protocol/auth"
	"github.com/livekit/protocol/livekit"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"
)

const (
	// liveKitProtocol is the version of the signalling protocol: two connections, and tracks that the server mutes.
	liveKitProtocol = "15"
	// answerTimeout bounds the wait for an answer of a server.
	answerTimeout = 10 * time.Second
)

// liveKit is a room of LiveKit. The guest sends on one connection and receives on another, as clients of older versions
// do: livekit-client 2.23 uses a single one. It does not reconnect.
type liveKit struct {
	*guest
	ws       *websocket.Conn
	writing  sync.Mutex
	sender   *connection
	receiver *connection
	// sids are the server's identifiers of the published tracks, by kind.
	sids map[string]string
	// published and answers have what the server returned to the last request.
	published chan *livekit.TrackPublishedResponse
	answers   chan string
	// early has candidates that arrived before the remote description of their connection.
	early map[*connection][]webrtc.ICECandidateInit
	mu    sync.Mutex
	// identities are the other participants, by SID.
	identities map[string]string
	leaving    chan struct{}
	reading    sync.WaitGroup
}

// newLiveKit returns a room that is not joined.
func newLiveKit(g *guest) *liveKit {
	return &liveKit{
		guest: g, sids: map[string]string{}, published: make(chan *livekit.TrackPublishedResponse, 1), answers: make(chan string, 1),
		early: map[*connection][]webrtc.ICECandidateInit{}, identities: map[string]string{}, leaving: make(chan struct{}),
	}
}

func (l *liveKit) join(ctx context.Context) error {
	joined, err := l.dial(ctx)
	if err != nil {
		return err
	}
	l.addIdentities(joined.OtherParticipants)
	if l.sender, err = l.newConnection(); err != nil {
		return err
	}
	if l.receiver, err = l.newConnection(); err != nil {
		return err
	}
	l.receiver.receive(l.identityOf)
	l.reading.Go(l.read)
	l.reading.Go(func() { l.ping(time.Duration(max(1, joined.PingInterval)) * time.Second) })
	return l.publish(ctx)
}

// dial opens the WebSocket and returns the server's first message.
func (l *liveKit) dial(ctx context.Context) (*livekit.JoinResponse, error) {
	token, err := auth.NewAccessToken(l.key, l.secret).SetIdentity(l.identity).SetName(l.identity).SetValidFor(time.Hour).
		SetVideoGrant(&auth.VideoGrant{RoomJoin: true, Room: l.options.room}).ToJWT()
	if err != nil {
		return nil, err
	}
	query := url.Values{"access_token": {token}, "auto_subscribe": {"1"}, "protocol": {liveKitProtocol}, "sdk": {"go"}}
	ws, response, err := websocket.DefaultDialer.DialContext(ctx, strings.TrimSuffix(l.url, "/")+"/rtc?"+query.Encode(), nil)
	if err != nil {
		return nil, refusal(err, response)
	}
	l.ws = ws
	first, err := l.next()
	if err != nil {
		return nil, err
	}
	joined := first.GetJoin()
	if joined == nil {
		return nil, fmt.Errorf("the server refused the participant: %s", first)
	}
	return joined, nil
}

// publish adds the tracks of all sources and returns when their connection is connected.
func (l *liveKit) publish(ctx context.Context) error {
	if len(l.sources) == 0 {
		return nil
	}
	for kind, s := range l.sources {
		if err := l.addTrack(ctx, kind, s); err != nil {
			return err
		}
	}
	if err := l.sender.publish(l.sources); err != nil {
		return err
	}
	if err := l.negotiate(ctx); err != nil {
		return err
	}
	return l.sender.awaitConnected(ctx)
}

// addTrack announces a track and waits for its SID.
func (l *liveKit) addTrack(ctx context.Context, kind string, s *source) error {
	track := &livekit.AddTrackRequest{Cid: s.track.ID(), Name: kind, Type: livekit.TrackType_AUDIO, Source: livekit.TrackSource_MICROPHONE, DisableRed: true}
	if kind == "video" {
		track.Type, track.Source, track.Width, track.Height = livekit.TrackType_VIDEO, livekit.TrackSource_CAMERA, 320, 180
	}
	if err := l.send(&livekit.SignalRequest{Message: &livekit.SignalRequest_AddTrack{AddTrack: track}}); err != nil {
		return err
	}
	published, err := await(ctx, l.guest, l.published)
	if err != nil {
		return fmt.Errorf("publish %s: %w", kind, err)
	}
	l.sids[kind] = published.GetTrack().GetSid()
	return nil
}

// negotiate sends an offer for the published tracks and sets the answer.
func (l *liveKit) negotiate(ctx context.Context) error {
	offer, err := l.sender.offer()
	if err != nil {
		return err
	}
	description := &livekit.SessionDescription{Type: "offer", Sdp: offer}
	if err := l.send(&livekit.SignalRequest{Message: &livekit.SignalRequest_Offer{Offer: description}}); err != nil {
		return err
	}
	answer, err := await(ctx, l.guest, l.answers)
	if err != nil {
		return fmt.Errorf("offer: %w", err)
	}
	if err := l.sender.accept(answer); err != nil {
		return err
	}
	return l.addEarly(l.sender)
}

func (l *liveKit) setMuted(_ context.Context, kind string, muted bool) error {
	mute := &livekit.MuteTrackRequest{Sid: l.sids[kind], Muted: muted}
	return l.send(&livekit.SignalRequest{Message: &livekit.SignalRequest_Mute{Mute: mute}})
}

func (l *liveKit) unpublish(ctx context.Context, kind string) error {
	if err := l.sender.RemoveTrack(l.sender.senders[kind]); err != nil {
		return err
	}
	return l.negotiate(ctx)
}

func (l *liveKit) leave(context.Context) {
	close(l.leaving)
	if l.ws != nil {
		leave := &livekit.LeaveRequest{Reason: livekit.DisconnectReason_CLIENT_INITIATED, Action: livekit.LeaveRequest_DISCONNECT}
		// The guest leaves without the server if it is unreachable.
		_ = l.send(&livekit.SignalRequest{Message: &livekit.SignalRequest_Leave{Leave: leave}})
		_ = l.ws.Close() // it may be closed
	}
	l.reading.Wait()
	for _, c := range []*connection{l.sender, l.receiver} {
		if c != nil {
			c.shut()
		}
	}
}

// read handles messages of the server until the WebSocket is closed.
func (l *liveKit) read() {
	for {
		message, err := l.next()
		if err == nil {
			err = l.handle(message)
		}
		if err != nil {
			l.fail(fmt.Errorf("signalling: %w", err))
			return
		}
	}
}

// handle handles one message of the server.
func (l *liveKit) handle(message *livekit.SignalResponse) error {
	switch m := message.Message.(type) {
	case *livekit.SignalResponse_Offer:
		return l.answer(m.Offer)
	case *livekit.SignalResponse_Answer:
		return deliver(l.answers, m.Answer.Sdp)
	case *livekit.SignalResponse_TrackPublished:
		return deliver(l.published, m.TrackPublished)
	case *livekit.SignalResponse_Trickle:
		return l.trickle(m.Trickle)
	case *livekit.SignalResponse_Update:
		l.addIdentities(m.Update.Participants)
	case *livekit.SignalResponse_Leave:
		return fmt.Errorf("the server ended the participation: %s", m.Leave.Reason)
	}
	return nil
}

// answer answers an offer of the server, which has the tracks of others.
func (l *liveKit) answer(offer *livekit.SessionDescription) error {
	answer, err := l.receiver.answer(offer.Sdp)
	if err != nil {
		return err
	}
	description := &livekit.SessionDescription{Type: "answer", Sdp: answer, Id: offer.Id}
	if err := l.send(&livekit.SignalRequest{Message: &livekit.SignalRequest_Answer{Answer: description}}); err != nil {
		return err
	}
	return l.addEarly(l.receiver)
}

// trickle adds a candidate of the server, or keeps it until the remote description is set.
func (l *liveKit) trickle(t *livekit.TrickleRequest) error {
	c := l.receiver
	if t.Target == livekit.SignalTarget_PUBLISHER {
		c = l.sender
	}
	var candidate webrtc.ICECandidateInit
	if err := json.Unmarshal([]byte(t.CandidateInit), &candidate); err != nil || t.CandidateInit == "" {
		return err
	}
	l.mu.Lock()
	l.early[c] = append(l.early[c], candidate)
	l.mu.Unlock()
	if c.RemoteDescription() == nil {
		return nil
	}
	return l.addEarly(c)
}

// addEarly adds the candidates that arrived so far.
func (l *liveKit) addEarly(c *connection) error {
	l.mu.Lock()
	early := l.early[c]
	delete(l.early, c)
	l.mu.Unlock()
	var errs []error
	for _, candidate := range early {
		errs = append(errs, c.AddICECandidate(candidate))
	}
	return errors.Join(errs...)
}

// addIdentities stores the identities of participants.
func (l *liveKit) addIdentities(participants []*livekit.ParticipantInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range participants {
		l.identities[p.Sid] = p.Identity
	}
}

// identityOf returns who publishes a stream. The ID of a stream begins with the SID of the participant.
func (l *liveKit) identityOf(stream string) string {
	sid, _, _ := strings.Cut(stream, "|")
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.identities[sid]
}

// ping sends a ping at an interval until the guest leaves. Without it, the server ends the participation.
func (l *liveKit) ping(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-l.leaving:
			return
		case now := <-ticker.C:
			request := &livekit.SignalRequest_PingReq{PingReq: &livekit.Ping{Timestamp: now.UnixMilli()}}
			if err := l.send(&livekit.SignalRequest{Message: request}); err != nil {
				l.fail(err)
				return
			}
		}
	}
}

// next returns the next message of the server.
func (l *liveKit) next() (*livekit.SignalResponse, error) {
	_, data, err := l.ws.ReadMessage()
	if err != nil {
		return nil, err
	}
	message := &livekit.SignalResponse{}
	return message, proto.Unmarshal(data, message)
}

// send sends a message.
func (l *liveKit) send(message *livekit.SignalRequest) error {
	data, err := proto.Marshal(message)
	if err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.ws.WriteMessage(websocket.BinaryMessage, data)
}
