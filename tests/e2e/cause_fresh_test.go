package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
)

// freshDraws are the calls that the rules of internal/cause are measured with. Each seed was
// committed before any of its calls was recorded, and after the rules had been frozen.
var freshDraws = []freshSet{
	{name: "fresh", seed: 0x51ab_2026_1122, calls: 42, n: func(k freshKind) int { return k.first }},
	{name: "second", seed: 0x2d0f_2026_1122, calls: 28, n: func(k freshKind) int { return k.second }},
	{name: "third", seed: 0x3c91_2026_1122, calls: 33, n: func(k freshKind) int { return k.third }},
}

// freshSet is one draw: the name is that of its directory too.
type freshSet struct {
	name  string
	seed  uint64
	calls int
	n     func(freshKind) int // of each kind
}

var (
	recordFresh  = flag.String("record-fresh", "", "the directory to record the traces of the first drawn calls in (package tests/cause)")
	recordSecond = flag.String("record-second", "", "likewise, of the second")
	recordThird  = flag.String("record-third", "", "likewise, of the third")
)

// TestRecordFresh makes every drawn call of which there is no trace, and writes what the
// receiver emitted of it, as TestRecordCauses does with those that were chosen.
func TestRecordFresh(t *testing.T) {
	for i, dir := range []string{*recordFresh, *recordSecond, *recordThird} {
		t.Run(freshDraws[i].name, func(t *testing.T) {
			if dir == "" {
				t.Skip("no directory to record it in")
			}
			recordAll(t, freshDraws[i].scenes(), dir)
		})
	}
}

// TestFreshScenes: a draw is the same each time, of the size that was meant, and each call
// has a name and a label of its own.
func TestFreshScenes(t *testing.T) {
	names := map[string]bool{}
	for _, set := range freshDraws {
		scenes, again := set.scenes(), set.scenes()
		require.Len(t, scenes, set.calls)
		causes := map[string]int{}
		for i, s := range scenes {
			require.Equal(t, s.label, again[i].label)
			require.Equal(t, s.users, again[i].users)
			require.NotEmpty(t, s.label.Did)
			require.False(t, names[s.name])
			names[s.name] = true
			causes[s.label.Cause]++
			t.Logf("%s %v %s server=%v %v: %s", s.name, s.users, s.browser, s.server, s.label.Cause, s.label.Did)
			for _, user := range s.label.Users {
				require.Contains(t, s.users, user)
			}
		}
		set.seed++
		require.NotEqual(t, labelsOf(scenes), labelsOf(set.scenes()))
		t.Log(causes)
	}
}

func labelsOf(scenes []causeScene) (labels []cause.Label) {
	for _, s := range scenes {
		labels = append(labels, s.label)
	}
	return labels
}

// freshKind is a kind of fault, and how many calls of it each draw has.
type freshKind struct {
	first, second, third int
	draw                 func(*freshDraw)
}

// freshKinds says how many of each kind of fault are drawn; the rest is left to the draw. The
// second draw has two thirds of the first, rounded down, and one more of the first three kinds
// that were rounded. The third is as large as what can be recorded while nothing else is on the
// machine, and starves browsers indeed: in those before, the pages went on with all the
// processors there are (see leave).
var freshKinds = []freshKind{
	{5, 4, 4, (*freshDraw).loss},
	{3, 2, 2, (*freshDraw).delay},
	{3, 2, 2, (*freshDraw).jitter},
	{3, 2, 2, (*freshDraw).narrow},
	{3, 2, 2, (*freshDraw).cut},
	{2, 2, 0, (*freshDraw).busySender},
	{2, 2, 0, (*freshDraw).busyReceiver},
	{0, 0, 2, (*freshDraw).starvedSender},
	{0, 0, 2, (*freshDraw).starvedReceiver},
	{5, 3, 4, (*freshDraw).capture},
	{2, 1, 2, (*freshDraw).missing},
	{2, 1, 1, (*freshDraw).permission},
	{2, 1, 2, (*freshDraw).signalling},
	{2, 1, 1, (*freshDraw).noWay},
	{6, 4, 5, (*freshDraw).nothing},
	{2, 1, 2, (*freshDraw).server},
}

