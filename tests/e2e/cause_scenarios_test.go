package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
)

// causeScene is one harmed call: who is in it, and what is done to it.
type causeScene struct {
	name  string
	label cause.Label
	// prepare changes the people before they join.
	prepare func(c *causeCall)
	// act harms the call once media flow.
	act func(c *causeCall)
	// fails: media never flow.
	fails bool
	// kinds of media that flow at first; nil: sound and picture.
	kinds []string
	// browser of everybody; empty: Chromium.
	browser string
	// starved is who has little processor, from when on the call is harmed.
	starved starvation
	users   []string
	server  bool
	// lasts is how long the call goes well and is harmed; the zero value: full.
	lasts length
	// gone is how many participants give no feedback at the end.
	gone int
}

// starvation is what one participant's machine has left: a browser of their own has a share
// of one processor, and threads of its page want all of that.
type starvation struct {
	who   string
	share float64
	busy  int
}

func (s starvation) String() string {
	if s.busy == 0 {
		return fmt.Sprintf("%.1f %% of a processor", 100*s.share)
	}
	return fmt.Sprintf("%.0f %% of a processor, and %d other threads that want it", 100*s.share, s.busy)
}

// length is how long a call goes well, and how long it is harmed then: intervals are of 2 s.
type length struct{ well, harmed time.Duration }

var (
	full = length{5 * time.Second, 19 * time.Second}
	// brief is enough for what the network does, and for a connection that was never made.
	brief = length{3 * time.Second, 8 * time.Second}
)

func sound(m *member) { m.Media.Video = "" }

// edges gives everybody an access of their own to the network, all through relays.
func edges(c *causeCall) {
	for i, m := range c.people {
		m.edge = startEdge(c.t, uint64(i+1))
	}
}

// edgeFor gives one an access of their own, and leaves the others without relay.
func edgeFor(user string) func(*causeCall) {
	return func(c *causeCall) { c.of(user).edge = startEdge(c.t, 7) }
}

// pair puts a relay between two people, for what they send to each other alone.
func pair(c *causeCall, from, to string, e *edge) {
	for i := range c.of(from).Remotes {
		if r := &c.of(from).Remotes[i]; r.User == to {
			r.ICE = through(e)
		}
	}
}

func high(m *member) { m.Media.Height, m.Media.FPS = 480, 25 }

func up(user string, h harm) func(*causeCall) {
	return func(c *causeCall) { c.of(user).edge.up.set(h) }
}

func down(user string, h harm) func(*causeCall) {
	return func(c *causeCall) { c.of(user).edge.down.set(h) }
}

func both(user string, h harm) func(*causeCall) {
	return func(c *causeCall) { c.of(user).edge.up.set(h); c.of(user).edge.down.set(h) }
}

func inPage(user, expression string) func(*causeCall) {
	return func(c *causeCall) { c.of(user).page.Run(expression) }
}

func each(do ...func(*causeCall)) func(*causeCall) {
	return func(c *causeCall) {
		for _, one := range do {
			one(c)
		}
	}
}

func forAll(do func(*member)) func(*causeCall) {
	return func(c *causeCall) {
		for _, m := range c.people {
			do(m)
		}
	}
}

const ms = time.Millisecond

var (
	two   = []string{"ada", "ben"}
	three = []string{"ada", "ben", "cyd"}
)

type causeLabel = cause.Label

func label(cause, did string, users ...string) causeLabel {
	return causeLabel{Cause: cause, Users: users, Did: did}
}

// path is the label of what was done between two people, and to nobody's access in
// particular as far as anybody in the call can tell.
func path(from, to, did string) cause.Label {
	return cause.Label{Cause: "pathOrTurn", Users: []string{from, to}, Did: did}
}

// causeScenes lists the calls.
func causeScenes() []causeScene {
	scenes := goodScenes()
	scenes = append(scenes, pairScenes()...)
	scenes = append(scenes, meshScenes()...)
	scenes = append(scenes, serverScenes()...)
	scenes = append(scenes, machineScenes()...)
	scenes = append(scenes, sourceScenes()...)
	scenes = append(scenes, missingScenes()...)
	scenes = append(scenes, failedScenes()...)
	return append(scenes, signallingScenes()...)
}

