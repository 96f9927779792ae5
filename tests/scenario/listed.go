package scenario

import (
	"fmt"
	"time"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
	"github.com/qosrtc/qos/tests/network"
)

// Listed returns the calls with which the rules of internal/call/cause were made. Their traces are in tests/cause/testdata.
func Listed() []Scenario {
	var all []Scenario
	for _, list := range []func() []Scenario{
		good, ofTwo, ofThree, withServer, starved, ofDevices, ofApplications, withoutPermission, withoutNetwork, ofSignalling,
	} {
		all = append(all, list()...)
	}
	return all
}

const (
	ms = time.Millisecond

	mutes      = "(senders('audio').forEach((s) => s.track.enabled = false), event('audioMute'))"
	disables   = "senders('audio').forEach((s) => s.track.enabled = false)" // and does not say so
	cameraEnds = "senders('video').forEach((s) => ends(s.track))"
	constrains = "senders('video').forEach((s) => s.track.applyConstraints({ frameRate: { max: 4 } }))"
	takesAll   = "[...call.pcs.values()].forEach((one) => one.pc.getSenders().forEach((s) => s.replaceTrack(null)))"
)

// label has at most one user at whom a fault is, or those of a connection.
func label(found, did string, users ...string) cause.Label {
	return cause.Label{Cause: found, Users: users, Did: did}
}

func none(did string) cause.Label { return label("none", did) }

// path is the label of a fault between two participants: nobody in the call can report whose access it is at.
func path(from, to, did string) cause.Label { return label("pathOrTurn", did, from, to) }

// orDownlink is the label of a fault of both directions of an access.
func orDownlink(user, did string) cause.Label {
	l := label("senderUplink", did, user)
	l.Also = []string{"receiverDownlink"}
	return l
}

// relayed is a call in which each participant has an edge.
func relayed(name string, users []string, l cause.Label, act func(*Call), prepare ...func(*Call)) Scenario {
	return Scenario{Name: name, Users: users, Label: l, Prepare: Each(append([]func(*Call){Edges}, prepare...)...), Act: act}
}

// direct is a call without relays.
func direct(name string, users []string, l cause.Label, act func(*Call), prepare ...func(*Call)) Scenario {
	return Scenario{Name: name, Users: users, Label: l, Prepare: Each(prepare...), Act: act}
}

// failing is a call in which no media flow.
func failing(name string, users []string, l cause.Label, act func(*Call), prepare ...func(*Call)) Scenario {
	s := direct(name, users, l, act, prepare...)
	s.Fails = true
	return s
}

func firefox(s Scenario) Scenario { s.Browser = browser.Firefox; return s }

func served(s Scenario) Scenario { s.Topology = Forwarder{}; return s }

func audioOnly(s Scenario) Scenario {
	s.Prepare = Each(s.Prepare, ForAll(SoundOnly))
	return soundFlows(s)
}

// soundFlows is a call of which only sound has to flow.
func soundFlows(s Scenario) Scenario { s.Kinds = []string{"audio"}; return s }

// buffers sets what a page wants of the jitter buffers of its receivers.
func buffers(wanted string) string {
	return fmt.Sprintf("[...call.pcs.values()].forEach(({ pc }) => pc.getReceivers().forEach((one) => { one.%s; }))", wanted)
}

// encrypted lets a page receive encrypted media.
func encrypted(user string) func(*Call) { return func(c *Call) { c.Of(user).Encrypted = true } }

// locks leaves a page no key for what it receives of these kinds.
func locks(user, kinds string) func(*Call) {
	return InPage(user, fmt.Sprintf("call.cipher.postMessage(%q)", kinds))
}