// scenes draws the calls, in the order in which they are made.
func (set freshSet) scenes() []causeScene {
	r := rand.New(rand.NewPCG(set.seed, 6))
	var draws []func(*freshDraw)
	for _, kind := range freshKinds {
		for range set.n(kind) {
			draws = append(draws, kind.draw)
		}
	}
	r.Shuffle(len(draws), func(i, j int) { draws[i], draws[j] = draws[j], draws[i] })
	scenes := make([]causeScene, 0, len(draws))
	for i, draw := range draws {
		d := &freshDraw{r: r}
		d.scene.name = fmt.Sprintf("%s-%02d", set.name, i+1)
		draw(d)
		scenes = append(scenes, d.scene)
	}
	return scenes
}

// freshDraw is one call that is being drawn.
type freshDraw struct {
	r          *rand.Rand
	scene      causeScene
	who, other string
	sound      bool // sound only
}

// chance draws true with a probability of one in n.
func (d *freshDraw) chance(n int) bool { return d.r.IntN(n) == 0 }

// between draws a number of a range, evenly.
func (d *freshDraw) between(low, high float64) float64 { return low + d.r.Float64()*(high-low) }

// betweenMs draws a time of a range of milliseconds.
func (d *freshDraw) betweenMs(low, high int) time.Duration {
	return time.Duration(low+d.r.IntN(high-low+1)) * ms
}

func pick[T any](d *freshDraw, list ...T) T { return list[d.r.IntN(len(list))] }

// The topologies. Four people have sound only: two processors do not encode twelve pictures.
const (
	pairOf     = "pair"
	meshOf3    = "mesh of 3"
	meshOf4    = "mesh of 4"
	withServer = "server"
)

// gather draws who is in the call.
func (d *freshDraw) gather(topologies ...string) (topology string) {
	topology = pick(d, topologies...)
	d.scene.users = three
	switch topology {
	case pairOf:
		d.scene.users = two
	case meshOf4:
		d.scene.users, d.sound = []string{"ada", "ben", "cyd", "dan"}, true
	case withServer:
		d.scene.server = true
	}
	order := d.r.Perm(len(d.scene.users))
	d.who, d.other = d.scene.users[order[0]], d.scene.users[order[1]]
	return topology
}

// anywhere draws one of all topologies; pairs are what most calls are.
func (d *freshDraw) anywhere() string {
	return d.gather(pairOf, pairOf, pairOf, meshOf3, meshOf3, meshOf3, meshOf4, withServer, withServer, withServer)
}

// maybeSound leaves one call in four without pictures.
func (d *freshDraw) maybeSound() { d.sound = d.chance(4) || d.sound }

// maybeFirefox makes one call of two in four with Firefox.
func (d *freshDraw) maybeFirefox() {
	if d.chance(4) && len(d.scene.users) == 2 {
		d.scene.browser = browser.Firefox
	}
}

// labelled says what is done, and what the media are.
func (d *freshDraw) labelled(cause, did string, users ...string) {
	if d.scene.browser == browser.Firefox {
		did += ", in Firefox"
	}
	if d.sound {
		did += ", sound only"
		d.scene.kinds = []string{"audio"}
		d.prepared(forAll(sound))
	}
	d.scene.label = label(cause, fmt.Sprintf("%s (%d people)", did, len(d.scene.users)), users...)
	if d.scene.server {
		d.scene.label.Did += ", a media server"
	}
}

// prepared adds to what is done before all join.
func (d *freshDraw) prepared(do func(*causeCall)) {
	if before := d.scene.prepare; before != nil {
		do = each(before, do)
	}
	d.scene.prepare = do
}

// The places of a network that can be harmed.
const (
	atUplink   = "what %s sends"
	atDownlink = "what %s gets"
	atAccess   = "all of %s, each way"
	atPath     = "between %s and %s alone"
	atServer   = "everybody's way to and from the server"
)