func goodScenes() []causeScene {
	none := func(did string) cause.Label { return label("none", did) }
	return []causeScene{
		{name: "good-direct", users: two, label: none("nothing")},
		{name: "good-relayed", users: two, label: none("nothing; all media are relayed"), prepare: edges},
		{name: "good-sound", users: two, label: none("nothing; sound only"), prepare: forAll(sound), kinds: []string{"audio"}},
		{name: "good-mesh", users: three, label: none("nothing; three people"), prepare: edges},
		{name: "good-mesh-direct", users: three, label: none("nothing; three people")},
		{name: "good-server", users: three, server: true, label: none("nothing; a media server between three people"), prepare: edges},
		{name: "good-firefox", users: two, browser: browser.Firefox, label: none("nothing; Firefox")},
		{name: "good-delay", users: two, label: none("30 ms of delay each way"), prepare: edges, act: both("ada", harm{delay: 30 * ms})},
		{name: "good-little-loss", users: two, label: none("1 % of loss each way"), prepare: edges, act: both("ada", harm{loss: .01})},
		{name: "muted", users: two, label: none("Ada muted her microphone and said so"), act: inPage("ada",
			"(senders('audio').forEach((s) => s.track.enabled = false), event('audioMute'))")},
		{name: "paused", users: two, label: none("Ada paused her picture and said so"), act: inPage("ada",
			"(senders('video').forEach((s) => s.track.enabled = false), event('videoPause'))")},
		{name: "paused-off", users: two, label: none("Ada took her camera away and said so"), act: inPage("ada",
			"(event('videoPause'), senders('video').forEach((s) => s.replaceTrack(null)))")},
		{name: "held", users: two, label: none("Ada held the call and said so"), act: inPage("ada",
			"(event('fabricHold'), [...call.pcs.values()].forEach((one) => one.pc.getSenders().forEach((s) => s.replaceTrack(null))))")},
		{name: "muted-firefox", users: two, browser: browser.Firefox, label: none("Ada muted her microphone and said so"), act: inPage("ada",
			"(senders('audio').forEach((s) => s.track.enabled = false), event('audioMute'))")},
	}
}