func good() []Scenario {
	return []Scenario{
		direct("good-direct", Two, none("nothing"), nil),
		relayed("good-relayed", Two, none("nothing; all media are relayed"), nil),
		audioOnly(direct("good-sound", Two, none("nothing; sound only"), nil)),
		relayed("good-mesh", Three, none("nothing; three people"), nil),
		direct("good-mesh-direct", Three, none("nothing; three people"), nil),
		served(relayed("good-server", Three, none("nothing; a media server between three people"), nil)),
		firefox(direct("good-firefox", Two, none("nothing; Firefox"), nil)),
		relayed("good-delay", Two, none("30 ms of delay each way"), Both("ada", network.Harm{Delay: 30 * ms})),
		relayed("good-little-loss", Two, none("1 % of loss each way"), Both("ada", network.Harm{Loss: .01})),
		direct("muted", Two, none("Ada muted her microphone and said so"), InPage("ada", mutes)),
		direct("paused", Two, none("Ada paused her picture and said so"), InPage("ada",
			"(senders('video').forEach((s) => s.track.enabled = false), event('videoPause'))")),
		direct("paused-off", Two, none("Ada took her camera away and said so"), InPage("ada",
			"(event('videoPause'), senders('video').forEach((s) => s.replaceTrack(null)))")),
		direct("microphone-off-unsaid", Two, none("Ada's microphone is switched off and nobody says so"), InPage("ada", disables)),
		direct("senders-emptied", Two, none("Ada's application takes both tracks away and does not say so"), InPage("ada", takesAll)),
		direct("senders-emptied-mesh", Three, none("Cyd's application takes both tracks away and does not say so"), InPage("cyd", takesAll)),
		direct("camera-disabled", Two, none("Ben's camera is switched off and nobody says so"), InPage("ben",
			"senders('video').forEach((s) => s.track.enabled = false)")),
		firefox(direct("camera-disabled-firefox", Two, none("Ben's camera is switched off and nobody says so"), InPage("ben",
			"senders('video').forEach((s) => s.track.enabled = false)"))),
		direct("camera-stopped", Two, none("Ada's application stops her camera's track"), InPage("ada", "senders('video').forEach((s) => s.track.stop())")),
		direct("encoding-off", Two, none("Ben's application switches the encoding of his picture off"), InPage("ben", "encode({ active: false })")),
		direct("framerate-limited", Two, none("Ada's application limits her pictures to 4 a second"), InPage("ada", "encode({ maxFramerate: 4 })")),
		direct("bitrate-limited", Two, none("Ben's application limits his picture to 50 kbit/s"), InPage("ben", "encode({ maxBitrate: 50e3 })")),
		firefox(direct("bitrate-limited-firefox", Two, none("Ben's application limits his picture to 150 kbit/s, in Firefox"), InPage("ben", "encode({ maxBitrate: 150e3 })"))),
		direct("held", Two, none("Ada held the call and said so"), InPage("ada", "(event('fabricHold'), "+takesAll+")")),
		direct("no-key", Two, none("Ben's page has no key for what it receives"), locks("ben", "audio video"), encrypted("ben")),
		direct("no-key-for-pictures", Three, none("Cyd's page has no key for pictures"), locks("cyd", "video"), encrypted("cyd")),
		direct("key-is-late", Two, none("Ada's page has no key for 8 s"), Each(locks("ada", "audio video"), Wait(8*time.Second), locks("ada", "")), encrypted("ada")),
		firefox(direct("no-key-firefox", Two, none("Ben's page has no key for what it receives"), locks("ben", "audio video"), encrypted("ben"))),
		direct("buffer-chosen", Two, none("Ben's page wants 2 s of jitter buffer"), InPage("ben", buffers("jitterBufferTarget = 2000"))),
		firefox(direct("buffer-chosen-firefox", Two, none("Ada's page wants 1 s of jitter buffer"), InPage("ada", buffers("jitterBufferTarget = 1000")))),
		direct("buffer-hinted", Two, none("Ada's page wants 800 ms of jitter buffer for sound, in the older form"), InPage("ada", buffers("playoutDelayHint = one.track.kind === 'audio' ? 0.8 : null"))),
		direct("camera-constrained", Two, none("Ada's application wants 4 pictures a second of her camera"), InPage("ada", constrains)),
		firefox(direct("camera-constrained-firefox", Two, none("Ben's application wants 4 pictures a second of his camera"), InPage("ben", constrains))),
		soundFlows(direct("picture-rejected", Two, none("Ben's answer rejects the m-line of the picture"), nil, Remotes("ben", func(r *Remote) { r.Rejects = "video" }))),
		direct("sound-not-played", Two, none("Ada's page has no element that plays Ben's sound"), nil, plays("ada", "none")),
		relayed("little-loss-and-jitter", Two, none("0.3 % of loss and up to 8 ms of jitter each way"), Both("ada", network.Harm{Loss: .003, Jitter: 8 * ms})),
		relayed("dtx-muted", Two, none("1 % of loss each way, without sending pauses, and Ben's page disables his microphone"),
			Each(Both("ada", network.Harm{Loss: .01}), InPage("ben", disables)),
			ForAll(func(m *Member) { m.Media.DTX = true })),
		tabClosed(relayed("tab-closed-mesh", Three, none("Cyd closes the tab"), func(c *Call) { c.Of("cyd").Page.CloseTab() })),
		relayed("ice-restarted", Two, none("ICE restarts at both ends"), Each(InPage("ada", "restartICE()"), Wait(5*time.Second), InPage("ben", "restartICE()"))),
		firefox(direct("muted-firefox", Two, none("Ada muted her microphone and said so"), InPage("ada", mutes))),
	}
}

