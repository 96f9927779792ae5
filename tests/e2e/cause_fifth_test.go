package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The fifth draw measures the rules that were corrected after the fourth. Its seed was committed after the
// rules, and before any of its calls was recorded.
var fifth = drawing{name: "fifth", seed: 0x5f1f_2026_1126, stream: 7, kinds: fifthKinds, controls: 41, harmed: 77}

// TestRecordFifth makes every call of the fifth draw of which there is no trace.
func TestRecordFifth(t *testing.T) { fifth.record(t) }

func TestFifthScenes(t *testing.T) { fifth.check(t) }

var fifthKinds = []drawnKind{
	{"nothing", 4, (*freshDraw).untouchedCall},
	{"little harm", 4, func(d *freshDraw) { d.anywhere(); d.maybeFirefox(); d.mild() }},
	{"muted", 3, func(d *freshDraw) { d.anywhere(); d.maybeFirefox(); d.muted() }},
	{"paused", 3, func(d *freshDraw) { d.gather(pairOf, meshOf3, withServer); d.maybeFirefox(); d.paused() }},
	{"DTX", 4, (*freshDraw).dtx},
	{"slides", 2, (*freshDraw).sharedSlides},
	{"hinted slides", 3, (*freshDraw).hintedSlides},
	{"thumbnails", 2, (*freshDraw).thumbnails},
	{"still picture", 3, (*freshDraw).stillPicture},
	{"camera off from the beginning", 3, (*freshDraw).cameraOff},
	{"tab closed", 3, (*freshDraw).tabClosed},
	{"hang-up", 4, (*freshDraw).hangsUp},
	{"listener", 3, (*freshDraw).listener},

	{"loss", 2, (*freshDraw).loss},
	{"jitter", 2, (*freshDraw).jitter},
	{"cap", 2, (*freshDraw).narrow},
	{"network gone", 2, (*freshDraw).cut},
	{"starved sender", 2, (*freshDraw).starvedSender},
	{"starved receiver", 2, (*freshDraw).starvedReceiver},
	{"slow camera", 1, func(d *freshDraw) { d.gather(pairOf, meshOf3, withServer); d.slowCamera() }},
	{"camera ends", 2, func(d *freshDraw) { d.gather(pairOf, meshOf3, withServer); d.cameraGone() }},
	{"microphone ends", 2, func(d *freshDraw) { d.anywhere(); d.microphoneGone() }},
	{"microphone silent", 1, func(d *freshDraw) { d.anywhere(); d.microphoneSilent() }},
	{"nothing sent", 2, (*freshDraw).missing},
	{"no answer", 1, (*freshDraw).signalling},
	{"server", 2, (*freshDraw).server},
	{"blocked", 1, (*freshDraw).blocked},
	{"one-way media", 2, (*freshDraw).oneWayMedia},
	{"radio stalls", 4, (*freshDraw).stalls},
	{"bursts of loss", 2, (*freshDraw).bursts},
	{"network change", 2, (*freshDraw).networkChange},
	{"frozen camera", 3, (*freshDraw).frozenCamera},
	{"black camera", 2, (*freshDraw).blackCamera},
	{"camera ended before", 3, (*freshDraw).endedBefore},
	{"short fault in a long call", 2, (*freshDraw).shortFault},
	{"wrong password for TURN", 3, (*freshDraw).wrongPassword},
	{"TURN unreachable", 2, (*freshDraw).noTURN},
	{"server leaves one out", 2, (*freshDraw).leavesOut},
	{"delay of one way", 2, (*freshDraw).delayOneWay},
	// Of the following kinds no call was recorded before this draw.
	{"loss that comes and goes", 4, (*freshDraw).lossInTurns},
	{"loss that grows", 4, (*freshDraw).lossGrows},
	{"cap that comes and goes", 3, (*freshDraw).capInTurns},
	{"large packets lost", 4, (*freshDraw).largeLost},
	{"loss and jitter", 3, (*freshDraw).lossAndJitter},
	{"microphone taken away", 3, (*freshDraw).microphoneTaken},
	{"camera switched off", 3, (*freshDraw).cameraOffUnsaid},
}

// hintedSlides: slides of a track with a hint, of which the application reports nothing.
func (d *freshDraw) hintedSlides() {
	d.places()
	who, height := d.who, pick(d, 720, 1080)
	d.maybeFirefox()
	d.labelled("none", fmt.Sprintf("%s shows slides of %dp with a hint of detail", who, height))
	d.prepared(func(c *causeCall) { c.of(who).Media.Video, c.of(who).Media.Height = "slides", height })
	d.scene.act = inPage(who, "senders('video').forEach((s) => { s.track.contentHint = 'detail' })")
}

// cameraOff: the camera is off, and the application said so, for nearly all of the call.
func (d *freshDraw) cameraOff() {
	d.places()
	d.maybeFirefox()
	who := d.who
	d.labelled("none", who+" has the camera off and said so")
	d.scene.act = inPage(who, "(event('videoPause'), senders('video').forEach((s) => { s.track.enabled = false }))")
}

func (d *freshDraw) lossInTurns() {
	topology := d.anywhere()
	d.maybeSound()
	h := harm{loss: d.between(.25, .5), every: 8 * time.Second, lasts: d.betweenMs(3500, 5000)}
	d.harmed(h, fmt.Sprintf("%.0f %% loss for %v of every 8 s", 100*h.loss, h.lasts), topology, atUplink, atDownlink)
}

func (d *freshDraw) lossGrows() {
	topology := d.anywhere()
	d.maybeSound()
	most := d.between(.2, .4)
	d.harmed(harm{loss: most, grows: 12 * time.Second}, fmt.Sprintf("loss that grows to %.0f %%", 100*most), topology, atUplink, atDownlink)
}

func (d *freshDraw) capInTurns() {
	topology := d.gather(pairOf, meshOf3)
	h := harm{rateBps: d.between(90e3, 200e3), every: 10 * time.Second, lasts: d.betweenMs(5000, 7000)}
	d.harmed(h, fmt.Sprintf("a cap of %.0f kbit/s for %v of every 10 s", h.rateBps/1000, h.lasts), topology, atUplink)
}

// largeLost: the packets of pictures do not fit through a tunnel, those of sound do.
func (d *freshDraw) largeLost() {
	topology := d.gather(pairOf, meshOf3, withServer)
	h := harm{largest: pick(d, 400, 600, 800)}
	d.harmed(h, fmt.Sprintf("packets of more than %d bytes are lost", h.largest), topology, atUplink, atDownlink)
}

func (d *freshDraw) lossAndJitter() {
	topology := d.anywhere()
	d.maybeSound()
	h := harm{loss: d.between(.06, .15), jitter: d.betweenMs(60, 120)}
	d.harmed(h, fmt.Sprintf("%.0f %% loss and up to %v of jitter", 100*h.loss, h.jitter), topology, atUplink, atDownlink)
}

// microphoneTaken: the application takes the microphone's track away and does not say so.
func (d *freshDraw) microphoneTaken() {
	d.places()
	d.labelled("sendingCapture", d.who+"'s application takes the microphone's track away and does not say so", d.who)
	d.scene.label.Also = []string{"application"}
	d.scene.act = inPage(d.who, "senders('audio').forEach((s) => s.replaceTrack(null))")
}

// cameraOffUnsaid: the camera's track is disabled, and nobody says so.
func (d *freshDraw) cameraOffUnsaid() {
	d.places()
	d.labelled("sendingCapture", d.who+"'s camera is switched off and nobody says so", d.who)
	d.scene.act = inPage(d.who, "senders('video').forEach((s) => { s.track.enabled = false })")
}
