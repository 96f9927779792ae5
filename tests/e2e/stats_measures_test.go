package e2e

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The numbers of the column sets, as in the measures' table below.
const (
	inboundAudio  = '1'
	inboundVideo  = '2'
	outboundAudio = '3'
	outboundVideo = '4'
	candidatePair = '5'
)

func (i *interval) set() rune {
	switch {
	case i.statsType == "candidate-pair":
		return candidatePair
	case i.inbound() && i.kind == "audio":
		return inboundAudio
	case i.inbound():
		return inboundVideo
	case i.kind == "audio":
		return outboundAudio
	}
	return outboundVideo
}

// figure is a number that is reported, and how it follows from the browser's reports.
type figure struct {
	name     string
	sets     string  // of which rows it is a column
	decimals int     // that it is rounded to
	least    float64 // that the wire takes
	most     float64
	want     func(i *interval) float64
}

const (
	anyCount = 1 << 53
	hourMs   = 3_600_000
)

// rose is the rise of the first of the counters that a report has, times a factor.
func rose(factor float64, counters ...string) func(*interval) float64 {
	return func(i *interval) float64 { return factor * i.own.of(counters...) }
}

// quotient is the rise of one counter by that of another, times a factor.
func quotient(factor float64, counter string, by ...string) func(*interval) float64 {
	return func(i *interval) float64 { return factor * i.own.of(counter) / i.own.of(by...) }
}

// says is a number of the stream's own report as it is at the end.
func says(factor float64, member string) func(*interval) float64 {
	return func(i *interval) float64 { return factor * i.now.number(member) }
}

// measures are the numbers of a row: section 7 of docs/protocol.md, out of webrtc-stats.
var measures = []figure{
	{"ssrc", "1234", 0, 0, math.MaxUint32, says(1, "ssrc")},
	{"bytes", "1234", 0, 0, anyCount, rose(1, "bytesReceived", "bytesSent")},
	{"packets", "1234", 0, 0, anyCount, (*interval).packets},
	{"packetsLost", "12", 0, -anyCount, anyCount, rose(1, "packetsLost")},
	{"packetsDiscarded", "1", 0, 0, anyCount, rose(1, "packetsDiscarded")},
	{"fecPackets", "1", 0, 0, anyCount, rose(1, "fecPacketsReceived")},
	{"jitterMs", "12", 1, 0, hourMs, says(1000, "jitter")},
	{"jitterBufferDelayMs", "12", 1, 0, hourMs, quotient(1000, "jitterBufferDelay", "jitterBufferEmittedCount")},
	{"externalDelayMs", "12", 1, 0, hourMs, func(i *interval) float64 {
		return 1000 * (i.own.of("jitterBufferTargetDelay") - i.own.of("jitterBufferMinimumDelay")) / i.own.of("jitterBufferEmittedCount")
	}},
	{"rttMs", "12345", 1, 0, hourMs, rttMs},
	{"samples", "1", 0, 0, anyCount, rose(1, "totalSamplesReceived")},
	{"concealedSamples", "1", 0, 0, anyCount, rose(1, "concealedSamples")},
	{"silentConcealedSamples", "1", 0, 0, anyCount, rose(1, "silentConcealedSamples")},
	{"concealmentEvents", "1", 0, 0, anyCount, rose(1, "concealmentEvents")},
	{"audioLevel", "13", 4, 0, 1, (*interval).audioLevel},
	{"frames", "24", 0, 0, anyCount, rose(1, "framesReceived", "framesSent")},
	{"framesDecoded", "2", 0, 0, anyCount, rose(1, "framesDecoded")},
	{"framesEncoded", "4", 0, 0, anyCount, rose(1, "framesEncoded")},
	{"framesDropped", "2", 0, 0, anyCount, rose(1, "framesDropped")},
	{"keyFrames", "24", 0, 0, anyCount, rose(1, "keyFramesDecoded", "keyFramesEncoded")},
	{"width", "24", 0, 0, math.MaxUint16, says(1, "frameWidth")},
	{"height", "24", 0, 0, math.MaxUint16, says(1, "frameHeight")},
	{"fps", "24", 2, 0, 1000, func(i *interval) float64 { return i.own.of("framesSent", "framesDecoded") * 1000 / i.ms }},
	{"harmonicFps", "2", 2, 0, 1000, quotient(1, "totalInterFrameDelay", "totalSquaredInterFrameDelay")},
	{"freezes", "2", 0, 0, anyCount, rose(1, "freezeCount")},
	{"freezeMs", "2", 1, 0, hourMs, rose(1000, "totalFreezesDuration")},
	{"freezes60s", "2", 0, 0, anyCount, func(i *interval) float64 { return i.freezes + 0*i.own.of("freezeCount") }},
	{"pauses", "2", 0, 0, anyCount, rose(1, "pauseCount")},
	{"pauseMs", "2", 1, 0, hourMs, rose(1000, "totalPausesDuration")},
	{"decodeMs", "2", 1, 0, hourMs, rose(1000, "totalDecodeTime")},
	{"encodeMs", "4", 1, 0, hourMs, rose(1000, "totalEncodeTime")},
	{"qp", "24", 1, 0, 255, quotient(1, "qpSum", "framesDecoded", "framesEncoded")},
	{"plis", "24", 0, 0, anyCount, rose(1, "pliCount")},
	{"firs", "24", 0, 0, anyCount, rose(1, "firCount")},
	{"nacks", "234", 0, 0, anyCount, rose(1, "nackCount")},
	{"retransmittedPackets", "1234", 0, 0, anyCount, rose(1, "retransmittedPacketsReceived", "retransmittedPacketsSent")},
	{"retransmittedBytes", "1234", 0, 0, anyCount, rose(1, "retransmittedBytesReceived", "retransmittedBytesSent")},
	{"targetBitrateBps", "34", 0, 0, anyCount, (*interval).targetBitrate},
	{"remotePacketsLost", "34", 0, -anyCount, anyCount, func(i *interval) float64 { return i.far.of("packetsLost") }},
	{"remoteLossFraction", "34", 4, 0, 1, (*interval).remoteLoss},
	{"remoteJitterMs", "34", 1, 0, hourMs, func(i *interval) float64 { return 1000 * i.remote.number("jitter") }},
	{"cpuLimitedMs", "4", 1, 0, hourMs, func(i *interval) float64 { return 1000 * i.limited.of("cpu") }},
	{"bandwidthLimitedMs", "4", 1, 0, hourMs, func(i *interval) float64 { return 1000 * i.limited.of("bandwidth") }},
	{"displayedPixels", "24", 0, 0, anyCount, func(i *interval) float64 { return i.pixels }},
	{"bytesSent", "5", 0, 0, anyCount, rose(1, "bytesSent")},
	{"bytesReceived", "5", 0, 0, anyCount, rose(1, "bytesReceived")},
	{"availableOutgoingBps", "5", 0, 0, anyCount, says(1, "availableOutgoingBitrate")},
}

