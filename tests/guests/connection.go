package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
)

// newAPI returns pion with its default codecs and interceptors (NACK, RTCP reports, TWCC) and loopback candidates.
func newAPI() (*webrtc.API, error) {
	var codecs webrtc.MediaEngine
	var interceptors interceptor.Registry
	if err := codecs.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	if err := webrtc.ConfigureTWCCHeaderExtensionSender(&codecs, &interceptors); err != nil {
		return nil, err
	}
	if err := webrtc.RegisterDefaultInterceptors(&codecs, &interceptors); err != nil {
		return nil, err
	}
	var settings webrtc.SettingEngine
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	return webrtc.NewAPI(webrtc.WithMediaEngine(&codecs), webrtc.WithInterceptorRegistry(&interceptors),
		webrtc.WithSettingEngine(settings)), nil
}

// connection is an RTCPeerConnection with the senders of its published sources.
type connection struct {
	*webrtc.PeerConnection
	guest   *guest
	senders map[string]*webrtc.RTPSender
	// connected is closed when ICE and DTLS are connected for the first time.
	connected chan struct{}
	// done is closed by shut, which waits for writers.
	done    chan struct{}
	writers sync.WaitGroup
}

// newConnection returns a connection. If it fails, the guest fails. With a TURN server it has only relay candidates.
func (g *guest) newConnection() (*connection, error) {
	var config webrtc.Configuration
	if g.turn != "" {
		config.ICETransportPolicy = webrtc.ICETransportPolicyRelay
		config.ICEServers = []webrtc.ICEServer{{URLs: []string{g.turn}, Username: g.turnUser, Credential: g.turnPass}}
	}
	pc, err := g.api.NewPeerConnection(config)
	if err != nil {
		return nil, err
	}
	c := &connection{PeerConnection: pc, guest: g, senders: map[string]*webrtc.RTPSender{}, connected: make(chan struct{}), done: make(chan struct{})}
	pc.OnConnectionStateChange(c.observe(new(sync.Once)))
	return c, nil
}

// observe returns a handler of connection states.
func (c *connection) observe(first *sync.Once) func(webrtc.PeerConnectionState) {
	return func(state webrtc.PeerConnectionState) {
		switch state {
		case webrtc.PeerConnectionStateConnected:
			first.Do(func() { close(c.connected) })
		case webrtc.PeerConnectionStateFailed:
			c.guest.fail(fmt.Errorf("connection state is %s", state))
		}
	}
}

// publish adds the tracks of all sources and starts to write them.
func (c *connection) publish(sources map[string]*source) error {
	for kind, s := range sources {
		transceiver, err := c.AddTransceiverFromTrack(s.track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly})
		if err != nil {
			return err
		}
		c.senders[kind] = transceiver.Sender()
		c.writers.Go(func() { s.answerRequests(c.senders[kind]) })
		c.writers.Go(func() {
			if err := s.write(c.done); err != nil {
				c.guest.fail(err)
			}
		})
	}
	return nil
}

// offer returns an offer with all candidates.
func (c *connection) offer() (string, error) {
	description, err := c.CreateOffer(nil)
	if err != nil {
		return "", err
	}
	return c.gathered(description)
}

// answer accepts an offer and returns the answer with all candidates.
func (c *connection) answer(offer string) (string, error) {
	if err := c.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", err
	}
	description, err := c.CreateAnswer(nil)
	if err != nil {
		return "", err
	}
	return c.gathered(description)
}

// gathered sets the local description and returns it when candidates are gathered.
func (c *connection) gathered(description webrtc.SessionDescription) (string, error) {
	complete := webrtc.GatheringCompletePromise(c.PeerConnection)
	if err := c.SetLocalDescription(description); err != nil {
		return "", err
	}
	<-complete
	return c.LocalDescription().SDP, nil
}

// accept sets the answer to an offer.
func (c *connection) accept(answer string) error {
	return c.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer})
}

// receive reads all tracks of the connection and discards their packets. identity returns who publishes a stream.
func (c *connection) receive(identity func(stream string) string) {
	c.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		go discardRTCP(receiver)
		if track.Kind() == webrtc.RTPCodecTypeVideo {
			// An error is one of a closed connection, of which reading has the error too.
			_ = c.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: uint32(track.SSRC())}})
		}
		c.discard(track, identity)
	})
}

// discard counts the packets of a track until it ends, and emits an event at the first.
func (c *connection) discard(track *webrtc.TrackRemote, identity func(stream string) string) {
	buffer := make([]byte, 1500)
	for first := true; ; first = false {
		if _, _, err := track.Read(buffer); err != nil {
			return
		}
		c.guest.packets.Add(1)
		if first {
			c.guest.emit(event{Event: "track", Identity: identity(track.StreamID()), Kind: track.Kind().String()})
		}
	}
}

// discardRTCP reads RTCP of a receiver until it is closed, so that interceptors receive sender reports.
func discardRTCP(receiver *webrtc.RTPReceiver) {
	for {
		if _, _, err := receiver.ReadRTCP(); err != nil {
			return
		}
	}
}

// awaitConnected returns when the connection is connected, or the error of ctx or of the guest.
func (c *connection) awaitConnected(ctx context.Context) error {
	select {
	case <-c.connected:
		return nil
	case err := <-c.guest.failed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("media are not connected: %w", ctx.Err())
	}
}

// shut closes the connection and waits for its writers.
func (c *connection) shut() {
	close(c.done)
	// Close has no error that a participant who leaves could act on.
	_ = c.Close()
	c.writers.Wait()
}