func pairScenes() []causeScene {
	scene := func(name string, l cause.Label, act func(*causeCall), prepare ...func(*causeCall)) causeScene {
		if len(prepare) == 0 {
			prepare = []func(*causeCall){edges}
		}
		return causeScene{name: name, users: two, label: l, prepare: each(prepare...), act: act}
	}
	scenes := []causeScene{
		scene("pair-up-loss-15", path("ada", "ben", "15 % loss of what Ada sends"), up("ada", harm{loss: .15})),
		scene("pair-up-loss-6", path("ada", "ben", "6 % loss of what Ada sends"), up("ada", harm{loss: .06})),
		scene("pair-down-loss-15", path("ben", "ada", "15 % loss of what Ada gets"), down("ada", harm{loss: .15})),
		scene("pair-down-loss-30", path("ben", "ada", "30 % loss of what Ada gets"), down("ada", harm{loss: .3})),
		scene("pair-ben-up-loss-10", path("ben", "ada", "10 % loss of what Ben sends"), up("ben", harm{loss: .1})),
		scene("pair-both-loss-10", path("ada", "ben", "10 % loss each way"), both("ada", harm{loss: .1})),
		scene("pair-both-delay", path("ada", "ben", "300 ms of delay each way"), both("ada", harm{delay: 300 * ms})),
		scene("pair-one-delay", path("ada", "ben", "500 ms of delay one way"), up("ben", harm{delay: 500 * ms})),
		scene("pair-up-jitter", path("ada", "ben", "up to 250 ms of jitter of what Ada sends"), up("ada", harm{jitter: 250 * ms})),
		scene("pair-down-jitter", path("ben", "ada", "up to 250 ms of jitter of what Ada gets"), down("ada", harm{jitter: 250 * ms})),
		scene("pair-up-cap", path("ada", "ben", "Ada can send 120 kbit/s"), up("ada", harm{rateBps: 120e3}), edges, forAll(high)),
		scene("pair-down-cap", path("ben", "ada", "Ada can get 150 kbit/s"), down("ada", harm{rateBps: 150e3}), edges, forAll(high)),
		scene("pair-direct-up-loss", path("ada", "ben", "12 % loss of what Ada sends; only she is relayed"), up("ada", harm{loss: .12}), edgeFor("ada")),
	}
	sounds := scene("pair-sound-loss", path("ben", "ada", "10 % loss of what Ben sends, sound only"), up("ben", harm{loss: .1}), edges, forAll(sound))
	sounds.kinds = []string{"audio"}
	wifi := scene("pair-wifi-up", label("senderUplink", "Ada's wireless network is weak: she sends with 12 % loss", "ada"), up("ada", harm{loss: .12}),
		edges)
	wifi.act = each(wifi.act, inPage("ada", "library.attachWifiStatsHandler(async () => JSON.stringify({signal: 18, rssi: -88, timestamp: Date.now()}))"))
	fox := scene("pair-firefox-loss", path("ada", "ben", "15 % loss of what Ada sends, in Firefox"), up("ada", harm{loss: .15}))
	fox.browser = browser.Firefox
	foxCap := scene("pair-firefox-cap", path("ben", "ada", "Ben can send 120 kbit/s, in Firefox"), up("ben", harm{rateBps: 120e3}), edges, forAll(high))
	foxCap.browser = browser.Firefox
	return append(scenes, sounds, wifi, fox, foxCap)
}

func meshScenes() []causeScene {
	scene := func(name string, l cause.Label, act func(*causeCall)) causeScene {
		return causeScene{name: name, users: three, label: l, prepare: edges, act: act}
	}
	between := func(name string, e func() (string, string), h harm) causeScene {
		from, to := e()
		var own *edge
		return causeScene{
			name: name, users: three, label: path(from, to, fmt.Sprintf("between %s and %s alone: %+v", from, to, h)),
			prepare: func(c *causeCall) { own = startEdge(c.t, 9); pairLater(c, from, to, own) },
			act:     func(*causeCall) { own.up.set(h); own.down.set(h) },
		}
	}
	narrow := func(s causeScene) causeScene { s.prepare = each(edges, forAll(high)); return s }
	return []causeScene{
		scene("mesh-up-loss-a", label("senderUplink", "15 % loss of what Ada sends", "ada"), up("ada", harm{loss: .15})),
		scene("mesh-up-loss-b", label("senderUplink", "8 % loss of what Ben sends", "ben"), up("ben", harm{loss: .08})),
		scene("mesh-up-loss-c", label("senderUplink", "25 % loss of what Cyd sends", "cyd"), up("cyd", harm{loss: .25})),
		scene("mesh-down-loss-a", label("receiverDownlink", "15 % loss of what Ada gets", "ada"), down("ada", harm{loss: .15})),
		scene("mesh-down-loss-b", label("receiverDownlink", "8 % loss of what Ben gets", "ben"), down("ben", harm{loss: .08})),
		scene("mesh-down-loss-c", label("receiverDownlink", "25 % loss of what Cyd gets", "cyd"), down("cyd", harm{loss: .25})),
		scene("mesh-up-jitter-b", label("senderUplink", "up to 300 ms of jitter of what Ben sends", "ben"), up("ben", harm{jitter: 300 * ms})),
		scene("mesh-down-jitter-c", label("receiverDownlink", "up to 300 ms of jitter of what Cyd gets", "cyd"), down("cyd", harm{jitter: 300 * ms})),
		scene("mesh-delay-a", cause.Label{Cause: "senderUplink", Users: []string{"ada"}, Also: []string{"receiverDownlink"}, Did: "300 ms of delay each way of all that is Ada's"}, both("ada", harm{delay: 300 * ms})),
		scene("mesh-both-loss-b", cause.Label{Cause: "senderUplink", Users: []string{"ben"}, Also: []string{"receiverDownlink"}, Did: "12 % loss each way of all that is Ben's"}, both("ben", harm{loss: .12})),
		narrow(scene("mesh-up-cap-a", label("senderUplink", "Ada can send 250 kbit/s", "ada"), up("ada", harm{rateBps: 250e3}))),
		narrow(scene("mesh-down-cap-b", label("receiverDownlink", "Ben can get 250 kbit/s", "ben"), down("ben", harm{rateBps: 250e3}))),
		between("mesh-path-ab", func() (string, string) { return "ada", "ben" }, harm{loss: .15}),
		between("mesh-path-bc", func() (string, string) { return "ben", "cyd" }, harm{delay: 350 * ms}),
	}
}

