package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The eleventh draw measures the rules that were corrected after the tenth, with kinds of calls that no earlier draw had:
// other codecs, packets and clocks, and faults beside what participants do. Its seed was committed after the rules, and before
// any of its calls was recorded.
var eleventh = drawing{name: "eleventh", seed: 0x11e7_2026_1127, stream: 13, kinds: eleventhKinds, controls: 18, harmed: 46}

// TestRecordEleventh makes every call of the eleventh draw of which there is no trace.
func TestRecordEleventh(t *testing.T) { eleventh.record(t) }

func TestEleventhScenes(t *testing.T) { eleventh.check(t) }

var eleventhKinds = []drawnKind{
	{"nothing", 2, (*freshDraw).untouchedCall},
	{"DTX", 1, (*freshDraw).dtx},
	{"hinted slides", 1, (*freshDraw).hintedSlides},
	{"hang-up", 1, (*freshDraw).hangsUp},
	// Of the following kinds no call was recorded before this draw.
	{"other codec of pictures", 4, (*freshDraw).otherPictures},
	{"other codec of sound", 3, (*freshDraw).otherSound},
	{"long packets of sound", 2, (*freshDraw).longPackets},
	{"wrong clock", 2, (*freshDraw).wrongClock},
	{"ICE restarts", 2, (*freshDraw).restartsInTurns},

	{"harm of discontinuous sound", 4, (*freshDraw).harmOfDTX},
	{"harm of slides", 4, (*freshDraw).harmOfSlides},
	{"harm of other pictures", 5, (*freshDraw).harmOfOtherPictures},
	{"harm of other sound", 4, (*freshDraw).harmOfOtherSound},
	{"harm of long packets", 4, (*freshDraw).harmOfLongPackets},
	{"harm with a wrong clock", 4, (*freshDraw).harmWithWrongClock},
	{"packets with a wrong bit", 4, (*freshDraw).wrongBits},
	{"one access after the other", 3, (*freshDraw).oneAfterTheOther},
	{"harm of somebody muted", 4, (*freshDraw).harmOfMuted},
	{"loss of a camera added later", 3, (*freshDraw).lossOfCameraLater},
	{"loss beside a busy page", 4, (*freshDraw).lossBesideBusyPage},
	{"harm beside ICE restarts", 3, (*freshDraw).harmBesideRestarts},
}

// otherCodec draws a codec of pictures. Two processors encode AV1 for one call of two.
func (d *freshDraw) otherCodec(topology string) (codec string) {
	codec = pick(d, "VP9", "H264", "AV1")
	if topology != pairOf {
		codec = pick(d, "VP9", "H264")
	}
	d.prepared(forAll(func(m *member) { m.Media.VideoCodec = codec }))
	return codec
}

func (d *freshDraw) otherPictures() {
	codec := d.otherCodec(d.gather(pairOf, pairOf, meshOf3))
	d.labelled("none", "pictures are "+codec)
}

func (d *freshDraw) harmOfOtherPictures() {
	topology := d.gather(pairOf, pairOf, meshOf3)
	codec := d.otherCodec(topology)
	loss, jitter := harm{loss: d.between(.08, .25)}, harm{jitter: d.betweenMs(200, 400)}
	if d.chance(3) {
		d.harmed(jitter, fmt.Sprintf("up to %v of jitter, pictures are %s,", jitter.jitter, codec), topology, atUplink, atDownlink)
		return
	}
	d.harmed(loss, fmt.Sprintf("%.0f %% loss, pictures are %s,", 100*loss.loss, codec), topology, atUplink, atDownlink)
}

// soundCodec draws a codec of sound, or Opus with copies of each packet in the next.
func (d *freshDraw) soundCodec() (codec string) {
	codec = pick(d, "PCMU", "G722", "red")
	d.prepared(forAll(func(m *member) { m.Media.AudioCodec = codec }))
	return codec
}

