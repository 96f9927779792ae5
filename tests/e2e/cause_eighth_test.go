package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The eighth draw measures the rules that were corrected after the seventh, with kinds of harm that no earlier call had and
// those whose rules were corrected. Its seed was committed after the rules, and before any of its calls was recorded.
var eighth = drawing{name: "eighth", seed: 0x8ea7_2026_1126, stream: 10, kinds: eighthKinds, controls: 15, harmed: 49}

// TestRecordEighth makes every call of the eighth draw of which there is no trace.
func TestRecordEighth(t *testing.T) { eighth.record(t) }

func TestEighthScenes(t *testing.T) { eighth.check(t) }

var eighthKinds = []drawnKind{
	{"nothing", 2, (*freshDraw).untouchedCall},
	{"DTX", 2, (*freshDraw).dtx},
	{"hinted slides", 2, (*freshDraw).hintedSlides},
	{"hang-up", 2, (*freshDraw).hangsUp},
	{"thumbnails", 1, (*freshDraw).thumbnails},
	{"listener", 1, (*freshDraw).listener},
	{"mutes in turns", 1, (*freshDraw).mutesInTurns},
	{"held and back", 2, (*freshDraw).heldAndBack},
	{"other camera", 2, (*freshDraw).otherCamera},

	{"radio stalls", 3, (*freshDraw).stalls},
	{"camera off in turns", 3, (*freshDraw).cameraInTurns},
	// Of the following kinds no call was recorded before this draw.
	{"loss that falls", 5, (*freshDraw).lossFalls},
	{"loss one way, and delay", 5, (*freshDraw).lossAndDelay},
	{"bursts and jitter", 5, (*freshDraw).burstsAndJitter},
	{"cap each way", 4, (*freshDraw).capEachWay},
	{"network gone in turns", 4, (*freshDraw).cutInTurns},
	{"all taken in turns", 4, (*freshDraw).allTakenInTurns},
	{"server stops in turns", 4, (*freshDraw).serverInTurns},
	{"camera ended and back", 4, (*freshDraw).cameraEndedAndBack},
	{"jitter one way, and delay", 4, (*freshDraw).jitterAndDelay},
	{"cap of sound with a long queue", 4, (*freshDraw).longQueue},
}

func (d *freshDraw) lossFalls() {
	topology := d.lightly()
	h := harm{loss: d.between(.35, .6), falls: 20 * time.Second}
	d.harmed(h, fmt.Sprintf("loss that falls from %.0f %%", 100*h.loss), topology, atUplink, atDownlink)
}

// bothAnd harms both directions of an access, and one of them more.
func (d *freshDraw) bothAnd(both, more harm, what, topology string) {
	who, at, do := d.who, atUplink, up(d.who, more)
	if d.chance(2) {
		at, do = atDownlink, down(d.who, more)
	}
	d.atAccess(both, what+" of "+fmt.Sprintf(at, who), topology, atAccess)
	d.scene.act = each(d.scene.act, do)
}

func (d *freshDraw) lossAndDelay() {
	topology := d.lightly()
	delay := harm{delay: d.betweenMs(200, 350)}
	more := harm{delay: delay.delay, loss: d.between(.08, .2)}
	d.bothAnd(delay, more, fmt.Sprintf("%v of delay each way, and %.0f %% loss", delay.delay, 100*more.loss), topology)
}

func (d *freshDraw) jitterAndDelay() {
	topology := d.lightly()
	delay := harm{delay: d.betweenMs(200, 350)}
	more := harm{delay: delay.delay, jitter: d.betweenMs(200, 400)}
	d.bothAnd(delay, more, fmt.Sprintf("%v of delay each way, and up to %v of jitter", delay.delay, more.jitter), topology)
}

func (d *freshDraw) burstsAndJitter() {
	topology := d.lightly()
	h := harm{burst: d.between(.1, .2), jitter: d.betweenMs(150, 300)}
	d.harmed(h, fmt.Sprintf("%.0f %% loss in bursts and up to %v of jitter", 100*h.burst, h.jitter), topology, atUplink, atDownlink)
}

