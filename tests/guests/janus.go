package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// videoRoomEvent is an event or an answer of the VideoRoom.
type videoRoomEvent struct {
	VideoRoom  string      `json:"videoroom"`
	ID         string      `json:"id"`
	Publishers []publisher `json:"publishers"`
	// Leaving and Unpublished are an ID, or "ok" for the guest itself.
	Leaving     string `json:"leaving"`
	Unpublished string `json:"unpublished"`
	ErrorCode   int    `json:"error_code"`
	Error       string `json:"error"`
}

// publisher is another participant who publishes.
type publisher struct {
	ID      string `json:"id"`
	Display string `json:"display"`
}

// subscription is the handle and the connection for the media of one publisher.
type subscription struct {
	feed       string
	handle     uint64
	connection *connection
}

// videoRoom is a room of Janus's VideoRoom, whose IDs are text (string_ids). The guest sends on one connection, and receives on one for each publisher. It
// does not reconnect.
type videoRoom struct {
	*guest
	session *janusSession
	// id is the guest's own ID in the room.
	id     string
	handle uint64
	sender *connection
	// subscriptions are those of the publishers, by their ID. Only the goroutine subscribe uses them, then leave.
	subscriptions map[string]*subscription
	subscribing   sync.WaitGroup
	cancel        context.CancelFunc
}

// newVideoRoom returns a room that is not joined.
func newVideoRoom(g *guest) *videoRoom {
	return &videoRoom{guest: g, subscriptions: map[string]*subscription{}, cancel: func() {}}
}

func (v *videoRoom) join(ctx context.Context) (err error) {
	if v.session, err = dialJanus(ctx, v.guest); err != nil {
		return err
	}
	if v.handle, err = v.session.attach(ctx); err != nil {
		return err
	}
	joined, err := v.session.message(ctx, v.handle, v.body("join", "ptype", "publisher", "display", v.identity), nil)
	if err != nil {
		return err
	}
	v.id = joined.Plugin.Data.ID
	following, cancel := context.WithCancel(context.WithoutCancel(ctx))
	v.cancel = cancel
	v.subscribing.Go(func() { v.subscribe(following, joined) })
	return v.publish(ctx)
}

// publish publishes all sources and returns when their connection is connected.
func (v *videoRoom) publish(ctx context.Context) (err error) {
	if len(v.sources) == 0 {
		return nil
	}
	if v.sender, err = v.newConnection(); err != nil {
		return err
	}
	if err := v.sender.publish(v.sources); err != nil {
		return err
	}
	if err := v.negotiate(ctx); err != nil {
		return err
	}
	return v.sender.awaitConnected(ctx)
}

// negotiate sends an offer for the published tracks and sets the answer.
func (v *videoRoom) negotiate(ctx context.Context) error {
	offer, err := v.sender.offer()
	if err != nil {
		return err
	}
	answer, err := v.session.message(ctx, v.handle, v.body("configure"), &jsep{Type: "offer", SDP: offer})
	if err != nil {
		return err
	}
	if answer.Jsep == nil {
		return errors.New("configure: no session description in the answer")
	}
	if err := v.sender.accept(answer.Jsep.SDP); err != nil {
		return err
	}
	return v.completeTrickle(v.handle)
}

// completeTrickle notifies Janus that the session description had all candidates.
func (v *videoRoom) completeTrickle(handle uint64) error {
	return v.session.notify(janusRequest{Janus: "trickle", Session: v.session.id, Handle: handle, Candidate: map[string]any{"completed": true}})
}

// setMuted moderates the guest's own stream, so that others receive the event "moderation". The room must have no secret.
func (v *videoRoom) setMuted(ctx context.Context, kind string, muted bool) error {
	for _, t := range v.sender.GetTransceivers() {
		if t.Sender() == v.sender.senders[kind] {
			_, err := v.session.message(ctx, v.handle, v.body("moderate", "id", v.id, "mid", t.Mid(), "mute", muted), nil)
			return err
		}
	}
	return fmt.Errorf("no sender of %s", kind)
}

func (v *videoRoom) unpublish(ctx context.Context, kind string) error {
	if err := v.sender.RemoveTrack(v.sender.senders[kind]); err != nil {
		return err
	}
	return v.negotiate(ctx)
}

func (v *videoRoom) leave(ctx context.Context) {
	v.cancel()
	v.subscribing.Wait()
	if v.session == nil {
		return
	}
	// The guest leaves without the server if it is unreachable.
	_, _ = v.session.message(ctx, v.handle, v.body("leave"), nil)
	_, _ = v.session.request(ctx, janusRequest{Janus: "destroy", Session: v.session.id})
	v.session.close()
	if v.sender != nil {
		v.sender.shut()
	}
	for _, s := range v.subscriptions {
		s.connection.shut()
	}
}

// body returns a request to the plugin with pairs of names and values.
func (v *videoRoom) body(request string, pairs ...any) map[string]any {
	body := map[string]any{"request": request, "room": v.room}
	for i := 0; i+1 < len(pairs); i += 2 {
		body[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return body
}
