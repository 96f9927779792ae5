package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pion/webrtc/v4"
)

// guest is the state that both servers share.
type guest struct {
	options
	api     *webrtc.API
	sources map[string]*source
	// packets is the number of received RTP packets of all tracks.
	packets atomic.Int64
	// failed has the first error of a goroutine.
	failed chan error
	output sync.Mutex
}

// newGuest returns a guest with a source for each kind that it publishes.
func newGuest(o options) (*guest, error) {
	api, err := newAPI()
	if err != nil {
		return nil, err
	}
	g := &guest{options: o, api: api, sources: map[string]*source{}, failed: make(chan error, 1)}
	for _, kind := range o.kinds() {
		if g.sources[kind], err = newSource(kind); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// fail ends the participation with an error. Errors after the first are dropped.
func (g *guest) fail(err error) {
	select {
	case g.failed <- err:
	default:
	}
}

// event is a line of the standard output.
type event struct {
	Event    string    `json:"event"`
	Identity string    `json:"identity,omitempty"`
	Kind     string    `json:"kind,omitempty"`
	Received *received `json:"received,omitempty"`
}

// received is the media that a guest received.
type received struct {
	Packets int64 `json:"packets"`
}

// emit writes an event to the standard output.
func (g *guest) emit(e event) {
	g.output.Lock()
	defer g.output.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(e); err != nil {
		g.fail(err)
	}
}

// obey executes commands until ctx is done or the command leave. The end of the standard input is no command.
func (g *guest) obey(ctx context.Context, r room) error {
	commands := make(chan string)
	go readCommands(ctx, commands)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-g.failed:
			return err
		case line := <-commands:
			if line == "leave" {
				return nil
			}
			if err := g.execute(ctx, r, line); err != nil && ctx.Err() == nil {
				return fmt.Errorf("command %q: %w", line, err)
			}
		}
	}
}

// readCommands reads lines of the standard input. It ends with the process: a read of the standard input has no deadline.
func readCommands(ctx context.Context, commands chan<- string) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		select {
		case commands <- strings.TrimSpace(in.Text()):
		case <-ctx.Done():
			return
		}
	}
}

// execute executes one command but leave. An empty line is no command.
func (g *guest) execute(ctx context.Context, r room, line string) error {
	verb, kind, _ := strings.Cut(line, " ")
	if line == "" {
		return nil
	}
	if g.sources[kind] == nil {
		return fmt.Errorf("no %s is published", kind)
	}
	switch verb {
	case "mute", "unmute":
		g.sources[kind].muted.Store(verb == "mute")
		return r.setMuted(ctx, kind, verb == "mute")
	case "unpublish":
		delete(g.sources, kind)
		return r.unpublish(ctx, kind)
	}
	return fmt.Errorf("the verb must be mute, unmute, unpublish or leave (got %q)", verb)
}
