package lab

import (
	"fmt"
	"slices"
	"time"

	"github.com/qosrtc/qos/tests/scenario"
)

// Groups through media servers that applications use. The recorder has such servers run in their place (Through).
var (
	livekit = &group{users: scenario.Three, topology: scenario.LiveKit{}, server: true, real: true}
	janus   = &group{users: scenario.Three, topology: scenario.Janus{}, server: true, real: true}

	anyServer = []*group{livekit, janus}
)

// Through has calls go through servers that run.
func Through(calls []scenario.Scenario, livekit scenario.LiveKit, janus scenario.Janus) {
	for i := range calls {
		switch calls[i].Topology.(type) {
		case scenario.LiveKit:
			calls[i].Topology = livekit
		case scenario.Janus:
			calls[i].Topology = janus
		}
	}
}

// servedKinds are the kinds of calls through such servers: of those with a page as the server all that a network, a page or its
// devices do, and what only such servers and their SDKs have. Their names have "served, " before them.
func servedKinds() []kind {
	var kinds []kind
	for _, k := range slices.Concat(networkFaults, toggleKinds(), settingKinds()) {
		if slices.Contains(k.groups, served) && !slices.Contains(notServed, k.name) {
			kinds = append(kinds, kind{name: k.name, control: k.control, draw: func(d *draw) {
				d.through = anyServer
				k.draw(d)
			}})
		}
	}
	kinds = append(kinds, ofServers...)
	for i := range kinds {
		kinds[i].name = "served, " + kinds[i].name
	}
	return kinds
}

// notServed are kinds that a page cannot make in an SDK, or whose pictures take more time than two processors have.
var notServed = []string{
	"discontinuous sound", "discontinuous sound, muted", "long packets of sound", "little bitrate by the application", "few pictures by the application",
	"slides", "hinted slides", "thumbnails", "still picture", "detailed picture",
}

// page is a control in which a page of LiveKit's SDK runs a script.
func page(name, did, script string) kind {
	return kind{name: name, control: true, draw: func(d *draw) {
		d.with([]*group{livekit}, fox)
		d.labelled("none", withUser(did, d.who))
		d.does(scenario.InPage(d.who, script))
	}}
}

var ofServers = []kind{
	{name: "server stands still", draw: func(d *draw) {
		d.with(anyServer, sound)
		still, runs := d.betweenMs(1500, 3000), d.betweenMs(3000, 5000)
		d.labelled("mediaServer", fmt.Sprintf("the server stands still for %v of every %v", still, still+runs))
		d.does(scenario.Stalls(still, runs))
		d.Lasts = scenario.Length{Well: 5 * time.Second, Impaired: 5 * time.Second}
	}},
	{name: "somebody without the library leaves", control: true, draw: func(d *draw) {
		d.with(anyServer, sound|fox)
		d.labelled("none", d.who+", who has no library, leaves")
		d.Scenario = scenario.Uninstrumented(d.Scenario, d.who)
		d.does(func(c *scenario.Call) { c.HangUp(c.Of(d.who)) })
	}},
	{name: "one has the library", control: true, draw: func(d *draw) {
		d.with(anyServer, sound|fox)
		d.labelled("none", "nothing; "+d.who+" alone has the library")
		others := slices.DeleteFunc(slices.Clone(d.Users), func(user string) bool { return user == d.who })
		d.Scenario = scenario.Uninstrumented(d.Scenario, others...)
	}},
	{name: "somebody watches", control: true, draw: func(d *draw) {
		d.with(anyServer, sound|fox)
		d.labelled("none", d.who+" only watches")
		d.Viewers = []string{d.who}
	}},
	page("muted by its button", "%s mutes the microphone", scenario.Microphone(false)),
	page("camera off by its button", "%s switches the camera off", scenario.CameraOff),
	page("tiles out of view", "all tiles leave %s's view", scenario.Tiles("none")),
	page("smallest layer", "%s's page asks for the smallest layer of all pictures", scenario.Layer(0)),
}
