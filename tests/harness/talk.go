package harness

import (
	"context"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// connection opens a WebSocket and uses it until it is cut.
func (c *Client) connection(load, drain context.Context) error {
	if !c.Login(drain) {
		return nil
	}
	deaf := c.habits.Deaf > 0 && load.Err() == nil && c.dice.IntN(c.habits.Deaf) == 0
	w, err := Dial(drain, c.url(), deaf)
	if err != nil {
		return nil // the collector may be away just now
	}
	defer c.cut(w)
	claim := c.claim()
	if !w.Send(c.GreetingFrom(claim)...) {
		return nil
	}
	c.cursor = c.settled
	if claim < c.acked && !c.again(w, claim) {
		return nil
	}
	if c.habits.Twins {
		c.twin(drain)
	}
	if deaf {
		c.shout(load, w)
		return nil
	}
	return c.talk(load, drain, w)
}

// cut ends a connection in one of the ways in which connections end.
func (c *Client) cut(w *Wire) {
	c.Cuts++
	if c.habits.Calm {
		w.Finish()
		w.Close()
		return
	}
	switch c.dice.IntN(5) {
	case 0:
		w.Reset()
		return
	case 1:
		c.leaked = append(c.leaked, w.Abandon())
		return
	case 2:
		w.Goodbye()
	case 3:
		w.HalfClose()
	}
	w.Close()
}

// life is how long a connection is used.
func (c *Client) life(load context.Context) time.Duration {
	life := time.Duration(50+c.dice.IntN(600)) * time.Millisecond
	if c.dice.IntN(4) == 0 {
		life += 2 * time.Second // long enough to be slowed down and to go on
	}
	if load.Err() != nil {
		life = 5 * time.Second // the drain must come to an end, though its connections are slowed too
	}
	if c.habits.Calm {
		life = time.Hour
	}
	return life
}

// talk makes and sends frames until the dice cut the connection, or all is acknowledged.
func (c *Client) talk(load, drain context.Context, w *Wire) error {
	end := time.NewTimer(c.life(load))
	defer end.Stop()
	tick := time.NewTicker(c.habits.PushEvery)
	defer tick.Stop()
	var pausedUntil time.Time
	welcomed, deadline := false, time.Now().Add(time.Second)
	for {
		select {
		case <-end.C:
			return nil
		case <-drain.Done():
			return nil
		case <-tick.C:
			if !welcomed && time.Now().After(deadline) {
				return nil
			}
			if load.Err() == nil {
				c.push()
				c.push()
			} else if c.done() {
				return nil
			}
			if welcomed && time.Now().After(pausedUntil) && !c.send(w) {
				return nil
			}
		case message, ok := <-w.Heard():
			if !ok {
				return nil
			}
			switch m := message.(type) {
			case *protocol.Welcome:
				welcomed = true
			case *protocol.SlowDown:
				c.Slowed++
				pausedUntil, c.cursor = time.Now().Add(time.Duration(m.RetryAfterMs)*time.Millisecond), c.settled
			default:
				if bye, err := c.answer(message); bye || err != nil {
					return err
				}
			}
		}
	}
}

// again sends the frames past claim that were acknowledged: to the server they are not.
// Without them its acks would never reach what is new.
func (c *Client) again(w *Wire, claim uint64) bool {
	for _, f := range c.frames[:c.settled] {
		if f.Seq <= claim {
			continue
		}
		f.Sent++
		if !w.Send(f.Text) {
			return false
		}
	}
	return true
}

// send puts what the window allows on the wire.
func (c *Client) send(w *Wire) bool {
	for c.cursor < len(c.frames) && c.cursor-c.settled < protocol.WindowFrames {
		c.frames[c.cursor].Sent++
		if !w.Send(c.frames[c.cursor].Text) {
			return false
		}
		c.cursor++
	}
	return true
}

// shout makes and sends frames without ever listening, whatever the window says, until
// the connection breaks or the dice cut it.
func (c *Client) shout(load context.Context, w *Wire) {
	ctx, cancel := context.WithTimeout(load, c.life(load))
	defer cancel()
	for ctx.Err() == nil {
		c.push()
		for _, f := range c.frames[c.settled:] {
			f.Sent++
			if ctx.Err() != nil || !w.Send(f.Text) {
				return
			}
		}
		Pause(ctx, c.habits.PushEvery)
	}
}