// pairLater puts a relay between two people once they know of each other.
func pairLater(c *causeCall, from, to string, e *edge) {
	c.arranged = append(c.arranged, func() { pair(c, from, to, e) })
}

// everywhere harms both directions of everybody's access.
func everywhere(h harm) func(*causeCall) {
	return func(c *causeCall) {
		for _, m := range c.people {
			both(m.User, h)(c)
		}
	}
}

func serverScenes() []causeScene {
	scene := func(name string, l cause.Label, act func(*causeCall)) causeScene {
		return causeScene{name: name, users: three, server: true, label: l, prepare: edges, act: act}
	}
	atServer := func(expression string) func(*causeCall) {
		return func(c *causeCall) { c.server.page.Run(expression) }
	}
	return []causeScene{
		scene("server-up-loss-a", label("senderUplink", "15 % loss of what Ada sends", "ada"), up("ada", harm{loss: .15})),
		scene("server-up-loss-c", label("senderUplink", "8 % loss of what Cyd sends", "cyd"), up("cyd", harm{loss: .08})),
		scene("server-down-loss-b", label("receiverDownlink", "15 % loss of what Ben gets", "ben"), down("ben", harm{loss: .15})),
		scene("server-down-loss-a", label("receiverDownlink", "8 % loss of what Ada gets", "ada"), down("ada", harm{loss: .08})),
		scene("server-up-cap-b", label("senderUplink", "Ben can send 100 kbit/s", "ben"), up("ben", harm{rateBps: 100e3})),
		scene("server-down-jitter-c", label("receiverDownlink", "up to 300 ms of jitter of what Cyd gets", "cyd"), down("cyd", harm{jitter: 300 * ms})),
		scene("server-stops", label("mediaServer", "the server stops passing on"), atServer(
			"(call.stopped = true, [...call.pcs.values()].forEach((one) => one.pc.getSenders().forEach((s) => s.replaceTrack(null))))")),
		scene("server-stops-picture", label("mediaServer", "the server stops passing pictures on"), atServer(
			"(call.stopped = true, [...call.pcs.values()].forEach((one) => one.pc.getSenders().forEach((s) => s.track && s.track.kind === 'video' && s.replaceTrack(null))))")),
		scene("server-network-loss", label("mediaServer", "12 % loss each way for everybody"), everywhere(harm{loss: .12})),
		scene("server-network-delay", label("mediaServer", "250 ms of delay each way for everybody"), everywhere(harm{delay: 250 * ms})),
	}
}

// looks leaves a participant sound alone: a machine is short of processor on one side only,
// if it shows or is shown a large picture and not both.
func looks(user string) func(*causeCall) {
	return func(c *causeCall) { c.of(user).Media = source{Audio: "microphone"} }
}

// The pictures of machines without time: encoding the large one takes much of a processor,
// and the smaller one not, so that the one who sends it has time where only the other has none.
const (
	sendHeight    = 1080
	receiveHeight = 720
)

// shows lets a participant show a large picture.
func shows(user string, height int) func(*causeCall) {
	return func(c *causeCall) {
		m := &c.of(user).Media
		m.Height, m.FPS, m.StartKbps = height, 30, 4000
	}
}

