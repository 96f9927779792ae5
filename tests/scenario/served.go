package scenario

import (
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
		served3(through, "leaver", none("Cyd, who has no library, leaves"), func(c *Call) { c.HangUp(c.Of("cyd")) }, Uninstrumented("cyd")),
		served3(through, "one-loss", label("unknown", "10 % loss of what Ben sends; Ada alone has the library"),
			Up("ben", network.Harm{Loss: .1}), EdgeFor("ben"), Uninstrumented("ben", "cyd")),
	}
}

// ServedByLiveKit returns calls in which the application uses LiveKit's SDK to send or to watch less.
func ServedByLiveKit(through LiveKit) []Scenario {
	const me = "call.room.localParticipant"
	hides := "document.querySelectorAll('video').forEach((one) => { one.style.display = 'none'; })"
	return []Scenario{
		served3(through, "mute", none("Ada mutes her microphone"), InPage("ada", me+".setMicrophoneEnabled(false)")),
		served3(through, "camera-off", none("Ada switches her camera off"), InPage("ada", me+".setCameraEnabled(false)")),
		served3(through, "tile", none("all tiles leave Ben's view"), InPage("ben", hides)),
	}
}

// served3 is a call of three people with pictures of 180p: three browsers that encode more starve two processors.
func served3(through Topology, name string, l cause.Label, act func(*Call), prepare ...func(*Call)) Scenario {
	small := ForAll(func(m *Member) { m.Media.Height = 180 })
	return Scenario{Name: name, Users: Three, Label: l, Topology: through, Act: act, Prepare: Each(append([]func(*Call){small}, prepare...)...)}
}

// Uninstrumented leaves participants without the library.
func Uninstrumented(users ...string) func(*Call) {
	return func(c *Call) {
		for _, user := range users {
			c.Of(user).Quiet = true
		}
	}
}
