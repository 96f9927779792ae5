package lab

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/tests/scenario"
)

// A toggle is something that a page turns off: a device, tracks, or the forwarding of a server. Its name is that of the
// kind in which it stays off, and the kind in which it is off in turns has "in turns" after it.
type toggle struct {
	name  string
	did   string // with %s for a participant
	turn  string // JavaScript function of on, which may have %q for a participant
	found string // cause; "none": a control
	also  string // another cause that is right, or ""

	groups   []*group
	options  int
	canvas   bool // the page draws the picture
	inServer bool
	stays    bool // off to the end, in the only kind
	back     bool // back after some seconds, once, in a kind whose name has "and back" after it, and not in turns
}

// smallVideo is what a camera has to give.
const smallVideo = "{ width: 320, height: 240, frameRate: 15 }"

const allTracks = "[...call.pcs.values()].flatMap((one) => one.pc.getSenders()).filter((s) => s.track)"

// enabled turns the tracks of a kind of media off by their property enabled.
func enabled(media string) string {
	return "(on) => senders('" + media + "').forEach((s) => { s.track.enabled = on })"
}

// taken takes tracks away from senders.
func taken(senders string) string {
	return "((all) => (on) => all.forEach(([s, track]) => s.replaceTrack(on ? track : null)))(" + senders + ".map((s) => [s, s.track]))"
}

// reporting turns something off and reports it, as applications have to.
func reporting(turn, off, on string) string {
	return fmt.Sprintf("((turn) => (on) => { event(on ? '%s' : '%s'); turn(on) })(%s)", on, off, turn)
}

// ended ends the tracks of a kind of media, as a device does that vanishes. Another device follows.
func ended(media, constraints string) string {
	return fmt.Sprintf(`async (on) => {
		if (!on) return senders('%[1]s').forEach((s) => ends(s.track))
		const [track] = (await navigator.mediaDevices.getUserMedia({ %[1]s: %[2]s })).getTracks()
		senders('%[1]s').forEach((s) => s.replaceTrack(track))
	}`, media, constraints)
}

var toggles = []toggle{
	{name: "muted", did: "%s mutes the microphone and says so", turn: reporting(enabled("audio"), "audioMute", "audioUnmute"), found: "none", groups: anyGroup, options: sound | fox},
	{name: "paused", did: "%s pauses the picture and says so", turn: reporting(enabled("video"), "videoPause", "videoResume"), found: "none", groups: ofPictures, options: fox},
	{name: "held", did: "%s holds the call and says so", turn: reporting(taken(allTracks), "fabricHold", "fabricResume"), found: "none", groups: anyGroup, options: sound | fox, back: true},

	{name: "microphone off", did: "%s's microphone is switched off and nobody says so", turn: enabled("audio"), found: "none", groups: anyGroup, options: sound},
	{name: "camera off", did: "%s's camera is switched off and nobody says so", turn: enabled("video"), found: "none", groups: ofPictures},
	{name: "microphone taken away", did: "%s's application takes the microphone's track away and does not say so", turn: taken("senders('audio')"), found: "none", groups: anyGroup, options: sound},
	{name: "camera taken away", did: "%s's application takes the camera's track away and does not say so", turn: taken("senders('video')"), found: "none", groups: ofPictures},
	{name: "all taken away", did: "%s's application takes all tracks away and does not say so", turn: taken(allTracks), found: "none", groups: anyGroup, options: sound},
	{name: "black camera", did: "%s's camera gives black pictures", turn: "(on) => { call.picture.black = !on }", found: "sendingCapture", groups: ofPictures, options: fox, canvas: true},
	{name: "frozen camera", did: "%s's camera gives the same picture again and again", turn: "(on) => { call.picture.frozen = !on }", found: "sendingCapture", groups: ofPictures, options: fox, canvas: true, stays: true},
	{name: "microphone ends", did: "%s's microphone ends", turn: ended("audio", "true"), found: "sendingCapture", groups: anyGroup, options: sound, back: true},
	{name: "camera ends", did: "%s's camera ends", turn: ended("video", smallVideo), found: "sendingCapture", groups: ofPictures, options: fox, back: true},
	{name: "all devices end", did: "%s's camera and microphone end", turn: "() => [...senders('audio'), ...senders('video')].forEach((s) => ends(s.track))", found: "sendingCapture", also: "application", groups: ofPictures, options: fox, stays: true},

	{name: "server stops", did: "the server forwards nothing", turn: taken(allTracks), found: "mediaServer", groups: []*group{served}, options: sound, inServer: true},
	{name: "server stops sound", did: "the server forwards no sound", turn: taken("senders('audio')"), found: "mediaServer", groups: []*group{served}, options: sound, inServer: true},
	{name: "server stops pictures", did: "the server forwards no pictures", turn: taken("senders('video')"), found: "mediaServer", groups: []*group{served}, inServer: true},
	{name: "server leaves one out", did: "the server forwards nothing to %s", turn: taken("call.pcs.get(%q).pc.getSenders().filter((s) => s.track)"), found: "mediaServer", groups: []*group{served}, options: sound, inServer: true},
}

// toggleKinds returns the kinds of all toggles.
func toggleKinds() (kinds []kind) {
	for _, t := range toggles {
		add := func(more string, script func(d *draw) (did, format string)) {
			kinds = append(kinds, kind{name: t.name + more, control: t.found == "none", groups: t.servable(), draw: func(d *draw) { t.draw(d, script) }})
		}
		add("", func(*draw) (string, string) { return "", "(%s)(false)" })
		switch {
		case t.back:
			add(" and back", back)
		case !t.stays:
			add(" in turns", inTurns)
		}
	}
	return kinds
}

// inTurns turns something off at the beginning of each 8 s.
func inTurns(d *draw) (did, format string) {
	ms := d.betweenMs(4500, 5500).Milliseconds()
	return fmt.Sprintf(" for %d ms of every 8 s", ms), fmt.Sprintf(`((turn) => {
		const once = () => { turn(false); setTimeout(turn, %d, true) }
		once(); setInterval(once, 8000)
	})(%%s)`, ms)
}

// back turns something off for some seconds, once.
func back(d *draw) (did, format string) {
	ms := d.betweenMs(9000, 12000).Milliseconds()
	return fmt.Sprintf(" for %d ms", ms), fmt.Sprintf("((turn) => { turn(false); setTimeout(turn, %d, true) })(%%s)", ms)
}

// servable returns the groups, or nil where a media server, or a page of its SDK, cannot turn this off.
func (t *toggle) servable() []*group {
	if t.inServer || t.canvas {
		return nil
	}
	return t.groups
}

func (t *toggle) draw(d *draw, script func(d *draw) (did, format string)) {
	d.with(t.groups, t.options)
	lasts, format := script(d)
	did, turn := withUser(t.did, d.who), withUser(t.turn, d.who)
	var users []string
	if t.found != "none" && !t.inServer {
		users = []string{d.who}
	}
	d.labelled(t.found, did+lasts, users...)
	if t.also != "" {
		d.Label.Also = []string{t.also}
	}
	if t.canvas {
		d.sends(d.who, func(s *scenario.Source) { s.Video, s.Height, s.FPS = "canvas", 360, 15 })
	}
	if t.inServer {
		d.does(scenario.InServer("(call.stopped = true, " + fmt.Sprintf(format, turn) + ")"))
		return
	}
	d.does(scenario.InPage(d.who, "("+fmt.Sprintf(format, turn)+", 0)"))
}

// withUser fills a user in.
func withUser(text, user string) string {
	return strings.NewReplacer("%s", user, "%q", strconv.Quote(user)).Replace(text)
}