func (d *freshDraw) otherSound() {
	d.gather(pairOf, meshOf3, meshOf4)
	d.maybeSound()
	d.labelled("none", "sound is "+d.soundCodec())
}

func (d *freshDraw) harmOfOtherSound() {
	topology := d.gather(pairOf, meshOf3, meshOf4)
	d.maybeSound()
	codec := d.soundCodec()
	loss, stalls := harm{loss: d.between(.1, .3)}, harm{stall: d.betweenMs(500, 800), period: d.betweenMs(2000, 3000)}
	if d.chance(2) {
		d.harmed(stalls, fmt.Sprintf("stalls of %v every %v, sound is %s,", stalls.stall, stalls.period, codec), topology, atUplink, atDownlink)
		return
	}
	d.harmed(loss, fmt.Sprintf("%.0f %% loss, sound is %s,", 100*loss.loss, codec), topology, atUplink, atDownlink)
}

func (d *freshDraw) sixtyMs() { d.prepared(forAll(func(m *member) { m.Media.PacketMs = 60 })) }

func (d *freshDraw) longPackets() {
	d.anywhere()
	d.maybeSound()
	d.sixtyMs()
	d.labelled("none", "packets of sound have 60 ms")
}

func (d *freshDraw) harmOfLongPackets() {
	topology := d.lightly()
	d.sixtyMs()
	loss, jitter := harm{loss: d.between(.1, .3)}, harm{jitter: d.betweenMs(200, 400)}
	if d.chance(2) {
		d.harmed(jitter, fmt.Sprintf("up to %v of jitter, packets of 60 ms,", jitter.jitter), topology, atUplink, atDownlink)
		return
	}
	d.harmed(loss, fmt.Sprintf("%.0f %% loss, packets of 60 ms,", 100*loss.loss), topology, atUplink, atDownlink)
}

// clock draws a participant and by how many seconds the clock of that machine is wrong.
func (d *freshDraw) clock() string {
	who, seconds := d.who, d.r.IntN(7200)-3600
	d.prepared(func(c *causeCall) { c.of(who).aheadMs = 1000 * seconds })
	return fmt.Sprintf("%s's clock is wrong by %d s", who, seconds)
}

func (d *freshDraw) wrongClock() {
	d.lightly()
	d.maybeFirefox()
	d.labelled("none", d.clock())
}

func (d *freshDraw) harmWithWrongClock() {
	topology := d.lightly()
	said := d.clock()
	h := harm{loss: 1, every: d.betweenMs(4500, 6500), lasts: d.betweenMs(1500, 2200)}
	what := fmt.Sprintf("no media for %v of every %v", h.lasts, h.every)
	if topology == withServer || d.chance(2) {
		h = harm{loss: d.between(.1, .3)}
		what = fmt.Sprintf("%.0f %% loss", 100*h.loss)
	}
	d.harmed(h, said+", "+what, topology, atUplink, atDownlink)
}

// restarts is a script that begins the connections anew, again and again, as some applications do whenever anything changes.
func restarts(user string) func(*causeCall) { return inPage(user, "setInterval(restartICE, 6000)") }

func (d *freshDraw) restartsInTurns() {
	d.gather(pairOf, meshOf3)
	d.maybeSound()
	d.maybeFirefox()
	d.labelled("none", d.who+"'s application restarts ICE every 6 s")
	d.scene.act = restarts(d.who)
}

func (d *freshDraw) harmBesideRestarts() {
	topology := d.gather(pairOf, meshOf3)
	d.maybeSound()
	h, who := harm{loss: d.between(.1, .3)}, d.who
	d.harmed(h, fmt.Sprintf("%s's application restarts ICE every 6 s, and %.0f %% loss", who, 100*h.loss), topology, atUplink, atDownlink)
	d.scene.act = each(d.scene.act, restarts(who))
}

func (d *freshDraw) harmOfDTX() {
	topology := d.lightly()
	d.prepared(forAll(func(m *member) { m.Media.DTX = true }))
	h := harm{loss: d.between(.12, .3)}
	d.harmed(h, fmt.Sprintf("discontinuous transmission, and %.0f %% loss", 100*h.loss), topology, atUplink, atDownlink)
}