func (d *freshDraw) capEachWay() {
	topology := d.gather(pairOf, meshOf3)
	d.prepared(forAll(high))
	h := harm{rateBps: d.between(80e3, 150e3)}
	d.harmed(h, fmt.Sprintf("a cap of %.0f kbit/s each way", h.rateBps/1000), topology, atAccess)
}

// cutInTurns: a network that is gone for some seconds, again and again.
func (d *freshDraw) cutInTurns() {
	topology := d.lightly()
	h := harm{cut: true, every: 11 * time.Second, lasts: d.betweenMs(6000, 7500)}
	users, also := []string{d.who}, []string{"senderUplink", "receiverDownlink"}
	if topology == pairOf {
		users, also = []string{d.who, d.other}, []string{"pathOrTurn"}
	}
	d.prepared(edges)
	d.labelled("iceConnectivity", fmt.Sprintf("%s's network is gone for %v of every 11 s", d.who, h.lasts), users...)
	d.scene.label.Also = also
	d.scene.act = both(d.who, h)
}

// takenInTurns is a script that takes tracks away from senders for a part of each period, which begins without.
func takenInTurns(senders string, off, period time.Duration) string {
	return fmt.Sprintf(`(() => {
		const all = %s.map((s) => [s, s.track])
		const turn = () => { all.forEach(([s]) => s.replaceTrack(null)); setTimeout(() => all.forEach(([s, track]) => s.replaceTrack(track)), %d) }
		turn(); setInterval(turn, %d)
	})()`, senders, off.Milliseconds(), period.Milliseconds())
}

const allSenders = "[...call.pcs.values()].flatMap((one) => one.pc.getSenders()).filter((s) => s.track)"

func (d *freshDraw) allTakenInTurns() {
	d.lightly()
	off := d.betweenMs(5000, 6000)
	d.labelled("application", fmt.Sprintf("%s's application takes all tracks away for %v of every 8 s and does not say so", d.who, off), d.who)
	d.scene.label.Also = []string{"sendingCapture"}
	d.scene.act = inPage(d.who, takenInTurns(allSenders, off, 8*time.Second))
}

func (d *freshDraw) serverInTurns() {
	d.gather(withServer)
	d.sound = !d.chance(4)
	off := d.betweenMs(5000, 6000)
	d.labelled("mediaServer", fmt.Sprintf("the server forwards nothing for %v of every 8 s", off))
	d.scene.act = func(c *causeCall) {
		c.server.page.Run("(call.stopped = true, " + takenInTurns(allSenders, off, 8*time.Second) + ")")
	}
}

func (d *freshDraw) cameraEndedAndBack() {
	d.gather(pairOf, pairOf, meshOf3)
	off := d.betweenMs(9000, 12000)
	d.labelled("sendingCapture", fmt.Sprintf("%s's camera ends, and another follows after %v", d.who, off), d.who)
	d.scene.act = inPage(d.who, fmt.Sprintf(`(() => {
		senders('video').forEach((s) => s.track.stop())
		setTimeout(async () => {
			const media = await navigator.mediaDevices.getUserMedia({ video: { width: 320, height: 240, frameRate: 15 } })
			senders('video').forEach((s) => s.replaceTrack(media.getVideoTracks()[0]))
		}, %d)
	})()`, off.Milliseconds()))
}

// longQueue: a link that is too narrow for sound, whose queue holds packets for more than a second.
func (d *freshDraw) longQueue() {
	topology := d.gather(pairOf, meshOf3)
	d.sound = true
	h := harm{rateBps: d.between(18e3, 30e3), queue: d.betweenMs(1000, 1600)}
	d.harmed(h, fmt.Sprintf("a cap of %.0f kbit/s with a queue of %v", h.rateBps/1000, h.queue), topology, atUplink, atDownlink)
}
