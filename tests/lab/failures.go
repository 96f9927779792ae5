package lab

import (
	"fmt"
	"time"

	"github.com/qosrtc/qos/tests/network"
	"github.com/qosrtc/qos/tests/scenario"
)

// action is done before or in a call.
type action = func(*scenario.Call)

// cut lets no packet pass.
var cut = network.Harm{Cut: true}

// failing is a kind in which media never flow. The participants at fault are one, or all of a connection.
func failing(name string, groups []*group, found, did string, fails func(d *draw) []action) kind {
	return kind{name: name, draw: func(d *draw) {
		d.with(groups, fox)
		prepare := fails(d)
		users := []string{d.who}
		if found == "iceConnectivity" || found == "signalling" {
			users = d.ends()
		}
		d.labelled(found, withUser(did, d.who), users...)
		d.Fails = true
		d.prepared(prepare...)
	}}
}

// disconnecting is a kind in which the connections of a participant fail in the call.
func disconnecting(name string, groups []*group, fails func(d *draw) (did string, do []action)) kind {
	return kind{name: name, draw: func(d *draw) {
		d.with(groups, sound)
		did, do := fails(d)
		d.labelled("iceConnectivity", did, d.ends()...)
		d.prepared(scenario.Edges)
		d.does(do...)
	}}
}

// capturing is a kind in which a participant's device is at fault from the beginning.
func capturing(name string, groups []*group, options int, did string, change func(*scenario.Source)) kind {
	return kind{name: name, draw: func(d *draw) {
		d.with(groups, options)
		d.labelled("sendingCapture", withUser(did, d.who), d.who)
		d.sends(d.who, change)
	}}
}

