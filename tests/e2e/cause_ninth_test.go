package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The ninth draw measures the rules that were corrected after the eighth, with kinds of harm that no earlier call had and
// those whose rules were corrected. Its seed was committed after the rules, and before any of its calls was recorded.
var ninth = drawing{name: "ninth", seed: 0x917e_2026_1126, stream: 11, kinds: ninthKinds, controls: 12, harmed: 46}

// TestRecordNinth makes every call of the ninth draw of which there is no trace.
func TestRecordNinth(t *testing.T) { ninth.record(t) }

func TestNinthScenes(t *testing.T) { ninth.check(t) }

var ninthKinds = []drawnKind{
	{"nothing", 2, (*freshDraw).untouchedCall},
	{"DTX", 1, (*freshDraw).dtx},
	{"hinted slides", 2, (*freshDraw).hintedSlides},
	{"hang-up", 2, (*freshDraw).hangsUp},
	{"mutes in turns", 1, (*freshDraw).mutesInTurns},
	{"held and back", 3, (*freshDraw).heldAndBack},
	{"other camera", 1, (*freshDraw).otherCamera},

	{"all taken in turns", 2, (*freshDraw).allTakenInTurns},
	{"network gone in turns", 2, (*freshDraw).cutInTurns},
	// Of the following kinds no call was recorded before this draw.
	{"bursts that come and go", 4, (*freshDraw).burstsInTurns},
	{"cap that opens", 3, (*freshDraw).capOpens},
	{"jitter that falls", 4, (*freshDraw).jitterFalls},
	{"stalls that come and go", 4, (*freshDraw).stallsInTurns},
	{"cap one way, loss the other", 4, (*freshDraw).capAndLossBack},
	{"delay and cap", 3, (*freshDraw).delayAndCap},
	{"bursts and cap", 3, (*freshDraw).burstsAndCap},
	{"stalls and jitter", 4, (*freshDraw).stallsAndJitter},
	{"stalls and delay", 4, (*freshDraw).stallsAndDelay},
	{"microphone ended and back", 3, (*freshDraw).microphoneEndedAndBack},
	{"black camera in turns", 3, (*freshDraw).blackInTurns},
	{"server leaves one out in turns", 3, (*freshDraw).leavesOutInTurns},
}

func (d *freshDraw) burstsInTurns() {
	topology := d.lightly()
	h := harm{burst: d.between(.25, .4), every: 9 * time.Second, lasts: d.betweenMs(5500, 7000)}
	d.harmed(h, fmt.Sprintf("%.0f %% loss in bursts for %v of every 9 s", 100*h.burst, h.lasts), topology, atUplink, atDownlink)
}

func (d *freshDraw) capOpens() {
	topology := d.gather(pairOf, meshOf3)
	d.prepared(forAll(high))
	h := harm{rateBps: d.between(50e3, 90e3), falls: 30 * time.Second}
	d.harmed(h, fmt.Sprintf("a cap of %.0f kbit/s that opens in 30 s", h.rateBps/1000), topology, atUplink, atDownlink)
}

func (d *freshDraw) jitterFalls() {
	topology := d.lightly()
	h := harm{jitter: d.betweenMs(350, 500), falls: 25 * time.Second}
	d.harmed(h, fmt.Sprintf("jitter that falls from %v", h.jitter), topology, atUplink, atDownlink)
}

func (d *freshDraw) stallsInTurns() {
	topology := d.lightly()
	h := harm{stall: d.betweenMs(400, 700), period: d.betweenMs(1500, 2200), every: 10 * time.Second, lasts: d.betweenMs(6000, 8000)}
	d.harmed(h, fmt.Sprintf("stalls of %v every %v for %v of every 10 s", h.stall, h.period, h.lasts), topology, atUplink, atDownlink)
}

