package scenario

import (
	"fmt"
	"syscall"
	"time"

	"github.com/qosrtc/qos/tests/cause"
	"github.com/qosrtc/qos/tests/network"
)

// Served returns a healthy and a harmed call through a media server.
func Served(through Topology) []Scenario {
	return []Scenario{
		served3(through, "good", none("nothing"), nil),
		served3(through, "up-loss", label("senderUplink", "15 % loss of what Ada sends", "ada"), Up("ada", network.Harm{Loss: .15}), EdgeFor("ada")),
	}
}

// ServedFurther returns calls through any media server in which some have no library, or send nothing.
func ServedFurther(through MediaServer) []Scenario {
	guest := served3(through, "guest", none("Dee, who has no page, joins late and leaves"), func(c *Call) {
		dee := through.StartGuest(c.T, c.Room, "dee")
		c.Continue(8 * time.Second)
		dee.Signal(syscall.SIGTERM)
	})
	guest.Users, guest.Guests = Two, []string{"dee"}
	viewer := served3(through, "viewer", none("Cyd only watches"), nil)
	viewer.Viewers = []string{"cyd"}
	return []Scenario{
		guest,
		viewer,
		Uninstrumented(served3(through, "leaver", none("Cyd, who has no library, leaves"), func(c *Call) { c.HangUp(c.Of("cyd")) }), "cyd"),
		adaAlone(served3(through, "one-loss", label("unknown", "10 % loss of what Ben sends"), Up("ben", network.Harm{Loss: .1}), EdgeFor("ben"))),
	}
}

// ServedByLiveKit returns calls in which the application uses LiveKit's SDK to send or to watch less.
func ServedByLiveKit(through LiveKit) []Scenario {
	return []Scenario{
		served3(through, "mute", none("Ada mutes her microphone"), InPage("ada", Microphone(false))),
		served3(through, "camera-off", none("Ada switches her camera off"), InPage("ada", CameraOff)),
		served3(through, "tile", none("all tiles leave Ben's view"), InPage("ben", Tiles("none"))),
	}
}

// Scripts of a page in LiveKit's SDK.
const (
	me        = "call.room.localParticipant"
	CameraOff = me + ".setCameraEnabled(false)"
)

// Microphone switches the microphone on or off in LiveKit's SDK.
func Microphone(on bool) string { return fmt.Sprintf("%s.setMicrophoneEnabled(%t)", me, on) }

// Tiles sets how a page displays the videos that it receives, as CSS has it: none, or empty for as before.
func Tiles(display string) string {
	return fmt.Sprintf("document.querySelectorAll('video').forEach((one) => { one.style.display = '%s'; })", display)
}

// joining changes how each participant joins a server.
func joining(change func(*SDK)) func(*Call) {
	return Connected(func(c *Call) {
		for _, m := range c.People {
			change(m.SDK)
		}
	})
}

// Recorded returns the calls through real media servers whose traces are in tests/cause/testdata/servers.
func Recorded(livekit LiveKit, janus Janus) (all []Scenario) {
	for _, one := range []struct {
		name string
		list []Scenario
	}{
		{"livekit", append(servedByAny(livekit), append(ServedByLiveKit(livekit), recordedByLiveKit(livekit)...)...)},
		{"janus", servedByAny(janus)},
	} {
		for _, s := range one.list {
			s.Name = one.name + "-" + s.Name
			all = append(all, s)
		}
	}
	return all
}

