package detect

import (
	"slices"

	"github.com/qosrtc/qos/internal/call/event"
)

// Kind names a fault, in summaries and metrics.
type Kind string

// The kinds, in the order of a summary: first what a user hears and sees, then possible
// causes, then information.
const (
	NoMedia           Kind = "noMedia"           // a connected fabric carries nothing in either direction
	OneWayMedia       Kind = "oneWayMedia"       // media flows in one direction only
	HighPacketLoss    Kind = "highPacketLoss"    // lost over expected
	LossBurst         Kind = "lossBurst"         // losses in runs too long to conceal
	ConcealedAudio    Kind = "concealedAudio"    // audibly concealed samples
	FrozenVideo       Kind = "frozenVideo"       // frozen share of the time
	LowFrameRate      Kind = "lowFrameRate"      // frames per second of a camera
	HighRoundTripTime Kind = "highRoundTripTime" // round-trip time of the network path
	HighJitter        Kind = "highJitter"        // interarrival jitter
	HighJitterBuffer  Kind = "highJitterBuffer"  // delay in the receiver's jitter buffer
	ICEDisruption     Kind = "iceDisruption"     // an established connection was interrupted
	BandwidthLimited  Kind = "bandwidthLimited"  // the network limits the encoder
	CPULimited        Kind = "cpuLimited"        // the machine limits the encoder, by the encoder's own report
	BusyCodec         Kind = "busyCodec"         // coding takes most of the time
	DroppedFrames     Kind = "droppedFrames"     // frames arrived complete and were not shown
	KeyFrameStorm     Kind = "keyFrameStorm"     // repeated requests for key frames
	SilentMicrophone  Kind = "silentMicrophone"  // not muted, and the samples are zeros
	WeakWiFi          Kind = "weakWiFi"          // weak signal
	LowQuality        Kind = "lowQuality"        // score of a participant
	NotPlayed         Kind = "notPlayed"         // received audio that the page does not play
	RelayOverTCP      Kind = "relayOverTCP"      // media flows through a relay over TCP or TLS
	ICERestart        Kind = "iceRestart"        // ICE was restarted
	DeviceChange      Kind = "deviceChange"      // the devices changed
	LateJoin          Kind = "lateJoin"          // the participant joined long after the conference began
)

// Kinds lists all kinds in that order. The set is closed, so a metric may have it as a label.
var Kinds = []Kind{
	NoMedia, OneWayMedia, HighPacketLoss, LossBurst, ConcealedAudio, FrozenVideo, LowFrameRate,
	HighRoundTripTime, HighJitter, HighJitterBuffer, ICEDisruption, BandwidthLimited, CPULimited,
	BusyCodec, DroppedFrames, KeyFrameStorm, SilentMicrophone, WeakWiFi, LowQuality, NotPlayed, RelayOverTCP,
	ICERestart, DeviceChange, LateJoin,
}

// Informs reports whether a kind is information and not a fault.
func (k Kind) Informs() bool { return slices.Index(Kinds, k) >= slices.Index(Kinds, NotPlayed) }

// Confidence is the degree of certainty of a finding. It is assigned by judgement.
type Confidence string

// The degrees of confidence.
const (
	High   Confidence = "high"   // the metric is the fault itself
	Medium Confidence = "medium" // the metric indicates the fault
	Low    Confidence = "low"    // other causes have the same effect on the metric
)

// Level is a detector of streams whose metric has a value in each measurement.
type Level uint8

// The level detectors. The number determines the position in a Word.
const (
	levelLoss Level = iota
	levelBurst
	levelConcealed
	levelFrozen
	levelFrameRate
	levelRTT
	levelJitter
	levelJitterBuffer
	levelBandwidth
	levelCPU
	levelCodec
	levelDropped
	levelKeyFrames
	levelSilence
	NumLevels
)

// levels describes the level detectors.
var levels = [NumLevels]struct {
	kind       Kind
	metric     string // with its unit, as in attributes
	below      bool   // lower is worse
	confidence Confidence
	value      func(*event.Measurement) (float64, bool)
	adapts     bool // the metric adapts to a new stream within WarmUpMs
}{
	levelLoss:         {HighPacketLoss, "loss_fraction", false, High, loss, false},
	levelBurst:        {LossBurst, "concealed_run_ms", false, Medium, concealedRun, false},
	levelConcealed:    {ConcealedAudio, "concealed_fraction", false, High, concealed, false},
	levelFrozen:       {FrozenVideo, "frozen_fraction", false, High, frozen, false},
	levelFrameRate:    {LowFrameRate, "fps", true, Medium, frameRate, true},
	levelRTT:          {HighRoundTripTime, "rtt_ms", false, High, rtt, false},
	levelJitter:       {HighJitter, "jitter_ms", false, High, jitter, false},
	levelJitterBuffer: {HighJitterBuffer, "jitter_buffer_delay_ms", false, High, jitterBuffer, true},
	levelBandwidth:    {BandwidthLimited, "bandwidth_limited_fraction", false, High, bandwidthLimited, true},
	levelCPU:          {CPULimited, "cpu_limited_fraction", false, High, cpuLimited, true},
	levelCodec:        {BusyCodec, "coding_time_fraction", false, Medium, coding, true},
	levelDropped:      {DroppedFrames, "dropped_frames_fraction", false, Low, dropped, true},
	levelKeyFrames:    {KeyFrameStorm, "key_frame_requests_per_s", false, High, keyFrameRequests, true},
	levelSilence:      {SilentMicrophone, "audio_level", true, Medium, silence, false},
}

// Kind returns the kind of the detector's findings.
func (l Level) Kind() Kind { return levels[l].kind }

// Metric returns the name of the detector's metric, with its unit.
func (l Level) Metric() string { return levels[l].metric }

// Below reports whether lower values are worse.
func (l Level) Below() bool { return levels[l].below }

// Confidence returns the confidence of the detector's findings.
func (l Level) Confidence() Confidence { return levels[l].confidence }
