package e2e

import (
	"fmt"
	"testing"
	"time"
)

// The tenth draw measures the rules that were corrected after the ninth, with kinds of calls that no earlier draw had. Its
// seed was committed after the rules, and before any of its calls was recorded.
var tenth = drawing{name: "tenth", seed: 0x7e47_2026_1126, stream: 12, kinds: tenthKinds, controls: 18, harmed: 43}

// TestRecordTenth makes every call of the tenth draw of which there is no trace.
func TestRecordTenth(t *testing.T) { tenth.record(t) }

func TestTenthScenes(t *testing.T) { tenth.check(t) }

var tenthKinds = []drawnKind{
	{"nothing", 2, (*freshDraw).untouchedCall},
	{"DTX", 1, (*freshDraw).dtx},
	{"hinted slides", 1, (*freshDraw).hintedSlides},
	{"hang-up", 2, (*freshDraw).hangsUp},
	// Of the following kinds no call was recorded before this draw.
	{"little bitrate by the application", 4, (*freshDraw).applicationLimits},
	{"busy page", 2, (*freshDraw).busyPage},
	{"packets twice", 2, (*freshDraw).packetsTwice},
	{"camera added later", 2, (*freshDraw).cameraLater},
	{"few pictures by the application", 2, (*freshDraw).fewPictures},

	{"packets out of order", 4, (*freshDraw).outOfOrder},
	{"short outages", 5, (*freshDraw).shortOutages},
	{"long stalls", 4, (*freshDraw).longStalls},
	{"loss that begins late", 4, (*freshDraw).beginsLate},
	{"loss that ends early", 3, (*freshDraw).endsEarly},
	{"two accesses", 4, (*freshDraw).twoAccesses},
	{"cap of pictures with a long queue", 4, (*freshDraw).longQueueOfPictures},
	{"loss, and the participant leaves", 3, (*freshDraw).leavesAfterLoss},
	{"all devices end", 3, (*freshDraw).allDevicesEnd},
	{"loss at a participant without the library", 3, (*freshDraw).lossOfUnmeasured},
	{"little loss", 3, (*freshDraw).littleMore},
	{"TURN server ends", 3, (*freshDraw).turnEnds},
}

// applicationLimits: many applications give their encoders less than the network has.
func (d *freshDraw) applicationLimits() {
	d.places()
	d.maybeFirefox()
	who, rate := d.who, d.between(120e3, 280e3)
	d.labelled("none", fmt.Sprintf("%s's application gives the encoder at most %.0f kbit/s", who, rate/1000))
	d.scene.act = inPage(who, fmt.Sprintf(`senders('video').forEach((s) => {
		const parameters = s.getParameters()
		parameters.encodings.forEach((one) => { one.maxBitrate = %.0f })
		s.setParameters(parameters)
	})`, rate))
}

// fewPictures: an application that halves the picture and sends ten a second, as for a gallery.
func (d *freshDraw) fewPictures() {
	d.places()
	who := d.who
	d.labelled("none", who+"'s application halves the picture and sends ten a second")
	d.scene.act = inPage(who, `senders('video').forEach((s) => {
		const parameters = s.getParameters()
		parameters.encodings.forEach((one) => { Object.assign(one, { maxFramerate: 10, scaleResolutionDownBy: 2 }) })
		s.setParameters(parameters)
	})`)
}

// busyPage: a page whose scripts take a quarter of the time.
func (d *freshDraw) busyPage() {
	d.lightly()
	busy := d.betweenMs(150, 300)
	d.labelled("none", fmt.Sprintf("scripts of %s's page run for %v of every second", d.who, busy))
	d.scene.act = busyFor(d.who, busy)
}

// busyFor is a script that runs for so long in every second.
func busyFor(user string, busy time.Duration) func(*causeCall) {
	return inPage(user, fmt.Sprintf("setInterval(() => { for (const end = performance.now() + %d; performance.now() < end;); }, 1000)", busy.Milliseconds()))
}

func (d *freshDraw) packetsTwice() {
	d.lightly()
	h := harm{twice: d.between(.1, .3)}
	d.labelled("none", fmt.Sprintf("%.0f %% of %s's packets arrive twice, each way", 100*h.twice, d.who))
	d.prepared(edges)
	d.scene.act = both(d.who, h)
}

// cameraLater: a call of sound to which one participant adds a picture.
func (d *freshDraw) cameraLater() {
	d.gather(pairOf, meshOf3)
	who := d.who
	d.labelled("none", who+" begins with sound alone and shows a picture later")
	d.prepared(func(c *causeCall) { c.of(who).Media = source{Audio: "microphone"} })
	d.scene.kinds = []string{"audio"}
	d.scene.act = inPage(who, `(async () => {
		const media = await navigator.mediaDevices.getUserMedia({ video: { width: 320, height: 240, frameRate: 15 } })
		for (const one of call.pcs.values()) {
			const place = one.pc.getTransceivers().find((t) => t.receiver.track.kind === 'video')
			place.direction = 'sendrecv'
			await place.sender.replaceTrack(media.getVideoTracks()[0])
			await one.pc.setLocalDescription()
			tell(one.user, { sdp: one.pc.localDescription })
		}
	})()`)
}

// outOfOrder: packets take several paths, one of which is longer.
func (d *freshDraw) outOfOrder() {
	topology := d.lightly()
	h := harm{swapped: d.between(.15, .35), behind: d.betweenMs(120, 250)}
	d.harmed(h, fmt.Sprintf("%.0f %% of the packets arrive %v after their turn", 100*h.swapped, h.behind), topology, atUplink, atDownlink)
}