// servedByAny returns the calls that are recorded through each media server.
func servedByAny(through MediaServer) []Scenario {
	plain := joining(func(s *SDK) { s.Plain = true })
	// With one participant nobody can tell whether it is the access or the server.
	undecided := func(did string) cause.Label {
		l := label("pathOrTurn", did, "ada")
		l.Also = []string{"unknown"}
		return l
	}
	// Without a place on the page nobody knows whether a picture is to be seen.
	unseen := label("mediaServer", "the server forwards Ada's picture no longer")
	unseen.Also = []string{"none", "unknown"}
	all := append(Served(through), ServedFurther(through)...)
	return append(all,
		served3(through, "down-loss", label("receiverDownlink", "15 % loss of what Ben receives", "ben"), Down("ben", network.Harm{Loss: .15}), EdgeFor("ben")),
		served3(through, "up-cap", label("senderUplink", "Ada can send 100 kbit/s", "ada"), Up("ada", network.Harm{RateBps: 100e3}), EdgeFor("ada")),
		served3(through, "down-jitter", label("receiverDownlink", "up to 250 ms of jitter of what Cyd receives", "cyd"), Down("cyd", network.Harm{Jitter: 250 * ms}), EdgeFor("cyd")),
		served3(through, "delay", orDownlink("ben", "200 ms of delay each way of all that is Ben's"), Both("ben", network.Harm{Delay: 200 * ms}), EdgeFor("ben")),
		served3(through, "stream-dropped", unseen, dropped("ada", "ben", "cyd"), EdgeFor("ben"), EdgeFor("cyd")),
		served3(through, "server-loss", label("mediaServer", "15 % loss each way for everybody"), Everywhere(network.Harm{Loss: .15}), Edges),
		starvedBy(through, enough(Starve("cpu-enough", "ada", "ben", Starvation{Who: "ben", Share: .15}))),
		starvedBy(through, Starve("cpu-receive", "ada", "ben", Starvation{Who: "ben", Share: .08})),
		starvedBy(through, Starve("cpu-send", "ada", "ben", Starvation{Who: "ada", Share: .25})),
		served3(through, "slides", none("Ada sends slides with a hint of detail"), nil, slides("ada")),
		atGuest(served3(through, "guest-up-loss", label("senderUplink", "15 % loss of what Cyd, who has no library, sends", "cyd"), Up("cyd", network.Harm{Loss: .15}), EdgeFor("cyd"))),
		atGuest(served3(through, "guest-down-loss", none("15 % loss of what Cyd, who has no library, receives"), Down("cyd", network.Harm{Loss: .15}), EdgeFor("cyd"))),
		served3(through, "stalls", label("mediaServer", "the server stands still for 3 of every 8 s"), Stalls(3*time.Second, 5*time.Second)),
		adaAlone(served3(through, "one-good", none("nothing"), nil)),
		adaAlone(served3(through, "one-mute", none("Ben's page disables his microphone"), InPage("ben", disables))),
		adaAlone(served3(through, "one-stalls", undecided("the server stands still for 3 of every 8 s"), Stalls(3*time.Second, 5*time.Second))),
		adaAlone(served3(through, "one-down-loss", undecided("15 % loss of what Ada receives"), Down("ada", network.Harm{Loss: .15}), EdgeFor("ada"))),
		served3(through, "disabled", none("Ada's page disables her microphone, and does not say so"), InPage("ada", disables)),
		served3(through, "plain-good", none("nothing; the pages hand over the connections themselves"), nil, plain),
		served3(through, "plain-disabled", none("Ada's page disables her microphone; the pages hand over the connections themselves"), InPage("ada", disables), plain),
		served3(through, "plain-down-loss", label("receiverDownlink", "15 % loss of what Ben receives; the pages hand over the connections themselves", "ben"),
			Down("ben", network.Harm{Loss: .15}), EdgeFor("ben"), plain),
		firefox(served3(through, "firefox-good", none("nothing; Firefox"), nil)),
		firefox(served3(through, "firefox-up-cap", label("senderUplink", "Ada can send 100 kbit/s, in Firefox", "ada"), Up("ada", network.Harm{RateBps: 100e3}), EdgeFor("ada"))),
		firefox(served3(through, "firefox-down-loss", label("receiverDownlink", "15 % loss of what Ben receives, in Firefox", "ben"), Down("ben", network.Harm{Loss: .15}), EdgeFor("ben"))),
	)
}

// dropped lets the picture of a user no longer arrive at others.
func dropped(from string, at ...string) func(*Call) {
	return func(c *Call) {
		for _, user := range at {
			var ssrc uint32
			c.Of(user).Page.Get(fmt.Sprintf("await ssrcOf(%q)", from), &ssrc)
			Down(user, network.Harm{Loss: 1, SSRC: ssrc})(c)
		}
	}
}

// slides lets a participant send pages of text.
func slides(user string) func(*Call) { return func(c *Call) { c.Of(user).Media.Video = "slides" } }

// starvedBy is a call of a starved participant through a server, with one layer of the picture.
func starvedBy(through Topology, s Scenario) Scenario {
	s.Topology = through
	s.Prepare = Each(s.Prepare, joining(func(s *SDK) { s.Options = []byte(`{"publishDefaults":{"simulcast":false}}`) }))
	return s
}

// atGuest leaves Cyd without the library, and accuses nobody else.
func atGuest(s Scenario) Scenario {
	s.Label.Also = []string{"unknown"}
	return Uninstrumented(s, "cyd")
}

