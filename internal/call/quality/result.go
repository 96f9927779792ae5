package quality

import "strings"

// Reason is the reason why there is no score.
type Reason uint8

// The reasons. Scored is the absence of one.
const (
	Scored         Reason = iota
	NoPackets             // no packet was sent, or none arrived and none was expected
	NoLossEvidence        // packets, but neither loss nor concealment is known
	NoRemoteReport        // the remote end has not reported on the stream
	NoPayload             // packets without payload: padding, probing
	NoInterval            // the interval's length is unknown
	NoFrames              // nothing was encoded
	NoFrameSize           // the frame's size is unknown
	NoFrameRate           // the frame rate is unknown
	NoBitrate             // the bit rate is unknown
	NoMotion              // nothing to code: a muted camera, a still picture
	LowerLayer            // a larger layer of the same picture was sent beside it
	NoQP                  // a screen that the network limits, and its quantiser is unknown
	TooFewPackets         // fewer than minPackets: comfort noise, the first or last moment of a stream
	NotPlayed             // the page plays no sample of the audio: no element, or autoplay is blocked
	NotDecoded            // media arrived and could not be decoded: the page has no key for them
	NumReasons
)

var reasonNames = [NumReasons]string{
	"", "no_packets", "no_loss_evidence", "no_remote_report", "no_payload", "no_interval",
	"no_frames", "no_frame_size", "no_frame_rate", "no_bitrate", "no_motion",
	"lower_layer", "no_qp", "too_few_packets", "not_played", "not_decoded",
}

// String returns the reason in snake case, "" for Scored.
func (r Reason) String() string { return reasonNames[r] }

// Assumed is a set of inputs that were not measured and have a documented default, which makes the
// score less certain.
type Assumed uint16

// The inputs that can be assumed.
const (
	AssumedCodec Assumed = 1 << iota
	AssumedBitrate
	AssumedRTT
	AssumedJitterBuffer
	AssumedDisplay
	AssumedLoss    // outbound video without a remote report
	AssumedFreezes // outbound video: only the receiver measures them
	AssumedQP      // of a screen or of received video
	assumedEnd
)

var assumedNames = func() (names [assumedEnd]string) {
	one := [...]string{"codec", "bitrate", "rtt", "jitter_buffer", "displayed_pixels", "remote_loss", "freezes", "qp"}
	for set := range names {
		var in []string
		for i, name := range one {
			if set&(1<<i) != 0 {
				in = append(in, name)
			}
		}
		names[set] = strings.Join(in, ",")
	}
	return names
}()

// String lists the inputs, separated by commas.
func (a Assumed) String() string { return assumedNames[a&(assumedEnd-1)] }

// InputName identifies an input of a model.
type InputName uint8

// The inputs of the models.
const (
	InLossFraction    InputName = iota // loss that was charged
	InDelayMs                          // one-way delay, mouth to ear
	InBitrateBps                       // bit rate that was rated
	InPixels                           // width times height
	InDisplayedPixels                  // area on the screen
	InFPS                              // frame rate
	InFreezes60s                       // freezes in the last 60 s
	InFrozenFraction                   // share of the interval that was frozen
	InQP                               // mean quantisation parameter
	InLossRun                          // mean run of concealed packets (Opus)
	InX0                               // constants of the video model, where an operator changed them
	InFreezeCountWeight
	InFreezeShareWeight
	InOutboundLossPercent
	InHarmonicFPS      // rate of uneven frames without a freeze
	InTargetBitrateBps // target bit rate that the encoder did not need
	NumInputs
)

var inputNames = [NumInputs]string{
	"loss_fraction", "delay_ms", "bitrate_bps", "pixels", "displayed_pixels", "fps",
	"freezes_60s", "frozen_fraction", "qp", "loss_run_packets",
	"x0", "freeze_count_weight", "freeze_share_weight", "outbound_loss_percent",
	"harmonic_fps", "target_bitrate_bps",
}

// String returns the input's name in snake case, with its unit.
func (n InputName) String() string { return inputNames[n] }

// Input is one input value of a model.
type Input struct {
	Name  InputName
	Value float64
}

// Result is the score of one stream over one interval. Model, inputs and the record's
// codec are enough to compute the score again (docs/quality.md).
type Result struct {
	Reason       Reason  // why there is no score; Scored when there is one
	MOS          float64 // 1 to 5: conversational for audio
	MOSListening float64 // audio: the score without delay; 0 for video
	R            float64 // audio: E-model rating, 0 to 100
	Model        string  // name and version
	Assumed      Assumed

	extrapolated bool // an input is beyond the range for which the model was validated
	inputs       [NumInputs]Input
	n            int
}

// OK reports whether there is a score.
func (r *Result) OK() bool { return r.Model != "" }

// Confidence is the degree to which the inputs of a score were measured, assigned by judgement. It does
// not include the uncertainty of the model.
type Confidence string

// The degrees of confidence.
const (
	HighConfidence   Confidence = "high"   // all inputs were measured
	MediumConfidence Confidence = "medium" // an input with little effect was assumed, or one is beyond the model's range
	LowConfidence    Confidence = "low"    // an input with much effect was assumed
)

// Confidence returns the confidence of the score, "" when there is no score.
func (r *Result) Confidence() Confidence {
	switch {
	case !r.OK():
		return ""
	case r.Assumed&(AssumedCodec|AssumedQP) != 0:
		return LowConfidence
	case r.Assumed != 0 || r.extrapolated:
		return MediumConfidence
	}
	return HighConfidence
}

// Inputs returns the inputs of the model. The slice is the result's memory.
func (r *Result) Inputs() []Input { return r.inputs[:r.n] }

// Input returns one input, false when the model did not use it.
func (r *Result) Input(name InputName) (float64, bool) {
	for _, in := range r.Inputs() {
		if in.Name == name {
			return in.Value, true
		}
	}
	return 0, false
}

func (r *Result) add(name InputName, v float64) {
	r.inputs[r.n] = Input{name, v}
	r.n++
}

// unscored returns a result without a score.
func unscored(reason Reason) Result { return Result{Reason: reason} }