// starvedScene is of two people, one of whom shows a picture and one of whom is starved.
func starvedScene(name, showing, looking string, s starvation) causeScene {
	found, height := "receivingMachine", receiveHeight
	if s.who == showing {
		found, height = "sendingMachineCpu", sendHeight
	}
	return causeScene{
		name: name, users: two, label: label(found, fmt.Sprintf("%s shows %dp; %s has %v", showing, height, s.who, s), s.who),
		prepare: each(shows(showing, height), looks(looking)), kinds: []string{"audio"}, starved: s,
	}
}

// machineScenes starve the browser of one participant, who alone is in it.
func machineScenes() []causeScene {
	three := func(s causeScene) causeScene {
		s.users, s.prepare = three, each(s.prepare, looks("cyd"))
		return s
	}
	served := func(s causeScene) causeScene { s.server = true; return s }
	fox := func(s causeScene) causeScene { s.browser = browser.Firefox; return s }
	enough := func(s causeScene) causeScene { s.label = label("none", s.label.Did+", which is enough"); return s }
	return []causeScene{
		starvedScene("cpu-send-a", "ada", "ben", starvation{"ada", .2, 0}),
		starvedScene("cpu-send-b", "ben", "ada", starvation{"ben", .35, 0}),
		three(starvedScene("cpu-send-mesh", "ada", "ben", starvation{"ada", .25, 0})),
		served(three(starvedScene("cpu-send-server", "ada", "ben", starvation{"ada", .3, 0}))),
		fox(starvedScene("cpu-send-firefox", "ada", "ben", starvation{"ada", .2, 0})),
		starvedScene("cpu-receive-a", "ben", "ada", starvation{"ada", .1, 0}),
		enough(starvedScene("cpu-enough-a", "ada", "ben", starvation{"ben", .25, 0})),
		enough(starvedScene("cpu-enough-b", "ada", "ben", starvation{"ben", .4, 0})),
		three(starvedScene("cpu-receive-mesh", "ada", "ben", starvation{"ben", .2, 0})),
		served(three(starvedScene("cpu-receive-server", "ada", "ben", starvation{"ben", .15, 0}))),
		fox(starvedScene("cpu-receive-firefox", "ada", "ben", starvation{"ben", .2, 0})),
	}
}

func sourceScenes() []causeScene {
	return []causeScene{
		{
			name: "camera-2fps", users: two, label: label("sendingCapture", "Ada's camera gives 2 pictures a second", "ada"),
			prepare: func(c *causeCall) { c.of("ada").Media.Video, c.of("ada").Media.FPS = "canvas", 2 },
		},
		{
			name: "camera-4fps-mesh", users: three, label: label("sendingCapture", "Cyd's camera gives 4 pictures a second", "cyd"),
			prepare: func(c *causeCall) { c.of("cyd").Media.Video, c.of("cyd").Media.FPS = "canvas", 4 },
		},
		{
			name: "camera-unplugged", users: two, label: label("sendingCapture", "Ada's camera ends in the call", "ada"),
			act: inPage("ada", "senders('video').forEach((s) => s.track.stop())"),
		},
		{
			name: "camera-unplugged-mesh", users: three, label: label("sendingCapture", "Ben's camera ends in the call", "ben"),
			act: inPage("ben", "senders('video').forEach((s) => s.track.stop())"),
		},
		{
			name: "camera-unplugged-server", users: three, server: true, label: label("sendingCapture", "Ben's camera ends in the call", "ben"),
			act: inPage("ben", "senders('video').forEach((s) => s.track.stop())"),
		},
		{
			name: "microphone-unplugged", users: two, label: label("sendingCapture", "Ben's microphone ends in the call", "ben"),
			act: inPage("ben", "senders('audio').forEach((s) => s.track.stop())"),
		},
		{
			name: "microphone-silent", users: two, label: label("sendingCapture", "Ada's microphone hears nothing", "ada"),
			prepare: func(c *causeCall) { c.of("ada").Media.Audio = "silence" },
		},
		{
			name: "microphone-silent-mesh", users: three, label: label("sendingCapture", "Ben's microphone hears nothing", "ben"),
			prepare: func(c *causeCall) { c.of("ben").Media.Audio = "silence" },
		},
		{
			name: "microphone-off-unsaid", users: two, label: label("sendingCapture", "Ada's microphone is switched off and nobody says so", "ada"),
			act: inPage("ada", "senders('audio').forEach((s) => s.track.enabled = false)"),
		},
		{
			name: "camera-unplugged-firefox", users: two, browser: browser.Firefox, label: label("sendingCapture", "Ada's camera ends in the call", "ada"),
			act: inPage("ada", "senders('video').forEach((s) => s.track.stop())"),
		},
	}
}