// plays sets what a participant's page does with the sound that it receives.
func plays(user, sound string) func(*Call) { return func(c *Call) { c.Of(user).Sound = sound } }

// tabClosed is a call of which one participant gives no feedback.
func tabClosed(s Scenario) Scenario { s.Gone = 1; return s }

func ofTwo() []Scenario {
	wifi := InPage("ada", "library.attachWifiStatsHandler(async () => JSON.stringify({signal: 18, rssi: -88, timestamp: Date.now()}))")
	return []Scenario{
		relayed("pair-up-loss-15", Two, path("ada", "ben", "15 % loss of what Ada sends"), Up("ada", network.Harm{Loss: .15})),
		relayed("pair-up-loss-6", Two, path("ada", "ben", "6 % loss of what Ada sends"), Up("ada", network.Harm{Loss: .06})),
		relayed("pair-down-loss-15", Two, path("ben", "ada", "15 % loss of what Ada gets"), Down("ada", network.Harm{Loss: .15})),
		relayed("pair-down-loss-30", Two, path("ben", "ada", "30 % loss of what Ada gets"), Down("ada", network.Harm{Loss: .3})),
		relayed("pair-ben-up-loss-10", Two, path("ben", "ada", "10 % loss of what Ben sends"), Up("ben", network.Harm{Loss: .1})),
		relayed("pair-both-loss-10", Two, path("ada", "ben", "10 % loss each way"), Both("ada", network.Harm{Loss: .1})),
		relayed("pair-both-delay", Two, path("ada", "ben", "300 ms of delay each way"), Both("ada", network.Harm{Delay: 300 * ms})),
		relayed("pair-one-delay", Two, path("ada", "ben", "500 ms of delay one way"), Up("ben", network.Harm{Delay: 500 * ms})),
		relayed("pair-up-jitter", Two, path("ada", "ben", "up to 250 ms of jitter of what Ada sends"), Up("ada", network.Harm{Jitter: 250 * ms})),
		relayed("pair-down-jitter", Two, path("ben", "ada", "up to 250 ms of jitter of what Ada gets"), Down("ada", network.Harm{Jitter: 250 * ms})),
		relayed("pair-up-cap", Two, path("ada", "ben", "Ada can send 120 kbit/s"), Up("ada", network.Harm{RateBps: 120e3}), ForAll(High)),
		relayed("pair-down-cap", Two, path("ben", "ada", "Ada can get 150 kbit/s"), Down("ada", network.Harm{RateBps: 150e3}), ForAll(High)),
		direct("pair-direct-up-loss", Two, path("ada", "ben", "12 % loss of what Ada sends; only she is relayed"),
			Up("ada", network.Harm{Loss: .12}), EdgeFor("ada")),
		audioOnly(relayed("pair-sound-loss", Two, path("ben", "ada", "10 % loss of what Ben sends, sound only"), Up("ben", network.Harm{Loss: .1}))),
		relayed("pair-wifi-up", Two, label("senderUplink", "Ada's wireless network is weak: she sends with 12 % loss", "ada"),
			Each(Up("ada", network.Harm{Loss: .12}), wifi)),
		firefox(relayed("pair-firefox-loss", Two, path("ada", "ben", "15 % loss of what Ada sends, in Firefox"), Up("ada", network.Harm{Loss: .15}))),
		firefox(relayed("pair-firefox-cap", Two, path("ben", "ada", "Ben can send 120 kbit/s, in Firefox"), Up("ben", network.Harm{RateBps: 120e3}), ForAll(High))),
	}
}

