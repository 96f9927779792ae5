package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The sixth draw measures the rules that were corrected after the fifth, with kinds of harm that no earlier call had and
// those whose rules were corrected. Its seed was committed after the rules, and before any of its calls was recorded.
var sixth = drawing{name: "sixth", seed: 0x5157_2026_1126, stream: 8, kinds: sixthKinds, controls: 16, harmed: 38}

// TestRecordSixth makes every call of the sixth draw of which there is no trace.
func TestRecordSixth(t *testing.T) { sixth.record(t) }

func TestSixthScenes(t *testing.T) { sixth.check(t) }

var sixthKinds = []drawnKind{
	{"nothing", 2, (*freshDraw).untouchedCall},
	{"little harm", 2, func(d *freshDraw) { d.anywhere(); d.maybeFirefox(); d.mild() }},
	{"muted", 2, func(d *freshDraw) { d.anywhere(); d.maybeFirefox(); d.muted() }},
	{"DTX", 2, (*freshDraw).dtx},
	{"hinted slides", 2, (*freshDraw).hintedSlides},
	{"thumbnails", 2, (*freshDraw).thumbnails},
	{"tab closed", 2, (*freshDraw).tabClosed},
	{"listener", 2, (*freshDraw).listener},

	{"radio stalls", 4, (*freshDraw).stalls},
	{"large packets lost", 3, (*freshDraw).largeLost},
	{"cap that comes and goes", 2, (*freshDraw).capInTurns},
	// Of the following kinds no call was recorded before this draw.
	{"delay that comes and goes", 4, (*freshDraw).delayInTurns},
	{"jitter that comes and goes", 4, (*freshDraw).jitterInTurns},
	{"media gone in turns", 3, (*freshDraw).goneInTurns},
	{"cap and loss", 4, (*freshDraw).capAndLoss},
	{"stalls and loss", 4, (*freshDraw).stallsAndLoss},
	{"delay and loss", 3, (*freshDraw).delayAndLoss},
	{"cap of sound", 3, (*freshDraw).narrowSound},
	{"microphone off in turns", 4, (*freshDraw).microphoneInTurns},
}

// A delay has no direction that can be measured, so both directions of an access have it.
func (d *freshDraw) delayInTurns() {
	topology := d.anywhere()
	d.maybeSound()
	h := harm{delay: d.betweenMs(250, 450), every: 10 * time.Second, lasts: d.betweenMs(5000, 7000)}
	d.harmed(h, fmt.Sprintf("%v of delay each way for %v of every 10 s", h.delay, h.lasts), topology, atAccess)
}

func (d *freshDraw) jitterInTurns() {
	topology := d.anywhere()
	d.maybeSound()
	h := harm{jitter: d.betweenMs(200, 400), every: 8 * time.Second, lasts: d.betweenMs(4000, 6000)}
	d.harmed(h, fmt.Sprintf("up to %v of jitter for %v of every 8 s", h.jitter, h.lasts), topology, atUplink, atDownlink)
}

func (d *freshDraw) goneInTurns() {
	topology := d.anywhere()
	d.maybeSound()
	h := harm{loss: 1, every: 9 * time.Second, lasts: d.betweenMs(3500, 5000)}
	d.harmed(h, fmt.Sprintf("no media for %v of every 9 s", h.lasts), topology, atUplink, atDownlink)
}

func (d *freshDraw) capAndLoss() {
	topology := d.gather(pairOf, meshOf3)
	h := harm{rateBps: d.between(100e3, 250e3), loss: d.between(.05, .12)}
	d.harmed(h, fmt.Sprintf("a cap of %.0f kbit/s and %.0f %% loss", h.rateBps/1000, 100*h.loss), topology, atUplink, atDownlink)
}

func (d *freshDraw) stallsAndLoss() {
	topology := d.anywhere()
	d.maybeSound()
	h := harm{stall: d.betweenMs(350, 700), period: d.betweenMs(1500, 2600), loss: d.between(.05, .12)}
	d.harmed(h, fmt.Sprintf("stalls of %v every %v and %.0f %% loss", h.stall, h.period, 100*h.loss), topology, atUplink, atDownlink)
}

func (d *freshDraw) delayAndLoss() {
	topology := d.anywhere()
	d.maybeSound()
	h := harm{delay: d.betweenMs(200, 400), loss: d.between(.05, .15)}
	d.harmed(h, fmt.Sprintf("%v of delay and %.0f %% loss each way", h.delay, 100*h.loss), topology, atAccess)
}

// narrowSound: a link that is too narrow even for sound.
func (d *freshDraw) narrowSound() {
	topology := d.gather(pairOf, meshOf3)
	d.sound = true
	rate := d.between(15e3, 28e3)
	d.harmed(harm{rateBps: rate}, fmt.Sprintf("a cap of %.0f kbit/s", rate/1000), topology, atUplink, atDownlink)
}

// microphoneInTurns: a loose plug, say.
func (d *freshDraw) microphoneInTurns() {
	d.anywhere()
	d.maybeSound()
	off := pick(d, 3000, 4000, 5000)
	d.labelled("sendingCapture", fmt.Sprintf("%s's microphone is silent for %d ms of every 7 s and nobody says so", d.who, off), d.who)
	d.scene.act = inPage(d.who, fmt.Sprintf(`(() => {
		const sounds = (on) => senders('audio').forEach((s) => { s.track.enabled = on })
		const turn = () => { sounds(false); setTimeout(sounds, %d, true) }
		turn(); setInterval(turn, 7000)
	})()`, off))
}