// texts are the columns of a row that are no numbers, by the sets they are in.
var texts = []struct {
	name, sets string
	want       func(i *interval) any
}{
	{"codec", "1234", func(i *interval) any { return map[string]any{"audio": "opus", "video": "VP8"}[i.kind] }},
	{"rid", "4", func(i *interval) any { return i.now["rid"] }},
	{"contentType", "24", func(i *interval) any { return i.now["contentType"] }},
	{"limitation", "4", func(i *interval) any { return i.now["qualityLimitationReason"] }},
	{"outOfRange", "12345", func(*interval) any { return nil }}, // browsers of this test say nothing untrue
}

// sent is how many packets were sent or received, retransmissions among them.
func (i *interval) sent() float64 { return i.own.of("packetsReceived", "packetsSent") }

func (i *interval) packets() float64 {
	return i.sent() - first(i.own.of("retransmittedPacketsReceived", "retransmittedPacketsSent"), 0)
}

func (i *interval) audioLevel() float64 {
	return first(i.now.number("audioLevel"), i.source.number("audioLevel"))
}

// targetBitrate of an encoding that is switched off is 0. Firefox has a target for each frame.
func (i *interval) targetBitrate() float64 {
	if i.now["active"] == false {
		return 0
	}
	asked := i.own.of("totalEncodedBytesTarget")
	if asked == 0 { // nothing was encoded
		asked = math.NaN()
	}
	return first(i.now.number("targetBitrate"), asked*8000/i.ms)
}

// remoteLoss is what was lost between two reports of the other end by what was sent meanwhile.
func (i *interval) remoteLoss() float64 {
	if i.saidMs > 0 {
		return first(i.far.of("packetsLost")*i.ms/(i.sent()*i.saidMs), i.remote.number("fractionLost"))
	}
	return i.remote.number("fractionLost")
}

// check holds a row against all columns of its set: there are these and no others.
func (i *interval) check(t *testing.T, row object) {
	t.Helper()
	columns := 3 // statsType, mediaType, intervalMs
	for _, f := range measures {
		if inSet(f.sets, i.set()) {
			columns++
			f.check(t, i, row)
		}
	}
	for _, text := range texts {
		if inSet(text.sets, i.set()) {
			columns++
			require.Equal(t, text.want(i), row[text.name], "%s %s", i.key, text.name)
		}
	}
	require.Len(t, row, columns)
}

func inSet(sets string, set rune) bool {
	for _, one := range sets {
		if one == set {
			return true
		}
	}
	return false
}