func ofThree() []Scenario {
	between := func(name, from, to string, h network.Harm) Scenario {
		return direct(name, Three, path(from, to, fmt.Sprintf("between %s and %s alone: %v", from, to, h)), OnPath(from, to, h), EdgeBetween(from, to))
	}
	return []Scenario{
		relayed("mesh-up-loss-a", Three, label("senderUplink", "15 % loss of what Ada sends", "ada"), Up("ada", network.Harm{Loss: .15})),
		relayed("mesh-up-loss-b", Three, label("senderUplink", "8 % loss of what Ben sends", "ben"), Up("ben", network.Harm{Loss: .08})),
		relayed("mesh-up-loss-c", Three, label("senderUplink", "25 % loss of what Cyd sends", "cyd"), Up("cyd", network.Harm{Loss: .25})),
		relayed("mesh-down-loss-a", Three, label("receiverDownlink", "15 % loss of what Ada gets", "ada"), Down("ada", network.Harm{Loss: .15})),
		relayed("mesh-down-loss-b", Three, label("receiverDownlink", "8 % loss of what Ben gets", "ben"), Down("ben", network.Harm{Loss: .08})),
		relayed("mesh-down-loss-c", Three, label("receiverDownlink", "25 % loss of what Cyd gets", "cyd"), Down("cyd", network.Harm{Loss: .25})),
		relayed("mesh-up-jitter-b", Three, label("senderUplink", "up to 300 ms of jitter of what Ben sends", "ben"), Up("ben", network.Harm{Jitter: 300 * ms})),
		relayed("mesh-down-jitter-c", Three, label("receiverDownlink", "up to 300 ms of jitter of what Cyd gets", "cyd"), Down("cyd", network.Harm{Jitter: 300 * ms})),
		relayed("mesh-delay-a", Three, orDownlink("ada", "300 ms of delay each way of all that is Ada's"), Both("ada", network.Harm{Delay: 300 * ms})),
		relayed("mesh-both-loss-b", Three, orDownlink("ben", "12 % loss each way of all that is Ben's"), Both("ben", network.Harm{Loss: .12})),
		relayed("mesh-up-cap-a", Three, label("senderUplink", "Ada can send 250 kbit/s", "ada"), Up("ada", network.Harm{RateBps: 250e3}), ForAll(High)),
		firefox(relayed("mesh-firefox-up-cap", Three, label("senderUplink", "Ada can send 300 kbit/s, in Firefox", "ada"), Up("ada", network.Harm{RateBps: 300e3}), ForAll(High))),
		relayed("mesh-down-cap-b", Three, label("receiverDownlink", "Ben can get 250 kbit/s", "ben"), Down("ben", network.Harm{RateBps: 250e3}), ForAll(High)),
		between("mesh-path-ab", "ada", "ben", network.Harm{Loss: .15}),
		between("mesh-path-bc", "ben", "cyd", network.Harm{Delay: 350 * ms}),
	}
}

func withServer() []Scenario {
	list := []Scenario{
		relayed("server-up-loss-a", Three, label("senderUplink", "15 % loss of what Ada sends", "ada"), Up("ada", network.Harm{Loss: .15})),
		relayed("server-up-loss-c", Three, label("senderUplink", "8 % loss of what Cyd sends", "cyd"), Up("cyd", network.Harm{Loss: .08})),
		relayed("server-down-loss-b", Three, label("receiverDownlink", "15 % loss of what Ben gets", "ben"), Down("ben", network.Harm{Loss: .15})),
		relayed("server-down-loss-a", Three, label("receiverDownlink", "8 % loss of what Ada gets", "ada"), Down("ada", network.Harm{Loss: .08})),
		relayed("server-up-cap-b", Three, label("senderUplink", "Ben can send 100 kbit/s", "ben"), Up("ben", network.Harm{RateBps: 100e3})),
		relayed("server-down-jitter-c", Three, label("receiverDownlink", "up to 300 ms of jitter of what Cyd gets", "cyd"), Down("cyd", network.Harm{Jitter: 300 * ms})),
		relayed("server-stops", Three, label("mediaServer", "the server stops passing on"), InServer("(call.stopped = true, "+takesAll+")")),
		relayed("server-stops-picture", Three, label("mediaServer", "the server stops passing pictures on"), InServer(
			"(call.stopped = true, senders('video').forEach((s) => s.replaceTrack(null)))")),
		relayed("server-network-loss", Three, label("mediaServer", "12 % loss each way for everybody"), Everywhere(network.Harm{Loss: .12})),
		relayed("server-network-delay", Three, label("mediaServer", "250 ms of delay each way for everybody"), Everywhere(network.Harm{Delay: 250 * ms})),
	}
	for i := range list {
		list[i] = served(list[i])
	}
	return list
}