// Stalls lets the call's MediaServer stand still three times. It runs at the end.
func Stalls(still, runs time.Duration) func(*Call) {
	return func(c *Call) {
		server := c.Topology.(MediaServer).Process()
		defer server.Signal(syscall.SIGCONT)
		for range 3 {
			server.Signal(syscall.SIGSTOP)
			c.Continue(still)
			server.Signal(syscall.SIGCONT)
			c.Continue(runs)
		}
	}
}

// Layer asks for a layer of all pictures, from 0.
func Layer(n int) string {
	return fmt.Sprintf("call.room.remoteParticipants.forEach((one) => one.videoTrackPublications.forEach((it) => it.setVideoQuality(%d)))", n)
}

// recordedByLiveKit returns calls that LiveKit's SDK or server makes possible.
func recordedByLiveKit(through LiveKit) []Scenario {
	withoutRED := joining(func(s *SDK) { s.Options = []byte(`{"publishDefaults":{"red":false}}`) })
	coded := func(codec string) func(*Call) {
		return joining(func(s *SDK) { s.Options = fmt.Appendf(nil, `{"publishDefaults":{"videoCodec":%q}}`, codec) })
	}
	restart := label("mediaServer", "the server is restarted, and all are back after 4 s")
	restart.Also = []string{"iceConnectivity", "unknown", "none"}
	return []Scenario{
		served3(through, "red-off", none("nothing; sound is sent without redundancy"), nil, withoutRED),
		served3(through, "vp9", none("nothing; pictures are coded with VP9, in spatial layers"), nil, coded("vp9")),
		served3(through, "vp9-down-loss", label("receiverDownlink", "15 % loss of what Ben receives; VP9", "ben"), Down("ben", network.Harm{Loss: .15}), EdgeFor("ben"), coded("vp9")),
		served3(through, "h264", none("nothing; pictures are coded with H.264"), nil, coded("h264")),
		served3(through, "av1", none("nothing; pictures are coded with AV1"), nil, coded("av1")),
		served3(through, "screen", none("Ada shares a screen and stops"), Each(InPage("ada", "call.share()"), Wait(10*time.Second), InPage("ada", "call.unshare()"))),
		served3(through, "speakers", none("one after the other speaks"), Each(
			InPage("ben", Microphone(false)), InPage("cyd", Microphone(false)), Wait(6*time.Second),
			InPage("ada", Microphone(false)), InPage("ben", Microphone(true)), Wait(6*time.Second),
			InPage("ben", Microphone(false)), InPage("cyd", Microphone(true)))),
		served3(through, "tile-back", none("all tiles leave Ben's view and come back"), Each(
			InPage("ben", Tiles("none")), Wait(8*time.Second), InPage("ben", Tiles("")))),
		served3(through, "layers", none("Ben's page asks for the smallest layer of all pictures, and for the largest again"), Each(
			InPage("ben", Layer(0)), Wait(8*time.Second), InPage("ben", Layer(2))),
			func(c *Call) { c.Of("ada").Media.Height = 360 }, joining(func(s *SDK) { s.Options = []byte(`{"adaptiveStream":false}`) })),
		served3(through, "camera-2fps", label("sendingCapture", "Ada's camera gives 2 pictures a second", "ada"), nil, func(c *Call) {
			m := &c.Of("ada").Media
			m.Video, m.FPS = "canvas", 2
		}),
		served3(through, "restart", restart, func(c *Call) { through.Restart(c.T) }),
	}
}

// served3 is a call of three people with pictures of 180p: three browsers that encode more starve two processors.
func served3(through Topology, name string, l cause.Label, act func(*Call), prepare ...func(*Call)) Scenario {
	small := ForAll(func(m *Member) { m.Media.Height = 180 })
	return Scenario{Name: name, Users: Three, Label: l, Topology: through, Act: act, Prepare: Each(append([]func(*Call){small}, prepare...)...)}
}

// Uninstrumented leaves participants without the library.
func Uninstrumented(s Scenario, users ...string) Scenario {
	s.Gone = len(users)
	s.Prepare = Each(s.Prepare, func(c *Call) {
		for _, user := range users {
			c.Of(user).Quiet = true
		}
	})
	return s
}

// adaAlone leaves all but Ada without the library.
func adaAlone(s Scenario) Scenario {
	s.Label.Did += "; Ada alone has the library"
	return Uninstrumented(s, "ben", "cyd")
}
