package conference

import "slices"

// A browser's counters can go back, jump, or be nonsense; what came of it is no measurement.
// Such a value is left out of the fold, and its record says which (Unlikely), so that whoever
// reads a summary knows what it is not made of.

// Most of what one stream can do in a second. Far above any real one: a value beyond it is a
// counter that jumped.
const (
	maxPacketsPerSec = 1e6
	maxBytesPerSec   = 1.25e9 // 10 Gbit/s
	maxFramesPerSec  = 1000
	maxSamplesPerSec = 1e6
	maxPerSec        = 1e5  // of anything rarer
	maxBusy          = 64   // threads that code at once
	maxLevelMs       = 36e5 // the protocol's longest time
	maxBps           = 1e11
	minRateMs        = 1000 // a shorter interval can hold what came at once
)

// Unlikely clears the values of a measurement that cannot be, and returns their names as the
// wire has them, nil where there is none. A loss may be negative (RFC 3550).
func (m *Stats) Unlikely() (names []string) {
	sec := max(m.IntervalMs, minRateMs) / 1000
	if !(m.IntervalMs >= 0 && m.IntervalMs <= maxDurationMs) {
		names, m.IntervalMs, sec = append(names, "intervalMs"), 0, 1
	}
	check := func(name string, v *float64, low, high float64) {
		if !(*v >= low && *v <= high) { // NaN too
			names, *v = append(names, name), 0
		}
	}
	for _, c := range m.counters() {
		high := c.perSec * sec
		check(c.name, c.v, c.sign*high, high)
	}
	m.LossUntold = m.LossUntold || slices.Contains(names, "packetsLost")
	for _, c := range m.levels() {
		if c.v.Known && !(c.v.V >= c.low && c.v.V <= c.high) {
			names, *c.v = append(names, c.name), Value{}
		}
	}
	m.LeftOut = len(names)
	return names
}

// counter is an increase over the interval; sign is -1 where it may be negative.
type counter struct {
	name   string
	v      *float64
	perSec float64
	sign   float64
}

func (m *Stats) counters() [11]counter {
	return [...]counter{
		{"bytes", &m.Bytes, maxBytesPerSec, 0},
		{"packets", &m.Packets, maxPacketsPerSec, 0},
		{"packetsLost", &m.PacketsLost, maxPacketsPerSec, -1},
		{"packetsDiscarded", &m.Discarded, maxPacketsPerSec, 0},
		{"retransmittedPackets", &m.Retransmitted, maxPacketsPerSec, 0},
		{"samples", &m.Samples, maxSamplesPerSec, 0},
		{"concealedSamples", &m.ConcealedSamples, maxSamplesPerSec, 0},
		{"silentConcealedSamples", &m.SilentConcealed, maxSamplesPerSec, 0},
		{"freezes", &m.Freezes, maxPerSec, 0},
		{"freezeMs", &m.FreezeMs, maxLevelMs, 0}, // what began before the interval ends in it
		{"bytesReceived", &m.BytesReceived, maxBytesPerSec, 0},
	}
}

// level is a value with a range of its own.
type level struct {
	name      string
	v         *Value
	low, high float64
}

func (m *Stats) levels() [19]level {
	sec := max(m.IntervalMs, minRateMs) / 1000
	return [...]level{
		{"remotePacketsLost", &m.RemoteLost, -maxPacketsPerSec * sec, maxPacketsPerSec * sec},
		{"remoteLossFraction", &m.RemoteLossFraction, 0, 1},
		{"remoteJitterMs", &m.RemoteJitterMs, 0, maxLevelMs},
		{"rttMs", &m.RTTMs, 0, maxLevelMs},
		{"jitterMs", &m.JitterMs, 0, maxLevelMs},
		{"fps", &m.FPS, 0, maxFramesPerSec},
		{"mos", &m.MOS, 1, 5},
		{"audioLevel", &m.AudioLevel, 0, 1},
		{"jitterBufferDelayMs", &m.JitterBufferMs, 0, maxLevelMs},
		{"frames", &m.Frames, 0, maxFramesPerSec * sec},
		{"framesDecoded", &m.FramesDecoded, 0, maxFramesPerSec * sec},
		{"framesDropped", &m.FramesDropped, 0, maxFramesPerSec * sec},
		{"concealmentEvents", &m.ConcealmentEvents, 0, maxPerSec * sec},
		{"encodeMs", &m.EncodeMs, 0, maxBusy * 1000 * sec},
		{"decodeMs", &m.DecodeMs, 0, maxBusy * 1000 * sec},
		{"cpuLimitedMs", &m.CPULimitedMs, 0, maxLevelMs},
		{"bandwidthLimitedMs", &m.BandwidthLimitedMs, 0, maxLevelMs},
		{"targetBitrateBps", &m.TargetBitrateBps, 0, maxBps},
		{"availableOutgoingBps", &m.AvailableOutgoingBps, 0, maxBps},
	}
}