func (d *freshDraw) capAndLossBack() {
	topology := d.gather(pairOf, meshOf3)
	limit, loss := harm{rateBps: d.between(80e3, 150e3)}, harm{loss: d.between(.08, .2)}
	who := d.who
	d.atAccess(harm{}, fmt.Sprintf("a cap of %.0f kbit/s of what %s sends and %.0f %% loss of what %s gets", limit.rateBps/1000, who, 100*loss.loss, who), topology, atAccess)
	d.scene.act = each(up(who, limit), down(who, loss))
}

func (d *freshDraw) delayAndCap() {
	topology := d.gather(pairOf, meshOf3)
	h := harm{delay: d.betweenMs(200, 350), rateBps: d.between(80e3, 150e3)}
	d.harmed(h, fmt.Sprintf("%v of delay and a cap of %.0f kbit/s each way", h.delay, h.rateBps/1000), topology, atAccess)
}

func (d *freshDraw) burstsAndCap() {
	topology := d.gather(pairOf, meshOf3)
	h := harm{burst: d.between(.1, .2), rateBps: d.between(80e3, 150e3)}
	d.harmed(h, fmt.Sprintf("%.0f %% loss in bursts and a cap of %.0f kbit/s", 100*h.burst, h.rateBps/1000), topology, atUplink, atDownlink)
}

func (d *freshDraw) stallsAndJitter() {
	topology := d.lightly()
	h := harm{stall: d.betweenMs(350, 700), period: d.betweenMs(1500, 2600), jitter: d.betweenMs(150, 300)}
	d.harmed(h, fmt.Sprintf("stalls of %v every %v and up to %v of jitter", h.stall, h.period, h.jitter), topology, atUplink, atDownlink)
}

func (d *freshDraw) stallsAndDelay() {
	topology := d.lightly()
	h := harm{stall: d.betweenMs(350, 700), period: d.betweenMs(1500, 2600), delay: d.betweenMs(200, 350)}
	d.harmed(h, fmt.Sprintf("stalls of %v every %v and %v of delay each way", h.stall, h.period, h.delay), topology, atAccess)
}

func (d *freshDraw) microphoneEndedAndBack() {
	d.lightly()
	off := d.betweenMs(9000, 12000)
	d.labelled("sendingCapture", fmt.Sprintf("%s's microphone ends, and another follows after %v", d.who, off), d.who)
	d.scene.act = inPage(d.who, fmt.Sprintf(`(() => {
		senders('audio').forEach((s) => s.track.stop())
		setTimeout(async () => {
			const media = await navigator.mediaDevices.getUserMedia({ audio: true })
			senders('audio').forEach((s) => s.replaceTrack(media.getAudioTracks()[0]))
		}, %d)
	})()`, off.Milliseconds()))
}

func (d *freshDraw) blackInTurns() {
	d.gather(pairOf, pairOf, meshOf3)
	who, off := d.who, d.betweenMs(3600, 4400)
	d.labelled("sendingCapture", fmt.Sprintf("%s's camera gives black pictures for %v of every 8 s", who, off), who)
	d.prepared(func(c *causeCall) {
		c.of(who).Media = source{Audio: "microphone", Video: "canvas", Height: 360, FPS: 15}
	})
	d.scene.act = inTurns(who, "(on) => { call.picture.black = !on }", int(off.Milliseconds()), 8000)
}

// leavesOutInTurns: the server forwards nothing to one participant now and then.
func (d *freshDraw) leavesOutInTurns() {
	d.gather(withServer)
	d.sound = !d.chance(4)
	who, off := d.who, d.betweenMs(5000, 6000)
	d.labelled("mediaServer", fmt.Sprintf("the server forwards nothing to %s for %v of every 8 s", who, off))
	senders := fmt.Sprintf("call.pcs.get(%q).pc.getSenders().filter((s) => s.track)", who)
	d.scene.act = func(c *causeCall) {
		c.server.page.Run("(call.stopped = true, " + takenInTurns(senders, off, 8*time.Second) + ")")
	}
}
