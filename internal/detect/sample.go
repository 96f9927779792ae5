package detect

// Value is a number that may be unknown.
type Value struct {
	V     float64
	Known bool
}

// orZero returns the value, 0 when it is not known or below.
func (v Value) orZero() float64 {
	if !v.Known {
		return 0
	}
	return max(0, v.V)
}

// Sample is one measurement of one stream or candidate pair. Counts are increases over the
// interval, fractions and levels 0 to 1.
type Sample struct {
	Outbound, Video, Pair bool // a pair is neither
	Screen                bool // shows a screen: its frame rate is no fault
	Layer                 bool // one of several layers of a picture

	IntervalMs float64

	Packets, Lost                         Value // Lost on the way here
	RemoteLost, RemoteLossFraction        Value // what the remote end says of an outbound stream
	JitterMs, RemoteJitterMs, RTTMs       Value
	JitterBufferMs, AudioLevel            Value
	Samples, Audible, ConcealmentEvents   Value // Audible: concealed samples that were not silent
	Bytes, Frames, FramesDecoded          Value
	FramesDropped, FPS, FreezeMs, PauseMs Value
	PLIs, FIRs, EncodeMs, DecodeMs        Value
	CPULimitedMs, BandwidthLimitedMs      Value
	TargetBps                             Value  // what the encoder may send
	Limitation                            string // qualityLimitationReason, empty when not known
}

// What is too little to judge by.
const (
	minPackets = 20 // fewer make a fraction of a single loss
	minFrames  = 10
	minBps     = 30e3 // below it there is no motion to code (docs/quality.md)
	minAudible = 0.005
)

func (s *Sample) inbound(video bool) bool { return !s.Pair && !s.Outbound && s.Video == video }

func (s *Sample) loss() (float64, bool) {
	switch {
	case s.Pair:
		return 0, false
	case !s.Outbound:
		lost := s.Lost.orZero()
		expected := s.Packets.orZero() + lost
		return lost / expected, s.Lost.Known && expected >= minPackets
	case !(s.Packets.orZero() >= minPackets):
		return 0, false
	case s.RemoteLossFraction.Known:
		return s.RemoteLossFraction.orZero(), true
	}
	return min(1, s.RemoteLost.orZero()/s.Packets.V), s.RemoteLost.Known
}

// concealedRun is the mean length of what was concealed at a time. Up to 60 ms concealment
// goes on with the sound, then it fades out.
func (s *Sample) concealedRun() (float64, bool) {
	share, ok := s.concealed()
	if !ok || !s.ConcealmentEvents.Known || !(s.IntervalMs > 0) {
		return 0, false
	}
	if share < minAudible || s.ConcealmentEvents.V <= 0 {
		return 0, true
	}
	return share * s.IntervalMs / s.ConcealmentEvents.V, true
}

func (s *Sample) concealed() (float64, bool) {
	if !s.inbound(false) || !s.Audible.Known || s.Samples.orZero() <= 0 {
		return 0, false
	}
	return min(1, s.Audible.orZero()/s.Samples.V), true
}

func (s *Sample) frozen() (float64, bool) {
	if !s.inbound(true) || s.Screen {
		return 0, false
	}
	if s.FramesDecoded.Known && s.FramesDecoded.V == 0 && s.Packets.orZero() >= minPackets {
		return 1, true
	}
	return s.share(Value{max(s.FreezeMs.orZero(), s.PauseMs.orZero()), s.FreezeMs.Known || s.PauseMs.Known})
}

// frameRate is that of a camera that has something to show. Which rate each of several
// layers should have only the application knows.
func (s *Sample) frameRate() (float64, bool) {
	moving := s.Bytes.orZero()*8000 >= minBps*s.IntervalMs
	if s.Pair || !s.Video || s.Screen || s.Outbound && s.Layer || !s.FPS.Known || !moving {
		return 0, false
	}
	return s.FPS.orZero(), s.FPS.V > 0
}

func (s *Sample) rtt() (float64, bool) { return s.RTTMs.orZero(), s.RTTMs.Known }

func (s *Sample) jitter() (float64, bool) {
	if s.Outbound {
		return s.RemoteJitterMs.orZero(), s.RemoteJitterMs.Known
	}
	return s.JitterMs.orZero(), s.JitterMs.Known && s.Packets.orZero() >= minPackets
}

func (s *Sample) jitterBuffer() (float64, bool) {
	return s.JitterBufferMs.orZero(), s.JitterBufferMs.Known && s.inbound(false)
}

func (s *Sample) bandwidthLimited() (float64, bool) {
	return s.limited(s.BandwidthLimitedMs, "bandwidth")
}

func (s *Sample) cpuLimited() (float64, bool) { return s.limited(s.CPULimitedMs, "cpu") }

// limited is the share of time in which the encoder was held back; where it keeps no times,
// all or nothing by what it said last.
func (s *Sample) limited(ms Value, reason string) (float64, bool) {
	switch {
	case s.Pair || !s.Outbound || !s.Video:
		return 0, false
	case ms.Known:
		return s.share(ms)
	case s.Limitation == reason:
		return 1, true
	}
	return 0, s.Limitation != ""
}

// coding is the share of time that was spent on coding pictures.
func (s *Sample) coding() (float64, bool) {
	if s.Pair || !s.Video {
		return 0, false
	}
	if s.Outbound {
		return s.share(s.EncodeMs)
	}
	return s.share(s.DecodeMs)
}

// dropped is the share of frames that came and were not shown, where the network is not to
// blame.
func (s *Sample) dropped() (float64, bool) {
	loss, _ := s.loss()
	if !s.inbound(true) || !s.FramesDropped.Known || s.Frames.orZero() < minFrames || loss >= 0.02 {
		return 0, false
	}
	return min(1, s.FramesDropped.orZero()/s.Frames.V), true
}

func (s *Sample) keyFrameRequests() (float64, bool) {
	if s.Pair || !s.Video || !s.PLIs.Known || !(s.IntervalMs > 0) {
		return 0, false
	}
	return (s.PLIs.orZero() + s.FIRs.orZero()) * 1000 / s.IntervalMs, true
}

// silence is the level of a microphone that is sent.
func (s *Sample) silence() (float64, bool) {
	ok := !s.Pair && s.Outbound && !s.Video && s.AudioLevel.Known && s.Packets.orZero() > 0
	return s.AudioLevel.orZero(), ok
}

// share of the interval.
func (s *Sample) share(ms Value) (float64, bool) {
	return min(1, ms.orZero()/s.IntervalMs), ms.Known && s.IntervalMs > 0
}