// harmed draws where, and says what must be found: which way the media go, or whose access it is.
func (d *freshDraw) harmed(h harm, what, topology string, places ...string) {
	if topology == meshOf3 || topology == meshOf4 {
		places = append(slices.Clone(places), atPath)
	}
	if topology == withServer && h.rateBps == 0 {
		places = append(slices.Clone(places), atServer)
	}
	at := pick(d, places...)
	switch at {
	case atServer:
		d.labelled("mediaServer", what+" on "+at)
		d.prepared(edges)
		d.scene.act = everywhere(h)
	case atPath:
		d.labelled("pathOrTurn", what+" "+fmt.Sprintf(at, d.who, d.other), d.who, d.other)
		var own *edge
		d.prepared(func(c *causeCall) { own = startEdge(c.t, 9); pairLater(c, d.who, d.other, own) })
		d.scene.act = func(*causeCall) { own.up.set(h); own.down.set(h) }
	default:
		d.atAccess(h, what+" of "+fmt.Sprintf(at, d.who), topology, at)
	}
}

// disconnected are those whom a connection that fails at one participant concerns: in a call of two it may be either.
func (d *freshDraw) disconnected(topology string) []string {
	if topology == pairOf {
		return []string{d.who, d.other}
	}
	return []string{d.who}
}

// eitherWay: a delay of an access has no direction that anybody sees.
func (d *freshDraw) eitherWay() {
	if d.scene.label.Cause == "senderUplink" || d.scene.label.Cause == "receiverDownlink" {
		d.scene.label.Also = []string{"senderUplink", "receiverDownlink"}
	}
}

// atAccess harms one participant's access. In a call of two nobody can tell whose it is.
func (d *freshDraw) atAccess(h harm, what, topology, at string) {
	d.prepared(edges)
	found, also := "senderUplink", []string(nil)
	d.scene.act = up(d.who, h)
	switch at {
	case atDownlink:
		found, d.scene.act = "receiverDownlink", down(d.who, h)
	case atAccess:
		also, d.scene.act = []string{"receiverDownlink"}, both(d.who, h)
	}
	if topology == pairOf {
		d.labelled("pathOrTurn", what, d.who, d.other)
		return
	}
	d.labelled(found, what, d.who)
	d.scene.label.Also = also
}

func (d *freshDraw) loss() {
	topology := d.anywhere()
	d.maybeSound()
	d.maybeFirefox()
	loss := d.between(.06, .30)
	d.harmed(harm{loss: loss}, fmt.Sprintf("%.0f %% loss", 100*loss), topology, atUplink, atUplink, atDownlink, atDownlink, atAccess)
}

// A delay has no direction that anybody sees: it is put on both.
func (d *freshDraw) delay() {
	topology := d.anywhere()
	d.maybeSound()
	d.maybeFirefox()
	delay := d.betweenMs(200, 450)
	d.harmed(harm{delay: delay}, fmt.Sprintf("%v of delay each way", delay), topology, atAccess)
}

func (d *freshDraw) jitter() {
	topology := d.anywhere()
	d.maybeSound()
	jitter := d.betweenMs(200, 400)
	d.harmed(harm{jitter: jitter}, fmt.Sprintf("up to %v of jitter", jitter), topology, atUplink, atDownlink)
}

// A cap is for pictures, which nearly nothing is left of.
func (d *freshDraw) narrow() {
	topology := d.gather(pairOf, pairOf, meshOf3, withServer)
	if topology == pairOf {
		d.prepared(forAll(high))
	}
	rate := d.between(80e3, 180e3)
	d.harmed(harm{rateBps: rate}, fmt.Sprintf("a cap of %.0f kbit/s", rate/1000), topology, atUplink, atDownlink)
}

func (d *freshDraw) cut() {
	topology := d.anywhere()
	d.maybeSound()
	d.prepared(edges)
	users := d.disconnected(topology)
	d.labelled("iceConnectivity", d.who+"'s network is gone", users...)
	d.scene.act = both(d.who, harm{cut: true})
}

// starvedSender and starvedReceiver leave one machine too little for the picture that it shows
// or is shown. In the chosen calls a third of a processor was too little to show one of 1080p,
// and a fifth, but not a quarter, to be shown one of 720p. Such a call counts as harmed if in its
// last 15 seconds fewer than 15 pictures a second were shown of the 20 that the camera gives, or 3 %
// of somebody's sound was made up; docs/cause.md says which were not, and they stay.
func (d *freshDraw) starvedSender() { d.starved(true, d.between(.12, .3)) }

func (d *freshDraw) starvedReceiver() { d.starved(false, d.between(.08, .17)) }

