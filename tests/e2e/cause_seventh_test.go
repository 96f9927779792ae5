package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The seventh draw measures the rules that were corrected after the sixth, with kinds of harm that no earlier call had and
// those whose rules were corrected. Its seed was committed after the rules, and before any of its calls was recorded.
var seventh = drawing{name: "seventh", seed: 0x7e57_2026_1126, stream: 9, kinds: seventhKinds, controls: 15, harmed: 51}

// TestRecordSeventh makes every call of the seventh draw of which there is no trace.
func TestRecordSeventh(t *testing.T) { seventh.record(t) }

func TestSeventhScenes(t *testing.T) { seventh.check(t) }

var seventhKinds = []drawnKind{
	{"nothing", 2, (*freshDraw).untouchedCall},
	{"DTX", 1, (*freshDraw).dtx},
	{"hinted slides", 3, (*freshDraw).hintedSlides},
	{"hang-up", 2, (*freshDraw).hangsUp},
	{"thumbnails", 1, (*freshDraw).thumbnails},
	{"mutes in turns", 2, (*freshDraw).mutesInTurns},
	{"held and back", 2, (*freshDraw).heldAndBack},
	{"other camera", 2, (*freshDraw).otherCamera},

	{"radio stalls", 4, (*freshDraw).stalls},
	{"cap of sound", 3, (*freshDraw).narrowSound},
	// Of the following kinds no call was recorded before this draw.
	{"delay that grows", 4, (*freshDraw).delayGrows},
	{"jitter that grows", 4, (*freshDraw).jitterGrows},
	{"cap that shrinks", 4, (*freshDraw).capShrinks},
	{"nothing passes one way", 4, (*freshDraw).cutOneWay},
	{"jitter and cap", 4, (*freshDraw).jitterAndCap},
	{"bursts and delay", 4, (*freshDraw).burstsAndDelay},
	{"loss one way, jitter the other", 4, (*freshDraw).lossAndJitterBack},
	{"small packets lost", 4, (*freshDraw).smallLost},
	{"stalls and cap", 4, (*freshDraw).stallsAndCap},
	{"camera off in turns", 4, (*freshDraw).cameraInTurns},
	{"microphone taken in turns", 4, (*freshDraw).microphoneTakenInTurns},
}

// lightly draws any topology. Most calls through a media server have sound only: the recorder refuses calls for which the
// machine has too little time.
func (d *freshDraw) lightly() string {
	topology := d.anywhere()
	if topology == withServer {
		d.sound = !d.chance(3)
		return topology
	}
	d.maybeSound()
	return topology
}

// inTurns is a script that turns something off for a part of each period, which begins off.
func inTurns(user, turn string, off, period int) func(*causeCall) {
	return inPage(user, fmt.Sprintf(`(() => {
		const turn = %s
		const once = () => { turn(false); setTimeout(turn, %d, true) }
		once(); setInterval(once, %d)
	})()`, turn, off, period))
}

func (d *freshDraw) mutesInTurns() {
	d.lightly()
	off := pick(d, 2500, 4000)
	d.labelled("none", fmt.Sprintf("%s mutes the microphone for %d ms of every 7 s and says so", d.who, off))
	d.scene.act = inTurns(d.who, `(on) => {
		senders('audio').forEach((s) => { s.track.enabled = on })
		event(on ? 'audioUnmute' : 'audioMute')
	}`, off, 7000)
}

func (d *freshDraw) heldAndBack() {
	d.lightly()
	off := d.betweenMs(5000, 9000)
	d.labelled("none", fmt.Sprintf("%s holds the call for %v and says so", d.who, off))
	d.scene.act = inPage(d.who, fmt.Sprintf(`(() => {
		const all = [...call.pcs.values()].flatMap((one) => one.pc.getSenders()).map((s) => [s, s.track])
		event('fabricHold')
		all.forEach(([s]) => s.replaceTrack(null))
		setTimeout(() => { event('fabricResume'); all.forEach(([s, track]) => s.replaceTrack(track)) }, %d)
	})()`, off.Milliseconds()))
}

func (d *freshDraw) otherCamera() {
	d.places()
	d.labelled("none", d.who+" takes another camera")
	d.scene.act = inPage(d.who, `navigator.mediaDevices.getUserMedia({ video: { width: 320, height: 240, frameRate: 15 } }).then((media) => {
		senders('video').forEach((s) => s.replaceTrack(media.getVideoTracks()[0]))
	})`)
}