// enough is a call in which a little processor time suffices.
func enough(s Scenario) Scenario { s.Label = none(s.Label.Did + ", which is enough"); return s }

func starved() []Scenario {
	mesh := func(s Scenario) Scenario {
		s.Users, s.Prepare = Three, Each(s.Prepare, watches("cyd"))
		return s
	}
	return []Scenario{
		Starve("cpu-send-a", "ada", "ben", Starvation{Who: "ada", Share: .2}),
		Starve("cpu-send-b", "ben", "ada", Starvation{Who: "ben", Share: .35}),
		mesh(Starve("cpu-send-mesh", "ada", "ben", Starvation{Who: "ada", Share: .25})),
		served(mesh(Starve("cpu-send-server", "ada", "ben", Starvation{Who: "ada", Share: .3}))),
		firefox(Starve("cpu-send-firefox", "ada", "ben", Starvation{Who: "ada", Share: .2})),
		Starve("cpu-receive-a", "ben", "ada", Starvation{Who: "ada", Share: .1}),
		enough(Starve("cpu-enough-a", "ada", "ben", Starvation{Who: "ben", Share: .25})),
		enough(Starve("cpu-enough-b", "ada", "ben", Starvation{Who: "ben", Share: .4})),
		mesh(Starve("cpu-receive-mesh", "ada", "ben", Starvation{Who: "ben", Share: .2})),
		served(mesh(Starve("cpu-receive-server", "ada", "ben", Starvation{Who: "ben", Share: .15}))),
		firefox(Starve("cpu-receive-firefox", "ada", "ben", Starvation{Who: "ben", Share: .2})),
	}
}

func ofDevices() []Scenario {
	media := func(user string, change func(*Source)) func(*Call) {
		return func(c *Call) { change(&c.Of(user).Media) }
	}
	slow := func(fps int) func(*Source) { return func(s *Source) { s.Video, s.FPS = "canvas", fps } }
	silent := func(s *Source) { s.Audio = "silence" }
	capture := func(user, did string) cause.Label { return label("sendingCapture", did, user) }
	return []Scenario{
		direct("camera-2fps", Two, capture("ada", "Ada's camera gives 2 pictures a second"), nil, media("ada", slow(2))),
		direct("camera-4fps-mesh", Three, capture("cyd", "Cyd's camera gives 4 pictures a second"), nil, media("cyd", slow(4))),
		direct("camera-unplugged", Two, capture("ada", "Ada's camera ends in the call"), InPage("ada", cameraEnds)),
		direct("camera-unplugged-mesh", Three, capture("ben", "Ben's camera ends in the call"), InPage("ben", cameraEnds)),
		served(direct("camera-unplugged-server", Three, capture("ben", "Ben's camera ends in the call"), InPage("ben", cameraEnds))),
		direct("microphone-unplugged", Two, capture("ben", "Ben's microphone ends in the call"), InPage("ben", "senders('audio').forEach((s) => ends(s.track))")),
		direct("microphone-silent", Two, capture("ada", "Ada's microphone hears nothing"), nil, media("ada", silent)),
		direct("microphone-silent-mesh", Three, capture("ben", "Ben's microphone hears nothing"), nil, media("ben", silent)),
		firefox(direct("camera-unplugged-firefox", Two, capture("ada", "Ada's camera ends in the call"), InPage("ada", cameraEnds))),
	}
}