func (d *freshDraw) starved(shows bool, share float64) {
	topology := d.gather(pairOf, pairOf, pairOf, meshOf3, withServer)
	showing, looking := d.who, d.other
	if !shows {
		showing, looking = d.other, d.who
	}
	s := starvedScene(d.scene.name, showing, looking, starvation{who: d.who, share: share})
	s.users, s.server = d.scene.users, d.scene.server
	for _, user := range s.users {
		if user != showing && user != looking {
			s.prepare = each(s.prepare, looks(user))
		}
	}
	s.label.Did += fmt.Sprintf(" (%s)", topology)
	if topology == pairOf && d.chance(4) {
		s.browser = browser.Firefox
		s.label.Did += ", in Firefox"
	}
	d.scene = s
}

// busySender and busyReceiver were to starve a machine, and did not: see leave.
func (d *freshDraw) busySender() {
	d.gather(pairOf)
	s := starvation{who: d.who, share: d.between(.15, .25), busy: 4 + d.r.IntN(5)}
	d.scene = starvedScene(d.scene.name, d.who, d.other, s)
}

func (d *freshDraw) busyReceiver() {
	d.gather(pairOf)
	d.scene = starvedScene(d.scene.name, d.other, d.who, starvation{who: d.who, share: d.between(.028, .042)})
}

func (d *freshDraw) capture() {
	topology := d.anywhere()
	camera := []func(*freshDraw){(*freshDraw).slowCamera, (*freshDraw).cameraGone}
	microphone := []func(*freshDraw){(*freshDraw).microphoneGone, (*freshDraw).microphoneSilent, (*freshDraw).microphoneOff}
	if topology == meshOf4 {
		camera = nil
	}
	pick(d, append(camera, microphone...)...)(d)
}

func (d *freshDraw) slowCamera() {
	who, fps := d.who, 1+d.r.IntN(3)
	d.labelled("sendingCapture", fmt.Sprintf("%s's camera gives %d pictures a second", who, fps), who)
	d.prepared(func(c *causeCall) { c.of(who).Media.Video, c.of(who).Media.FPS = "canvas", fps })
}

func (d *freshDraw) cameraGone() {
	d.maybeFirefox()
	d.labelled("sendingCapture", d.who+"'s camera ends in the call", d.who)
	d.scene.act = inPage(d.who, "senders('video').forEach((s) => s.track.stop())")
}

func (d *freshDraw) microphoneGone() {
	d.maybeSound()
	d.labelled("sendingCapture", d.who+"'s microphone ends in the call", d.who)
	d.scene.act = inPage(d.who, "senders('audio').forEach((s) => s.track.stop())")
}

func (d *freshDraw) microphoneSilent() {
	who := d.who
	d.labelled("sendingCapture", who+"'s microphone hears nothing", who)
	d.prepared(func(c *causeCall) { c.of(who).Media.Audio = "silence" })
}

func (d *freshDraw) microphoneOff() {
	d.maybeSound()
	d.labelled("sendingCapture", d.who+"'s microphone is switched off and nobody says so", d.who)
	d.scene.act = inPage(d.who, "senders('audio').forEach((s) => s.track.enabled = false)")
}

// missing: the application does not send what it should.
func (d *freshDraw) missing() {
	if d.chance(2) {
		d.gather(pairOf, meshOf3)
		who := d.who
		d.scene.fails = true
		d.labelled("application", who+"'s application adds none of the tracks", who)
		d.prepared(arranged(func(c *causeCall) {
			for i := range c.of(who).Remotes {
				c.of(who).Remotes[i].Send = []string{"none"}
			}
		}))
		return
	}
	d.anywhere()
	d.labelled("application", d.who+"'s application takes all tracks away and does not say so", d.who)
	d.scene.act = inPage(d.who, "[...call.pcs.values()].forEach((one) => one.pc.getSenders().forEach((s) => s.replaceTrack(null)))")
}

func (d *freshDraw) permission() {
	d.gather(pairOf, pairOf, meshOf3, withServer)
	d.maybeFirefox()
	who, name := d.who, pick(d, "NotAllowedError", "NotFoundError", "NotReadableError")
	d.scene.fails = true
	d.labelled("permissionsOrDevices", who+" has no devices: "+name, who)
	d.prepared(func(c *causeCall) { c.of(who).GetUserMediaError = name })
}