// A delay has no direction that can be measured, so both directions of an access have it.
func (d *freshDraw) delayGrows() {
	topology := d.lightly()
	h := harm{delay: d.betweenMs(300, 600), grows: 10 * time.Second}
	d.harmed(h, fmt.Sprintf("delay that grows to %v each way", h.delay), topology, atAccess)
}

func (d *freshDraw) jitterGrows() {
	topology := d.lightly()
	h := harm{jitter: d.betweenMs(250, 500), grows: 10 * time.Second}
	d.harmed(h, fmt.Sprintf("jitter that grows to %v", h.jitter), topology, atUplink, atDownlink)
}

func (d *freshDraw) capShrinks() {
	topology := d.gather(pairOf, meshOf3)
	d.prepared(forAll(high))
	h := harm{rateBps: d.between(60e3, 120e3), grows: 10 * time.Second}
	d.harmed(h, fmt.Sprintf("a cap that shrinks to %.0f kbit/s", h.rateBps/1000), topology, atUplink, atDownlink)
}

// cutOneWay: neither media nor the checks of ICE pass in one direction.
func (d *freshDraw) cutOneWay() {
	topology := d.lightly()
	at, do, also := atUplink, up(d.who, harm{cut: true}), "senderUplink"
	if d.chance(2) {
		at, do, also = atDownlink, down(d.who, harm{cut: true}), "receiverDownlink"
	}
	d.prepared(edges)
	users := []string{d.who}
	if topology == pairOf {
		users, also = []string{d.who, d.other}, "pathOrTurn"
	}
	d.labelled("iceConnectivity", "nothing passes of "+fmt.Sprintf(at, d.who), users...)
	d.scene.label.Also = []string{also}
	d.scene.act = do
}

func (d *freshDraw) jitterAndCap() {
	topology := d.gather(pairOf, meshOf3)
	h := harm{jitter: d.betweenMs(150, 300), rateBps: d.between(80e3, 160e3)}
	d.harmed(h, fmt.Sprintf("up to %v of jitter and a cap of %.0f kbit/s", h.jitter, h.rateBps/1000), topology, atUplink, atDownlink)
}

func (d *freshDraw) burstsAndDelay() {
	topology := d.lightly()
	h := harm{burst: d.between(.1, .2), delay: d.betweenMs(150, 350)}
	d.harmed(h, fmt.Sprintf("%.0f %% loss in bursts and %v of delay each way", 100*h.burst, h.delay), topology, atAccess)
}

func (d *freshDraw) lossAndJitterBack() {
	topology := d.lightly()
	loss, jitter := harm{loss: d.between(.08, .2)}, harm{jitter: d.betweenMs(200, 400)}
	who := d.who
	d.atAccess(harm{}, fmt.Sprintf("%.0f %% loss of what %s sends and up to %v of jitter of what %s gets", 100*loss.loss, who, jitter.jitter, who), topology, atAccess)
	d.scene.act = each(up(who, loss), down(who, jitter))
}

// smallLost: a path that loses sound and passes pictures, as with priorities set the wrong way round.
func (d *freshDraw) smallLost() {
	topology := d.lightly()
	h := harm{loss: d.between(.2, .4), upTo: 250}
	d.harmed(h, fmt.Sprintf("%.0f %% of the packets of at most %d bytes are lost", 100*h.loss, h.upTo), topology, atUplink, atDownlink)
}

func (d *freshDraw) stallsAndCap() {
	topology := d.gather(pairOf, meshOf3)
	h := harm{stall: d.betweenMs(300, 600), period: d.betweenMs(1500, 2600), rateBps: d.between(80e3, 160e3)}
	d.harmed(h, fmt.Sprintf("stalls of %v every %v and a cap of %.0f kbit/s", h.stall, h.period, h.rateBps/1000), topology, atUplink, atDownlink)
}

func (d *freshDraw) cameraInTurns() {
	d.places()
	off := pick(d, 3500, 4500)
	d.labelled("sendingCapture", fmt.Sprintf("%s's camera is off for %d ms of every 7 s and nobody says so", d.who, off), d.who)
	d.scene.act = inTurns(d.who, "(on) => senders('video').forEach((s) => { s.track.enabled = on })", off, 7000)
}

func (d *freshDraw) microphoneTakenInTurns() {
	d.lightly()
	off := pick(d, 3000, 4500)
	d.labelled("sendingCapture", fmt.Sprintf("%s's application takes the microphone's track away for %d ms of every 7 s and does not say so", d.who, off), d.who)
	d.scene.label.Also = []string{"application"}
	d.scene.act = inPage(d.who, takenInTurns("senders('audio')", time.Duration(off)*ms, 7*time.Second))
}