// missingScenes are of applications that do not send what they should.
func missingScenes() []causeScene {
	return []causeScene{
		{
			name: "tracks-missing", users: two, kinds: nil, fails: true, label: label("application", "Ada's application adds none of her tracks", "ada"),
			prepare: func(c *causeCall) {
				c.arranged = append(c.arranged, func() { c.of("ada").Remotes[0].Send = []string{"none"} })
			},
		},
		{
			name: "tracks-missing-b", users: two, fails: true, label: label("application", "Ben's application adds none of his tracks", "ben"),
			prepare: func(c *causeCall) {
				c.arranged = append(c.arranged, func() { c.of("ben").Remotes[0].Send = []string{"none"} })
			},
		},
		{
			name: "senders-emptied", users: two, label: label("application", "Ada's application takes both tracks away and does not say so", "ada"),
			act: inPage("ada", "[...call.pcs.values()].forEach((one) => one.pc.getSenders().forEach((s) => s.replaceTrack(null)))"),
		},
		{
			name: "senders-emptied-mesh", users: three, label: label("application", "Cyd's application takes both tracks away and does not say so", "cyd"),
			act: inPage("cyd", "[...call.pcs.values()].forEach((one) => one.pc.getSenders().forEach((s) => s.replaceTrack(null)))"),
		},
	}
}

// arranged is done once everybody knows everybody.
func arranged(do func(c *causeCall)) func(*causeCall) {
	return func(c *causeCall) { c.arranged = append(c.arranged, func() { do(c) }) }
}

func wrongTURN(user string) func(*causeCall) {
	return arranged(func(c *causeCall) {
		e := startEdge(c.t, 3)
		for i := range c.of(user).Remotes {
			c.of(user).Remotes[i].ICE = throughTURN(e.url, "wrong")
		}
	})
}

func failedScenes() []causeScene {
	denied := func(user, name string) func(*causeCall) {
		return func(c *causeCall) { c.of(user).GetUserMediaError = name }
	}
	return []causeScene{
		{name: "permission-denied", users: two, fails: true, label: label("permissionsOrDevices", "Ada may not use her microphone and camera", "ada"), prepare: denied("ada", "NotAllowedError")},
		{name: "device-missing", users: two, fails: true, label: label("permissionsOrDevices", "Ben has neither microphone nor camera", "ben"), prepare: denied("ben", "NotFoundError")},
		{name: "device-busy-mesh", users: three, fails: true, label: label("permissionsOrDevices", "another program has Ada's camera", "ada"), prepare: denied("ada", "NotReadableError")},
		{name: "permission-firefox", users: two, browser: browser.Firefox, fails: true, label: label("permissionsOrDevices", "Ada may not use her microphone and camera", "ada"), prepare: denied("ada", "NotAllowedError")},
		{name: "ice-cut", users: two, label: label("iceConnectivity", "Ada's network is gone after a while", "ada", "ben"), prepare: edges, act: both("ada", harm{cut: true})},
		{
			name: "ice-cut-back", users: two, label: label("iceConnectivity", "Ada's network is gone for 9 s", "ada", "ben"), prepare: edges,
			act: func(c *causeCall) { both("ada", harm{cut: true})(c); c.lasts(9 * time.Second); both("ada", harm{})(c) },
		},
		{name: "ice-cut-mesh", users: three, label: label("iceConnectivity", "Ben's network is gone after a while", "ben"), prepare: edges, act: both("ben", harm{cut: true})},
		{name: "ice-cut-server", users: three, server: true, label: label("iceConnectivity", "Cyd's network is gone after a while", "cyd"), prepare: edges, act: both("cyd", harm{cut: true})},
		{name: "turn-wrong-password", users: two, fails: true, label: label("iceConnectivity", "Ada has only a TURN server, and a wrong password for it", "ada", "ben"), prepare: wrongTURN("ada")},
		{name: "turn-wrong-password-b", users: two, fails: true, label: label("iceConnectivity", "Ben has only a TURN server, and a wrong password for it", "ben", "ada"), prepare: wrongTURN("ben")},
		{name: "turn-wrong-mesh", users: three, fails: true, label: label("iceConnectivity", "Cyd has only a TURN server, and a wrong password for it", "cyd"), prepare: wrongTURN("cyd")},
		{
			name: "ice-blocked", users: two, fails: true, label: label("iceConnectivity", "nothing passes between the two", "ada", "ben"),
			prepare: each(edges, func(c *causeCall) { both("ada", harm{cut: true})(c) }),
		},
	}
}