// failures are kinds in which machines, devices, applications, signalling or connections fail.
var failures = []kind{
	// In calls of earlier draws a third of a processor was too little to send 1080p, and a fifth to receive 720p.
	{name: "starved sender", draw: func(d *draw) { d.starve(true, d.between(.12, .3)) }},
	{name: "starved receiver", draw: func(d *draw) { d.starve(false, d.between(.08, .17)) }},
	{name: "enough processor", control: true, draw: func(d *draw) {
		d.starve(false, d.between(.25, .4))
		d.Label.Cause, d.Label.Users, d.Label.Did = "none", nil, d.Label.Did+": that is enough"
	}},

	{name: "slow camera", draw: func(d *draw) {
		fps := 1 + d.r.IntN(3)
		capturing("", ofPictures, 0, fmt.Sprintf("%%s's camera gives %d pictures a second", fps), func(s *scenario.Source) { s.Video, s.FPS = "canvas", fps }).draw(d)
	}},
	capturing("silent microphone", anyGroup, sound, "%s's microphone records silence", func(s *scenario.Source) { s.Audio = "silence" }),
	{name: "camera ended before", draw: func(d *draw) {
		capturing("", ofPictures, 0, "%s's camera ended before the call", func(s *scenario.Source) { s.Video = "ended" }).draw(d)
		d.Kinds = []string{"audio"}
	}},
	failing("no device", ofPictures, "permissionsOrDevices", "%s has no devices", func(d *draw) []action {
		who, name := d.who, pick(d, "NotAllowedError", "NotFoundError", "NotReadableError")
		return []action{func(c *scenario.Call) { c.Of(who).GetUserMediaError = name }}
	}),

	failing("nothing sent", peers, "application", "%s's application adds none of the tracks", func(d *draw) []action {
		return []action{scenario.Remotes(d.who, func(r *scenario.Remote) { r.Send = []string{"none"} })}
	}),
	failing("offer fails", peers, "application", "%s's application cannot make an offer", func(d *draw) []action {
		d.who = d.Users[0] // who offers to all others
		d.does(scenario.Reports(d.who, "createOffer", "InvalidStateError"))
		return []action{scenario.NeverOffers(d.who)}
	}),
	failing("no answer", peers, "signalling", "%s's page never answers", (*draw).lastNeverAnswers),
	failing("no answer, and it is reported", peers, "signalling", "%s's page never answers, and ada's application reports a signalling error", func(d *draw) []action {
		d.does(scenario.Reports("ada", "signalingError", "TimeoutError"))
		return d.lastNeverAnswers()
	}),
	{name: "answer refused", draw: func(d *draw) {
		failing("", []*group{pair}, "signalling", "ada's browser cannot read the answer", (*draw).lastNeverAnswers).draw(d)
		d.does(scenario.Reports("ada", "setRemoteDescription", "InvalidAccessError"))
		d.Label.Also = []string{"application"}
	}},

	failing("no candidates", []*group{pair}, "iceConnectivity", "the candidates of neither reach the other", func(d *draw) []action {
		return []action{scenario.NoCandidates(d.who), scenario.NoCandidates(d.other)}
	}),
	failing("blocked", peers, "iceConnectivity", "nothing passes to and from %s", func(d *draw) []action {
		return []action{scenario.Edges, scenario.Both(d.who, cut)}
	}),
	failing("wrong password for TURN", peers, "iceConnectivity", "%s has only a TURN server, and a wrong password for it", func(d *draw) []action {
		return []action{scenario.WrongTURN(d.who)}
	}),
	failing("TURN unreachable", peers, "iceConnectivity", "%s has only a TURN server, which does not answer", func(d *draw) []action {
		nobody := scenario.ThroughTURN("turn:127.0.0.1:9?transport=udp", network.TURNPassword)
		return []action{scenario.Remotes(d.who, func(r *scenario.Remote) { r.ICE = nobody })}
	}),
	disconnecting("TURN server ends", anyGroup, func(d *draw) (string, []action) {
		return d.who + "'s TURN server ends in the call", []action{func(c *scenario.Call) { c.Of(d.who).Edge.Stop() }}
	}),
	disconnecting("network gone", anyGroup, func(d *draw) (string, []action) {
		return d.who + "'s network is gone", []action{scenario.Both(d.who, cut)}
	}),
	disconnecting("network back", anyGroup, (*draw).goneForSeconds),
	disconnecting("network change", peers, func(d *draw) (string, []action) {
		did, do := d.goneForSeconds()
		return did + ", and ICE restarts", append(do, scenario.InPage(d.who, "restartICE()"))
	}),
	orAccess(disconnecting("network gone in turns", anyGroup, func(d *draw) (string, []action) {
		h := network.Harm{Cut: true, Every: 11 * time.Second, Lasts: d.betweenMs(6000, 7500)}
		return fmt.Sprintf("%s's network is gone for %v of every 11 s", d.who, h.Lasts), []action{scenario.Both(d.who, h)}
	})),
	orAccess(disconnecting("nothing passes one way", anyGroup, func(d *draw) (string, []action) { // neither media nor the checks of ICE
		at := pick(d, uplink, downlink)
		return "nothing passes " + withUser(at.did, d.who), []action{at.set(d.who, cut)}
	})),
	{name: "harm, a participant without the library", draw: (*draw).lossWithoutLibrary},
}

// lastNeverAnswers leaves the offers of all others to the last participant without an answer.
func (d *draw) lastNeverAnswers() []action {
	d.who, d.other = d.Users[len(d.Users)-1], d.Users[0]
	return []action{scenario.NeverAnswers(d.who)}
}

func (d *draw) goneForSeconds() (did string, do []action) {
	dark := d.betweenMs(8000, 11000)
	return fmt.Sprintf("%s's network is gone for %v", d.who, dark),
		[]action{scenario.Both(d.who, cut), scenario.Wait(dark), scenario.Both(d.who, network.Harm{})}
}

// starve leaves one machine a share of a processor for the picture that it sends or receives, in some calls beside threads
// that compete for it.
func (d *draw) starve(sends bool, share float64) {
	d.with(ofPictures, fox)
	starved, showing, watching := scenario.Starvation{Who: d.who, Share: share}, d.who, d.other
	if !sends {
		showing, watching = watching, showing
	}
	if sends && d.chance(4) {
		starved.Busy = 4 + d.r.IntN(5)
	}
	drawn := d.Scenario
	d.Scenario = scenario.Starve(d.Name, showing, watching, starved)
	d.Users, d.Topology, d.Browser = drawn.Users, drawn.Topology, drawn.Browser
	for _, user := range d.Users {
		if user != showing && user != watching {
			d.sends(user, func(s *scenario.Source) { s.Video = "" })
		}
	}
	d.labelled(d.Label.Cause, d.Label.Did, d.who)
}
