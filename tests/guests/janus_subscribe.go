package main

import (
	"context"
	"errors"
	"fmt"
)

// subscribe follows the publishers of the room until ctx is done, beginning with those of a message.
func (v *videoRoom) subscribe(ctx context.Context, m janusMessage) {
	for {
		// A publisher may leave before Janus reads a request that concerns it: then Janus returns an error.
		if err := v.follow(ctx, m); err != nil && ctx.Err() == nil && !errors.As(err, new(*janusError)) {
			v.fail(err)
		}
		select {
		case <-ctx.Done():
			return
		case m = <-v.session.events:
		}
	}
}

// follow subscribes to new publishers, drops those who left, and answers offers of the others.
func (v *videoRoom) follow(ctx context.Context, m janusMessage) error {
	e := m.Plugin.Data
	for _, p := range e.Publishers {
		if v.subscriptions[p.ID] != nil {
			continue
		}
		if err := v.add(ctx, p); err != nil {
			return fmt.Errorf("subscribe to %s: %w", p.ID, err)
		}
	}
	for _, gone := range []string{e.Leaving, e.Unpublished} {
		v.drop(ctx, gone)
	}
	return v.update(ctx, m)
}

// add subscribes to all streams of a publisher.
func (v *videoRoom) add(ctx context.Context, p publisher) error {
	handle, err := v.session.attach(ctx)
	if err != nil {
		return err
	}
	attached, err := v.session.message(ctx, handle, v.body("join", "ptype", "subscriber", "streams", []map[string]any{{"feed": p.ID}}), nil)
	if err != nil {
		return err
	}
	c, err := v.newConnection()
	if err != nil {
		return err
	}
	c.receive(func(string) string { return p.Display })
	v.subscriptions[p.ID] = &subscription{feed: p.ID, handle: handle, connection: c}
	return v.start(ctx, v.subscriptions[p.ID], attached.Jsep)
}

// start answers an offer of Janus. A message without a session description needs no answer.
func (v *videoRoom) start(ctx context.Context, s *subscription, offer *jsep) error {
	if offer == nil {
		return nil
	}
	answer, err := s.connection.answer(offer.SDP)
	if err != nil {
		return err
	}
	if _, err := v.session.message(ctx, s.handle, v.body("start"), &jsep{Type: "answer", SDP: answer}); err != nil {
		return err
	}
	return v.completeTrickle(s.handle)
}

// update answers the offer that Janus sends to a subscription when the streams of its publisher change.
func (v *videoRoom) update(ctx context.Context, m janusMessage) error {
	for _, s := range v.subscriptions {
		if s.handle == m.Sender {
			return v.start(ctx, s, m.Jsep)
		}
	}
	return nil
}

// drop closes the subscription to a publisher.
func (v *videoRoom) drop(ctx context.Context, id string) {
	s := v.subscriptions[id]
	if s == nil {
		return
	}
	delete(v.subscriptions, id)
	s.connection.shut()
	// The handle may be gone with the publisher.
	_, _ = v.session.request(ctx, janusRequest{Janus: "detach", Session: v.session.id, Handle: s.handle})
}