// signallingScenes are of calls in which offer and answer, or candidates, did not meet.
func signallingScenes() []causeScene {
	reports := func(user, function, name string) func(*causeCall) {
		return inPage(user, fmt.Sprintf("report([...call.pcs.values()][0], %q, new DOMException('arranged', %q))", function, name))
	}
	return []causeScene{
		{
			name: "no-answer", users: two, fails: true, label: label("signalling", "Ben's page never answers", "ada", "ben"),
			prepare: arranged(func(c *causeCall) { c.of("ben").Remotes[0].NeverAnswers = true }),
		},
		{
			name: "no-candidates", users: two, fails: true, label: label("iceConnectivity", "the candidates of neither reach the other", "ada", "ben"),
			prepare: arranged(func(c *causeCall) {
				c.of("ada").Remotes[0].NoCandidates, c.of("ben").Remotes[0].NoCandidates = true, true
			}),
		},
		{
			name: "signalling-error", users: two, fails: true, label: label("signalling", "Ben's page never answers, and Ada's application reports a signalling error", "ada", "ben"),
			prepare: arranged(func(c *causeCall) { c.of("ben").Remotes[0].NeverAnswers = true }), act: reports("ada", "signalingError", "TimeoutError"),
		},
		{
			name: "answer-refused", users: two, fails: true, label: cause.Label{Cause: "signalling", Users: []string{"ada"}, Also: []string{"application"}, Did: "Ada's browser cannot read the answer"},
			prepare: arranged(func(c *causeCall) { c.of("ben").Remotes[0].NeverAnswers = true }), act: reports("ada", "setRemoteDescription", "InvalidAccessError"),
		},
		{
			name: "offer-fails", users: two, fails: true, label: label("application", "Ada's application cannot make an offer", "ada"),
			prepare: arranged(func(c *causeCall) { c.of("ada").Remotes[0].Offers = false }), act: reports("ada", "createOffer", "InvalidStateError"),
		},
	}
}

// play makes one call of a scene and returns when everybody has left.
func (s *causeScene) play(t *testing.T, stage *causeStage, room string, shared *browser.Browser, lasts length) {
	t.Helper()
	c := &causeCall{t: t, stage: stage, room: room}
	for _, user := range s.users {
		c.people = append(c.people, person(user))
	}
	if s.server {
		c.server = person("server")
	}
	if s.prepare != nil {
		s.prepare(c)
	}
	c.arrange()
	own := map[string]*browser.Browser{}
	if s.starved.who != "" {
		own[s.starved.who] = browser.Start(t, shared.Kind)
	}
	c.join(own, shared)
	if !s.fails {
		kinds := s.kinds
		if kinds == nil {
			kinds = []string{"audio", "video"}
		}
		c.flow(kinds...)
		if s.lasts.well > 0 {
			lasts = s.lasts
		}
		c.lasts(lasts.well)
	}
	if s.starved.who != "" {
		s.starved.begin(c, own[s.starved.who])
	}
	if s.act != nil {
		s.act(c)
	}
	c.lasts(lasts.harmed)
	s.starved.end(c, own[s.starved.who])
	c.leave()
}