// signalling: the last to join never answers; in a call of two that may be reported as well.
func (d *freshDraw) signalling() {
	topology := d.gather(pairOf, pairOf, meshOf3)
	d.scene.fails = true
	last := d.scene.users[len(d.scene.users)-1]
	users := []string{last}
	if topology == pairOf {
		users = d.scene.users
	}
	d.labelled("signalling", last+"'s page never answers", users...)
	d.prepared(arranged(func(c *causeCall) {
		for i := range c.of(last).Remotes {
			c.of(last).Remotes[i].NeverAnswers = true
		}
	}))
	if d.chance(2) {
		d.scene.label.Did += ", and ada's application reports a signalling error"
		d.scene.act = inPage("ada", "report([...call.pcs.values()].at(-1), 'signalingError', new DOMException('arranged', 'TimeoutError'))")
	}
}

// server: the media server, or its network, is at fault.
func (d *freshDraw) server() {
	d.gather(withServer)
	const stops = "(call.stopped = true, [...call.pcs.values()].forEach((one) => one.pc.getSenders().forEach((s) => s.track && %s && s.replaceTrack(null))))"
	kind := pick(d, "", "audio", "video", "network")
	switch kind {
	case "network":
		loss := d.between(.08, .25)
		d.harmed(harm{loss: loss}, fmt.Sprintf("%.0f %% loss", 100*loss), withServer)
	case "":
		d.labelled("mediaServer", "the server stops passing on")
		d.scene.act = func(c *causeCall) { c.server.page.Run(fmt.Sprintf(stops, "true")) }
	default:
		d.labelled("mediaServer", "the server stops passing "+kind+" on")
		d.scene.act = func(c *causeCall) { c.server.page.Run(fmt.Sprintf(stops, "s.track.kind === '"+kind+"'")) }
	}
}

// noWay: no connection comes about.
func (d *freshDraw) noWay() {
	topology := d.gather(pairOf, pairOf, meshOf3)
	d.scene.fails = true
	who, users := d.who, d.disconnected(topology)
	if d.chance(2) {
		d.labelled("iceConnectivity", who+" has only a TURN server, and a wrong password for it", users...)
		d.prepared(wrongTURN(who))
		return
	}
	d.labelled("iceConnectivity", "nothing passes to and from "+who, users...)
	d.prepared(each(edges, both(who, harm{cut: true})))
}

// nothing is wrong with these calls: what is done is what people do, or too little to harm.
func (d *freshDraw) nothing() {
	d.anywhere()
	d.maybeFirefox()
	pick(d, (*freshDraw).untouched, (*freshDraw).muted, (*freshDraw).paused, (*freshDraw).held, (*freshDraw).mild, (*freshDraw).mild, (*freshDraw).mild)(d)
}

func (d *freshDraw) untouched() {
	d.maybeSound()
	d.labelled("none", "nothing")
}

func (d *freshDraw) muted() {
	d.maybeSound()
	d.labelled("none", d.who+" muted the microphone and said so")
	d.scene.act = inPage(d.who, "(senders('audio').forEach((s) => s.track.enabled = false), event('audioMute'))")
}

func (d *freshDraw) paused() {
	d.labelled("none", d.who+" paused the picture and said so")
	d.scene.act = inPage(d.who, "(senders('video').forEach((s) => s.track.enabled = false), event('videoPause'))")
}

func (d *freshDraw) held() {
	d.maybeSound()
	d.labelled("none", d.who+" held the call and said so")
	d.scene.act = inPage(d.who, "(event('fabricHold'), [...call.pcs.values()].forEach((one) => one.pc.getSenders().forEach((s) => s.replaceTrack(null))))")
}

// mild is what any network does.
func (d *freshDraw) mild() {
	d.maybeSound()
	h := harm{loss: d.between(0, .012), delay: d.betweenMs(5, 60), jitter: d.betweenMs(1, 12)}
	d.prepared(edges)
	d.labelled("none", fmt.Sprintf("%.1f %% loss, %v of delay and up to %v of jitter each way at %s", 100*h.loss, h.delay, h.jitter, d.who))
	d.scene.act = both(d.who, h)
}