// check holds one number against the reports, to the last decimal. It is null where the
// browser does not supply it.
func (f *figure) check(t *testing.T, i *interval, row object) {
	t.Helper()
	require.Contains(t, row, f.name)
	want := first(f.want(i))
	if math.IsNaN(want) {
		require.Nil(t, row[f.name], "%s %s", i.key, f.name)
		return
	}
	want = min(max(want, f.least), f.most)
	step := math.Pow10(-f.decimals)
	got := row.number(f.name)
	require.InDelta(t, want, got, step/2+1e-9*math.Abs(want), "%s %s", i.key, f.name)
	require.InDelta(t, math.Round(got/step), got/step, 1e-6, "%s %s has %d decimals", i.key, f.name, f.decimals)
}

// figures are the numbers of an element of mediaStreamTracks.
type figures []figure

func (all figures) check(t *testing.T, i *interval, track object) {
	t.Helper()
	for _, f := range all {
		f.check(t, i, track)
	}
}

// times is a figure on another scale.
func times(factor float64, want func(*interval) float64) func(*interval) float64 {
	return func(i *interval) float64 { return factor * want(i) }
}

// inRow is a figure as the row has it, rounded.
func inRow(decimals int, want func(*interval) float64) func(*interval) float64 {
	return func(i *interval) float64 { return rounded(want(i), decimals) }
}

// only is a figure of streams of that direction and kind, unknown for others; "": of both.
func only(statsType, kind string, want func(*interval) float64) func(*interval) float64 {
	return func(i *interval) float64 {
		if i.statsType != statsType || kind != "" && i.kind != kind {
			return math.NaN()
		}
		return want(i)
	}
}

func unknown(*interval) float64 { return math.NaN() }

// loss is the share of the packets that were expected.
func (i *interval) loss() float64 {
	lost := i.own.of("packetsLost")
	return min(1, max(0, lost/(i.packets()+lost)))
}

const (
	in  = "inbound-rtp"
	out = "outbound-rtp"
)

// roundTrip are the figures that both reports of a stream share.
var roundTrip = figures{
	{"rtt", "", 1, 0, hourMs, inRow(1, rttMs)},
	{"averageRTT", "", 1, 0, hourMs, func(i *interval) float64 { return i.meanRTTMs }},
}

// ownFigures are those of inbound-rtp and outbound-rtp: kbit/s, packets/s, ms.
var ownFigures = append(figures{
	{"ssrc", "", 0, 0, math.MaxUint32, (*interval).ssrc},
	{"bitrate", "", 2, 0, anyCount, func(i *interval) float64 { return i.own.of("bytesReceived", "bytesSent") * 8 / i.ms }},
	{"packetRate", "", 2, 0, anyCount, func(i *interval) float64 { return i.packets() * 1000 / i.ms }},
	{"fractionLoss", "", 4, 0, 1, only(in, "", (*interval).loss)},
	{"packetLossPercentage", "", 2, 0, 100, only(in, "", times(100, (*interval).loss))},
	{"jitter", "", 1, 0, hourMs, says(1000, "jitter")},
	{"averageJitter", "", 1, 0, hourMs, only(in, "", func(i *interval) float64 { return i.meanJitterMs })},
	{"audioInputLevel", "", 4, 0, 1, only(out, "audio", (*interval).audioLevel)},
	{"audioOutputLevel", "", 4, 0, 1, only(in, "audio", (*interval).audioLevel)},
}, roundTrip...)

// farRate is a rate by the sender's clock; unknown without two of its reports.
func farRate(counter string, factor float64) func(*interval) float64 {
	return only(in, "", func(i *interval) float64 {
		if !(i.sentMs > 0) {
			return math.NaN()
		}
		return i.far.of(counter) * factor / i.sentMs
	})
}

// farFigures are those of remote-outbound-rtp and remote-inbound-rtp.
var farFigures = append(figures{
	{"ssrc", "", 0, 0, math.MaxUint32, (*interval).ssrc},
	{"bitrate", "", 2, 0, anyCount, farRate("bytesSent", 8)},
	{"packetRate", "", 2, 0, anyCount, farRate("packetsSent", 1000)},
	{"fractionLoss", "", 4, 0, 1, only(out, "", inRow(4, (*interval).remoteLoss))},
	{"packetLossPercentage", "", 2, 0, 100, only(out, "", times(100, inRow(4, (*interval).remoteLoss)))},
	{"jitter", "", 1, 0, hourMs, only(out, "", func(i *interval) float64 { return 1000 * i.remote.number("jitter") })},
	{"averageJitter", "", 1, 0, hourMs, only(out, "", func(i *interval) float64 { return i.meanJitterMs })},
	{"audioInputLevel", "", 4, 0, 1, unknown},
	{"audioOutputLevel", "", 4, 0, 1, unknown},
}, roundTrip...)