// ofApplications are calls whose applications do not send what they should.
func ofApplications() []Scenario {
	sendsNothing := func(user string) func(*Call) { return Remotes(user, func(r *Remote) { r.Send = []string{"none"} }) }
	return []Scenario{
		failing("tracks-missing", Two, label("application", "Ada's application adds none of her tracks", "ada"), nil, sendsNothing("ada")),
		direct("sound-paused", Two, label("application", "Ben's page never starts the element of Ada's sound", "ben"), nil, plays("ben", "paused")),
		failing("tracks-missing-b", Two, label("application", "Ben's application adds none of his tracks", "ben"), nil, sendsNothing("ben")),
	}
}

func withoutPermission() []Scenario {
	denied := func(name string, users []string, user, did, err string) Scenario {
		return failing(name, users, label("permissionsOrDevices", did, user), nil, func(c *Call) { c.Of(user).GetUserMediaError = err })
	}
	return []Scenario{
		denied("permission-denied", Two, "ada", "Ada may not use her microphone and camera", "NotAllowedError"),
		denied("device-missing", Two, "ben", "Ben has neither microphone nor camera", "NotFoundError"),
		denied("device-busy-mesh", Three, "ada", "another program has Ada's camera", "NotReadableError"),
		firefox(denied("permission-firefox", Two, "ada", "Ada may not use her microphone and camera", "NotAllowedError")),
	}
}

func withoutNetwork() []Scenario {
	cut := network.Harm{Cut: true}
	ice := func(did string, users ...string) cause.Label { return label("iceConnectivity", did, users...) }
	return []Scenario{
		relayed("ice-cut", Two, ice("Ada's network is gone after a while", "ada", "ben"), Both("ada", cut)),
		relayed("ice-cut-back", Two, ice("Ada's network is gone for 9 s", "ada", "ben"), Each(Both("ada", cut), Wait(9*time.Second), Both("ada", network.Harm{}))),
		relayed("ice-cut-mesh", Three, ice("Ben's network is gone after a while", "ben"), Both("ben", cut)),
		served(relayed("ice-cut-server", Three, ice("Cyd's network is gone after a while", "cyd"), Both("cyd", cut))),
		failing("turn-wrong-password", Two, ice("Ada has only a TURN server, and a wrong password for it", "ada", "ben"), nil, WrongTURN("ada")),
		failing("turn-wrong-password-b", Two, ice("Ben has only a TURN server, and a wrong password for it", "ben", "ada"), nil, WrongTURN("ben")),
		failing("turn-wrong-mesh", Three, ice("Cyd has only a TURN server, and a wrong password for it", "cyd"), nil, WrongTURN("cyd")),
		failing("turn-wrong-two", Three, ice("Ada and Cyd have only a TURN server each, and a wrong password for it", "ada", "cyd"), nil, WrongTURN("ada"), WrongTURN("cyd")),
		failing("ice-blocked", Two, ice("nothing passes between the two", "ada", "ben"), nil, Edges, Both("ada", cut)),
		failing("no-candidates", Two, ice("the candidates of neither reach the other", "ada", "ben"), nil, NoCandidates("ada"), NoCandidates("ben")),
	}
}

// ofSignalling are calls in which offer and answer do not meet.
func ofSignalling() []Scenario {
	reports := func(function, name string) func(*Call) { return Reports("ada", function, name) }
	refused := label("signalling", "Ada's browser cannot read the answer", "ada")
	refused.Also = []string{"application"}
	return []Scenario{
		failing("no-answer", Two, label("signalling", "Ben's page never answers", "ada", "ben"), nil, NeverAnswers("ben")),
		failing("signalling-error", Two, label("signalling", "Ben's page never answers, and Ada's application reports a signalling error", "ada", "ben"),
			reports("signalingError", "TimeoutError"), NeverAnswers("ben")),
		failing("answer-refused", Two, refused, reports("setRemoteDescription", "InvalidAccessError"), NeverAnswers("ben")),
		failing("offer-fails", Two, label("application", "Ada's application cannot make an offer", "ada"),
			reports("createOffer", "InvalidStateError"), NeverOffers("ada")),
	}
}