// shortOutages: nothing passes for a second or two, again and again, as between two radio cells. The server of these calls is
// a browser, which counts no loss over such a gap and encodes again.
func (d *freshDraw) shortOutages() {
	topology := d.gather(pairOf, pairOf, meshOf3, meshOf3, meshOf4)
	d.maybeSound()
	d.maybeFirefox()
	h := harm{loss: 1, every: d.betweenMs(4500, 6500), lasts: d.betweenMs(1100, 1900)}
	d.harmed(h, fmt.Sprintf("no media for %v of every %v", h.lasts, h.every), topology, atUplink, atDownlink)
}

func (d *freshDraw) longStalls() {
	topology := d.lightly()
	h := harm{stall: d.betweenMs(1200, 2000), period: d.betweenMs(5500, 7500)}
	d.harmed(h, fmt.Sprintf("stalls of %v every %v", h.stall, h.period), topology, atUplink, atDownlink)
}

// beginsLate: the network is well for most of the call.
func (d *freshDraw) beginsLate() {
	topology := d.lightly()
	h, well := harm{loss: d.between(.1, .3)}, d.betweenMs(11000, 14000)
	d.harmed(h, fmt.Sprintf("%.0f %% loss after %v", 100*h.loss, well), topology, atUplink, atDownlink)
	harms := d.scene.act
	d.scene.act = func(c *causeCall) { c.lasts(well); harms(c) }
	d.scene.lasts = length{2 * time.Second, 9 * time.Second}
}

func (d *freshDraw) endsEarly() {
	topology := d.lightly()
	h, lasts := harm{loss: d.between(.1, .3)}, d.betweenMs(9000, 11000)
	h.ends = lasts
	d.harmed(h, fmt.Sprintf("%.0f %% loss for the first %v", 100*h.loss, lasts), topology, atUplink, atDownlink)
	harms := d.scene.act
	d.scene.act = func(c *causeCall) { harms(c); c.lasts(lasts) }
	d.scene.lasts = length{time.Second, 11 * time.Second}
}

// twoAccesses: one participant sends with loss, and another receives with jitter. Either is right.
func (d *freshDraw) twoAccesses() {
	d.gather(meshOf3, meshOf3, meshOf4)
	d.maybeSound()
	loss, jitter := harm{loss: d.between(.08, .2)}, harm{jitter: d.betweenMs(200, 400)}
	did := fmt.Sprintf("%.0f %% loss of what %s sends, and up to %v of jitter of what %s gets", 100*loss.loss, d.who, jitter.jitter, d.other)
	d.labelled("senderUplink", did, d.who, d.other)
	d.scene.label.Also = []string{"receiverDownlink"}
	d.prepared(edges)
	d.scene.act = each(up(d.who, loss), down(d.other, jitter))
}

// longQueueOfPictures: a home router that keeps seconds of packets.
func (d *freshDraw) longQueueOfPictures() {
	topology := d.gather(pairOf, meshOf3)
	d.prepared(forAll(high))
	h := harm{rateBps: d.between(100e3, 220e3), queue: d.betweenMs(1200, 2200)}
	d.harmed(h, fmt.Sprintf("a cap of %.0f kbit/s with a queue of %v", h.rateBps/1000, h.queue), topology, atUplink, atDownlink)
	d.eitherWay()
}

// leavesAfterLoss: the participant gives up, the others stay.
func (d *freshDraw) leavesAfterLoss() {
	topology := d.gather(meshOf3, meshOf3, meshOf4)
	d.maybeSound()
	h, stays := harm{loss: d.between(.15, .35)}, d.betweenMs(12000, 15000)
	who := d.who
	d.atAccess(h, fmt.Sprintf("%.0f %% loss of all of %s, each way, who leaves after %v", 100*h.loss, who, stays), topology, atAccess)
	harms := d.scene.act
	d.scene.act = func(c *causeCall) { harms(c); c.lasts(stays); c.hangUp(c.of(who)) }
	d.scene.lasts = length{2 * time.Second, 8 * time.Second}
}

// allDevicesEnd: camera and microphone are one device, which is unplugged.
func (d *freshDraw) allDevicesEnd() {
	d.places()
	d.maybeFirefox()
	d.labelled("sendingCapture", d.who+"'s camera and microphone end in the call", d.who)
	d.scene.label.Also = []string{"application"}
	d.scene.act = inPage(d.who, "[...senders('audio'), ...senders('video')].forEach((s) => s.track.stop())")
}

// lossOfUnmeasured: the other participant has a page without the library.
func (d *freshDraw) lossOfUnmeasured() {
	topology := d.gather(pairOf)
	d.maybeSound()
	h, other := harm{loss: d.between(.1, .3)}, d.other
	d.atAccess(h, fmt.Sprintf("%.0f %% loss of all of %s, each way; %s has no library", 100*h.loss, d.who, other), topology, atAccess)
	d.prepared(func(c *causeCall) { c.of(other).Quiet = true })
	d.scene.gone = 1
}

// littleMore: a little more than what nobody hears.
func (d *freshDraw) littleMore() {
	topology := d.lightly()
	h := harm{loss: d.between(.045, .07)}
	d.harmed(h, fmt.Sprintf("%.1f %% loss", 100*h.loss), topology, atUplink, atDownlink)
}

// turnEnds: the TURN server through which one participant is connected stops.
func (d *freshDraw) turnEnds() {
	topology := d.lightly()
	users := d.disconnected(topology)
	who := d.who
	d.labelled("iceConnectivity", who+"'s TURN server ends in the call", users...)
	d.prepared(edges)
	d.scene.act = func(c *causeCall) { c.of(who).edge.stop() }
}