// processors is the control group for processors that this process is in, where those of the
// browsers that are starved are made.
func processors(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/cgroup")
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(raw), "\n") {
		fields := strings.SplitN(line, ":", 3) // number, controllers, path
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), "cpu") {
			return filepath.Join("/sys/fs/cgroup/cpu", fields[2])
		}
	}
	require.Fail(t, "control groups of the first version are needed to starve a browser")
	return ""
}

// begin takes the processor away.
func (s starvation) begin(c *causeCall, b *browser.Browser) {
	c.t.Helper()
	c.of(s.who).page.Run(fmt.Sprintf(
		"(call.busy = Array.from({length: %d}, () => new Worker(URL.createObjectURL(new Blob(['for (;;);'])))), 0)", s.busy))
	leave(c.t, b, s.share)
}

// end gives it back, so that the page can say goodbye.
func (s starvation) end(c *causeCall, b *browser.Browser) {
	c.t.Helper()
	if s.who == "" {
		return
	}
	leave(c.t, b, 4)
	c.of(s.who).page.Run("(call.busy.forEach((one) => one.terminate()), 0)")
}

// leave leaves a browser a share of one processor, and as much to its threads that go before
// others, such as those of sound: without a share of their own, no process that has any would
// be let into the group.
func leave(t *testing.T, b *browser.Browser, share float64) {
	t.Helper()
	group := filepath.Join(processors(t), "qos-e2e-"+strconv.Itoa(b.Process.PID()))
	write := func(file string, value int) {
		require.NoError(t, os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(value)), 0o600), file)
	}
	const firstPeriodUs, mostFirst = 20_000, 0.5 // of what goes first there is one processor in all
	if _, err := os.Stat(group); err != nil {
		require.NoError(t, os.Mkdir(group, 0o755), "control groups are needed to starve a browser")
		t.Cleanup(func() { release(t, group) })
		write("cpu.rt_period_us", firstPeriodUs)
	}
	write("cpu.rt_runtime_us", int(min(share, mostFirst)*firstPeriodUs))
	const leastUs = 1200                        // a quota of less than 1 ms is refused
	periodUs := int(max(20_000, leastUs/share)) // short, so that it is a slow processor and not one that stops
	write("cpu.cfs_period_us", periodUs)
	write("cpu.cfs_quota_us", int(share*float64(periodUs)))
	for _, pid := range family(t, b.Process.PID()) {
		err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(pid), 0o600)
		if _, gone := os.Stat("/proc/" + pid); gone == nil { // else it has ended
			require.NoError(t, err, "a process of the browser has all the processors there are")
		}
	}
}

// release lets the processes of a control group go, and removes it.
func release(t *testing.T, group string) {
	t.Helper()
	browser.Eventually(t, patience, "the control group is empty", func() (bool, string) {
		raw, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
		require.NoError(t, err)
		for pid := range strings.FieldsSeq(string(raw)) {
			_ = os.WriteFile(filepath.Join(filepath.Dir(group), "cgroup.procs"), []byte(pid), 0o600) // it may have ended
		}
		return os.Remove(group) == nil, string(raw)
	})
}

// family lists a process and all that it started, and they.
func family(t *testing.T, root int) (pids []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	children := map[string][]string{}
	for _, file := range stats {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		text := string(raw)
		fields := strings.Fields(text[strings.LastIndex(text, ")")+1:]) // state, parent
		if len(fields) > 1 {
			children[fields[1]] = append(children[fields[1]], strings.Fields(text)[0])
		}
	}
	pids = []string{strconv.Itoa(root)}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, children[pids[i]]...)
	}
	return pids
}
