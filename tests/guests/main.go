// Command guest is a participant without a browser and without an encoder, for tests of calls through real media
// servers. It joins a room of LiveKit or of Janus's VideoRoom, publishes recorded media in a loop, subscribes to all that
// others publish and discards the RTP packets. README.md has the flags, the commands and the configurations of the servers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// leaveTimeout bounds a clean leave.
const leaveTimeout = 5 * time.Second

// options are the flags.
type options struct {
	server, url, room, identity string
	publish                     string
	duration                    time.Duration
	leave                       string
	key, secret                 string
	turn, turnUser, turnPass    string
}

func main() {
	var o options
	o.register(flag.CommandLine)
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1) //nolint:forbidigo // a program's end
	}
}

// register declares the flags.
func (o *options) register(f *flag.FlagSet) {
	f.StringVar(&o.server, "server", "livekit", "media server: livekit or janus")
	f.StringVar(&o.url, "url", "", "WebSocket URL of the server (default ws://127.0.0.1:7880 for livekit, ws://127.0.0.1:8188 for janus)")
	f.StringVar(&o.room, "room", "", "room; with janus one that exists")
	f.StringVar(&o.identity, "identity", "", "identity of the participant; the display name for janus")
	f.StringVar(&o.publish, "publish", "audio,video", "kinds to publish, separated by commas; empty: the guest only views")
	f.DurationVar(&o.duration, "for", time.Minute, "time until the guest leaves")
	f.StringVar(&o.leave, "leave", "clean", "how the guest leaves: clean, or vanish, which sends no message")
	f.StringVar(&o.key, "key", "devkey", "API key of livekit")
	f.StringVar(&o.secret, "secret", "secret", "API secret of livekit")
	f.StringVar(&o.turn, "turn", "", "URL of a TURN server over UDP; empty: candidates of any type, else only relay candidates")
	f.StringVar(&o.turnUser, "turn-user", "", "user name at the TURN server")
	f.StringVar(&o.turnPass, "turn-password", "", "password at the TURN server")
}

// complete validates the options and sets the default URL.
func (o *options) complete() error {
	defaults := map[string]string{"livekit": "ws://127.0.0.1:7880", "janus": "ws://127.0.0.1:8188"}
	if defaults[o.server] == "" {
		return fmt.Errorf("server must be livekit or janus (got %q)", o.server)
	}
	if o.url == "" {
		o.url = defaults[o.server]
	}
	switch {
	case o.room == "" || o.identity == "":
		return errors.New("room and identity are required")
	case o.leave != "clean" && o.leave != "vanish":
		return fmt.Errorf("leave must be clean or vanish (got %q)", o.leave)
	case strings.HasPrefix(o.turn, "turns:") || strings.HasSuffix(o.turn, "transport=tcp"):
		// pion/ice v4.2.2 makes no candidate pair of a relay candidate over TCP and a remote candidate over UDP.
		return fmt.Errorf("turn must be a TURN server over UDP (got %q)", o.turn)
	case o.duration <= 0:
		return fmt.Errorf("for must be positive (got %s)", o.duration)
	}
	return nil
}

// kinds returns the kinds to publish.
func (o *options) kinds() []string {
	return strings.FieldsFunc(o.publish, func(r rune) bool { return r == ',' })
}

// room is a room of one server. All methods but leave are called after join returned.
type room interface {
	// join returns when the guest is a participant and its media are connected.
	join(ctx context.Context) error
	// setMuted mutes or unmutes the published track of a kind.
	setMuted(ctx context.Context, kind string, muted bool) error
	// unpublish ends the published track of a kind.
	unpublish(ctx context.Context, kind string) error
	// leave notifies the server and closes all connections.
	leave(ctx context.Context)
}

// run takes part from join to leave.
func run(o options) error {
	if err := o.complete(); err != nil {
		return err
	}
	g, err := newGuest(o)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, o.duration)
	defer cancel()
	return g.participate(ctx, g.newRoom())
}

// newRoom returns the room of the server.
func (g *guest) newRoom() room {
	if g.server == "janus" {
		return newVideoRoom(g)
	}
	return newLiveKit(g)
}

// participate joins, obeys commands until ctx is done, a command ends it or a connection fails, and leaves.
func (g *guest) participate(ctx context.Context, r room) error {
	err := r.join(ctx)
	if err == nil {
		g.emit(event{Event: "joined"})
		err = g.obey(ctx, r)
	}
	if g.leave == "clean" || err != nil {
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
		defer cancel()
		r.leave(leaving)
	}
	if err == nil {
		g.emit(event{Event: "left", Received: &received{Packets: g.packets.Load()}})
	}
	return err
}
