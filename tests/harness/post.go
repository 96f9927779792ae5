package harness

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/qosrtc/qos/protocol"
)

// post sends what is not acknowledged through the other door, and listens to the answer
// half of the time, as a page that goes does not.
func (c *Client) post(ctx context.Context) error {
	if !c.Login(ctx) {
		return nil
	}
	url, copies := c.url(), 1
	if c.habits.Twins {
		copies = 2
	}
	body := c.body(copies)
	c.Posts++
	if copies > 1 {
		c.twins.Go(func() { _ = c.exchange(ctx, url, body) })
	}
	answer := c.exchange(ctx, url, body)
	if c.dice.IntN(2) == 0 {
		return nil
	}
	for line := range bytes.Lines(answer) {
		message, err := protocol.DecodeServer(bytes.TrimSpace(line))
		if err != nil {
			return err
		}
		if _, err := c.answer(message); err != nil {
			return err
		}
	}
	return nil
}

// body is a POST of what is not acknowledged, as much as there is room for, to be sent copies
// times. Some of the frames are still under way on a connection that was cut.
func (c *Client) body(copies int) string {
	body := strings.Join(c.Greeting(), "\n")
	for _, f := range c.frames[c.settled:] {
		if len(body)+1+len(f.Text) > protocol.MaxFrameBytes {
			break
		}
		body += "\n" + f.Text
		f.Sent += copies
	}
	return body
}

// exchange returns the answer to a POST that was taken, or nothing.
func (c *Client) exchange(ctx context.Context, url, body string) []byte {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"frames", strings.NewReader(body))
	if err != nil {
		return nil
	}
	req.Header.Set("Origin", Origin)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return answer
}

// twin sends all frames that were sent and not acknowledged over a connection of their
// own, at the same time, and listens to nothing: byte for byte the same.
func (c *Client) twin(ctx context.Context) {
	lines := c.Greeting()
	for _, f := range c.frames[c.settled:] {
		if f.Sent == 0 {
			break
		}
		f.Sent++
		lines = append(lines, f.Text)
	}
	url := c.url()
	c.twins.Go(func() {
		w, err := Dial(ctx, url, false)
		if err != nil {
			return
		}
		defer w.Close()
		if w.Send(lines...) {
			w.Finish()
		}
	})
}