// harmOfSlides: who shows slides loses packets, or the others' packets are late.
func (d *freshDraw) harmOfSlides() {
	topology := d.gather(pairOf, pairOf, meshOf3)
	who, height := d.who, pick(d, 720, 1080)
	h := harm{loss: d.between(.1, .25)}
	d.harmed(h, fmt.Sprintf("%s shows slides of %dp and said so, and %.0f %% loss", who, height, 100*h.loss), topology, atUplink, atDownlink)
	d.prepared(func(c *causeCall) { c.of(who).Media.Video, c.of(who).Media.Height = "slides", height })
	d.scene.act = each(d.scene.act, inPage(who, "event('screenShareStart')"))
}

// wrongBits: a machine or a cable on the way changes packets, which browsers drop because they are not authentic.
func (d *freshDraw) wrongBits() {
	topology := d.lightly()
	d.maybeFirefox()
	h := harm{corrupt: d.between(.1, .3)}
	d.harmed(h, fmt.Sprintf("a wrong bit in %.0f %% of the packets", 100*h.corrupt), topology, atUplink, atDownlink)
}

// oneAfterTheOther: one participant sends with loss, and later another receives with it. Either is right.
func (d *freshDraw) oneAfterTheOther() {
	d.gather(meshOf3, meshOf3, meshOf4)
	d.maybeSound()
	first, then := harm{loss: d.between(.15, .3), ends: 10 * time.Second}, harm{loss: d.between(.15, .3)}
	who, other := d.who, d.other
	did := fmt.Sprintf("%.0f %% loss of what %s sends, and then %.0f %% of what %s gets", 100*first.loss, who, 100*then.loss, other)
	d.labelled("senderUplink", did, who, other)
	d.scene.label.Also = []string{"receiverDownlink"}
	d.prepared(edges)
	d.scene.act = func(c *causeCall) {
		up(who, first)(c)
		c.lasts(first.ends)
		down(other, then)(c)
	}
	d.scene.lasts = length{time.Second, 10 * time.Second}
}

// harmOfMuted: who is muted, and said so, hears the others badly.
func (d *freshDraw) harmOfMuted() {
	topology := d.lightly()
	who, h := d.who, harm{loss: d.between(.12, .3)}
	d.harmed(h, fmt.Sprintf("%s is muted and said so, and %.0f %% loss", who, 100*h.loss), topology, atDownlink)
	d.scene.act = each(d.scene.act, inPage(who, "(senders('audio').forEach((s) => { s.track.enabled = false }), event('audioMute'))"))
}

// lossOfCameraLater: a call of sound to which one participant adds a picture, with loss from then on.
func (d *freshDraw) lossOfCameraLater() {
	d.cameraLater()
	who, h, shows := d.who, harm{loss: d.between(.12, .3)}, d.scene.act
	did := fmt.Sprintf("%s begins with sound alone and shows a picture later, with %.0f %% loss of what %s sends", who, 100*h.loss, who)
	d.prepared(edges)
	if len(d.scene.users) == 2 {
		d.labelled("pathOrTurn", did, who, d.other)
	} else {
		d.labelled("senderUplink", did, who)
	}
	d.scene.kinds = []string{"audio"}
	d.scene.act = each(up(who, h), shows)
}

// lossBesideBusyPage: a page whose scripts take a third of the time, and measure late, and a bad network at another's.
func (d *freshDraw) lossBesideBusyPage() {
	topology := d.lightly()
	h, busy, other := harm{loss: d.between(.12, .3)}, d.betweenMs(250, 400), d.other
	d.harmed(h, fmt.Sprintf("scripts of %s's page run for %v of every second, and %.0f %% loss", other, busy, 100*h.loss), topology, atUplink, atDownlink)
	d.scene.act = each(d.scene.act, busyFor(other, busy))
}
