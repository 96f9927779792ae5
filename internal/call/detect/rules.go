package detect

import (
	"errors"
	"fmt"
	"time"
)

// Timing is the hysteresis in time of a detector.
type Timing struct {
	// After is the time for which all measurements have to be bad before the detector raises.
	After time.Duration `mapstructure:"after"`
	// ResolveAfter is the time for which all measurements have to be good before it resolves.
	ResolveAfter time.Duration `mapstructure:"resolve_after"`
	// Disabled switches the detector off.
	Disabled bool `mapstructure:"disabled"`

	lead time.Duration // shortens After as long as every measurement of the stream was bad

	_ struct{}
}

// Rule is a detector's hysteresis in value and time. Values between Raise and Resolve
// neither raise nor resolve.
type Rule struct {
	// Raise is the threshold beyond which the metric is bad.
	Raise float64 `mapstructure:"raise"`
	// Resolve is the threshold at or within which the metric is good.
	Resolve float64 `mapstructure:"resolve"`
	// After is the time for which all measurements have to be bad before the detector raises.
	After time.Duration `mapstructure:"after"`
	// ResolveAfter is the time for which all measurements have to be good before it resolves.
	ResolveAfter time.Duration `mapstructure:"resolve_after"`
	// Disabled switches the detector off.
	Disabled bool `mapstructure:"disabled"`

	_ struct{}
}

// Timing returns the rule's hysteresis in time.
func (r Rule) Timing() Timing {
	return Timing{After: r.After, ResolveAfter: r.ResolveAfter, Disabled: r.Disabled}
}

// Config holds the thresholds of all detectors that have one.
type Config struct {
	HighPacketLoss    Rule `mapstructure:"high_packet_loss"`
	LossBurst         Rule `mapstructure:"loss_burst"`
	ConcealedAudio    Rule `mapstructure:"concealed_audio"`
	FrozenVideo       Rule `mapstructure:"frozen_video"`
	LowFrameRate      Rule `mapstructure:"low_frame_rate"`
	HighRoundTripTime Rule `mapstructure:"high_round_trip_time"`
	HighJitter        Rule `mapstructure:"high_jitter"`
	HighJitterBuffer  Rule `mapstructure:"high_jitter_buffer"`
	BandwidthLimited  Rule `mapstructure:"bandwidth_limited"`
	CPULimited        Rule `mapstructure:"cpu_limited"`
	BusyCodec         Rule `mapstructure:"busy_codec"`
	DroppedFrames     Rule `mapstructure:"dropped_frames"`
	KeyFrameStorm     Rule `mapstructure:"key_frame_storm"`
	SilentMicrophone  Rule `mapstructure:"silent_microphone"`
	WeakWiFi          Rule `mapstructure:"weak_wifi"` // dBm

	// NeverHeard raises SilentMicrophone sooner where the stream was silent from its first
	// measurement on.
	NeverHeard  Timing `mapstructure:"never_heard"`
	NoMedia     Timing `mapstructure:"no_media"`
	OneWayMedia Timing `mapstructure:"one_way_media"`
	// ICEDisruption raises for disruptions of at least After.
	ICEDisruption Timing `mapstructure:"ice_disruption"`
	// NotPlayed raises for audio that the page did not play for at least After.
	NotPlayed Timing `mapstructure:"not_played"`
	// LateJoin raises for a participant who joins at least After the conference began.
	LateJoin Timing `mapstructure:"late_join"`

	_ struct{}
}

const (
	oneInterval  = 8 * time.Second  // at the default pace; four intervals at the fastest
	twoIntervals = 16 * time.Second // at the default pace
	silentTime   = 30 * time.Second
)

// DefaultConfig returns the defaults; docs/quality.md argues them.
func DefaultConfig() Config {
	rule := func(raise, resolve float64, after time.Duration) Rule {
		return Rule{Raise: raise, Resolve: resolve, After: after, ResolveAfter: twoIntervals}
	}
	return Config{
		HighPacketLoss:    rule(0.03, 0.02, oneInterval),
		LossBurst:         rule(120, 80, 0),
		ConcealedAudio:    rule(0.03, 0.01, oneInterval),
		FrozenVideo:       rule(0.03, 0.01, 0),
		LowFrameRate:      rule(10, 13, oneInterval),
		HighRoundTripTime: rule(300, 250, oneInterval),
		HighJitter:        rule(30, 20, oneInterval),
		HighJitterBuffer:  rule(200, 150, oneInterval),
		BandwidthLimited:  rule(0.5, 0.1, oneInterval),
		CPULimited:        rule(0.3, 0.1, oneInterval),
		BusyCodec:         rule(0.8, 0.6, oneInterval),
		DroppedFrames:     rule(0.1, 0.05, oneInterval),
		KeyFrameStorm:     rule(0.5, 0.15, oneInterval),
		SilentMicrophone:  Rule{Raise: 0.0001, Resolve: 0.001, After: silentTime, ResolveAfter: oneInterval},
		WeakWiFi:          rule(-75, -70, oneInterval),

		NeverHeard:    Timing{After: twoIntervals},
		NoMedia:       Timing{After: oneInterval, ResolveAfter: 2 * time.Second},
		OneWayMedia:   Timing{After: oneInterval, ResolveAfter: 2 * time.Second},
		ICEDisruption: Timing{After: 5 * time.Second},
		NotPlayed:     Timing{After: oneInterval},
		LateJoin:      Timing{After: 2 * time.Minute},
	}
}

// maxAfter bounds the times of a rule: a longer one would never raise in most calls.
const maxAfter = 10 * time.Minute

// bounds holds the range that the values of a rule may have.
type bounds struct {
	name   string
	rule   *Rule
	lo, hi float64
	below  bool
}

func (c *Config) levels() [NumLevels]bounds {
	const long = 3_600_000 // the protocol's longest time, ms
	return [NumLevels]bounds{
		levelLoss:         {"high_packet_loss", &c.HighPacketLoss, 0, 1, false},
		levelBurst:        {"loss_burst", &c.LossBurst, 0, long, false},
		levelConcealed:    {"concealed_audio", &c.ConcealedAudio, 0, 1, false},
		levelFrozen:       {"frozen_video", &c.FrozenVideo, 0, 1, false},
		levelFrameRate:    {"low_frame_rate", &c.LowFrameRate, 0, 1000, true},
		levelRTT:          {"high_round_trip_time", &c.HighRoundTripTime, 0, long, false},
		levelJitter:       {"high_jitter", &c.HighJitter, 0, long, false},
		levelJitterBuffer: {"high_jitter_buffer", &c.HighJitterBuffer, 0, long, false},
		levelBandwidth:    {"bandwidth_limited", &c.BandwidthLimited, 0, 1, false},
		levelCPU:          {"cpu_limited", &c.CPULimited, 0, 1, false},
		levelCodec:        {"busy_codec", &c.BusyCodec, 0, 1, false},
		levelDropped:      {"dropped_frames", &c.DroppedFrames, 0, 1, false},
		levelKeyFrames:    {"key_frame_storm", &c.KeyFrameStorm, 0, 1000, false},
		levelSilence:      {"silent_microphone", &c.SilentMicrophone, 0, 1, true},
	}
}

// rules returns the rules of the level detectors and of weak_wifi, which has a value too.
func (c *Config) rules() []bounds {
	list := c.levels()
	return append(list[:], bounds{"weak_wifi", &c.WeakWiFi, -200, 0, true})
}

// namedTiming is the timing of a detector without a value, and the upper limit of its times.
type namedTiming struct {
	name   string
	timing Timing
	most   time.Duration
}

func (c *Config) timings() []namedTiming {
	return []namedTiming{
		{"never_heard", c.NeverHeard, maxAfter},
		{"no_media", c.NoMedia, maxAfter},
		{"one_way_media", c.OneWayMedia, maxAfter},
		{"ice_disruption", c.ICEDisruption, maxAfter},
		{"not_played", c.NotPlayed, maxAfter},
		{"late_join", c.LateJoin, 24 * time.Hour},
	}
}

// Differing lists the keys of the detectors that two configurations set differently, in order.
func (c Config) Differing(o Config) (keys []string) {
	theirs := o.rules()
	for i, b := range c.rules() {
		if *b.rule != *theirs[i].rule {
			keys = append(keys, b.name)
		}
	}
	others := o.timings()
	for i, t := range c.timings() {
		if t.timing != others[i].timing {
			keys = append(keys, t.name)
		}
	}
	return keys
}

// Validate reports every fault, by its key.
func (c *Config) Validate() error {
	var errs []error
	for _, b := range c.rules() {
		errs = append(errs, b.validate())
	}
	for _, t := range c.timings() {
		errs = append(errs, t.timing.validate(t.name, t.most))
	}
	return errors.Join(errs...)
}

func (b bounds) validate() error {
	var errs []error
	for _, v := range []struct {
		key   string
		value float64
	}{{"raise", b.rule.Raise}, {"resolve", b.rule.Resolve}} {
		if !(v.value >= b.lo && v.value <= b.hi) {
			errs = append(errs, fmt.Errorf("%s::%s is %g, must be from %g to %g", b.name, v.key, v.value, b.lo, b.hi))
		}
	}
	switch raise, resolve := b.rule.Raise, b.rule.Resolve; {
	case b.below && resolve < raise:
		errs = append(errs, fmt.Errorf("%s::resolve (%g) must not be below raise (%g): lower is worse", b.name, resolve, raise))
	case !b.below && resolve > raise:
		errs = append(errs, fmt.Errorf("%s::resolve (%g) must not be above raise (%g)", b.name, resolve, raise))
	}
	return errors.Join(append(errs, b.rule.Timing().validate(b.name, maxAfter))...)
}

func (t Timing) validate(name string, most time.Duration) error {
	var errs []error
	for _, v := range []struct {
		key   string
		value time.Duration
	}{{"after", t.After}, {"resolve_after", t.ResolveAfter}} {
		if v.value < 0 || v.value > most {
			errs = append(errs, fmt.Errorf("%s::%s must be from 0s to %s (got %s)", name, v.key, most, v.value))
		}
	}
	return errors.Join(errs...)
}

// Rules holds the thresholds in the form that detectors use. It does not change.
type Rules struct {
	Config
	level [NumLevels]Rule
}

// NewRules returns the rules of a valid configuration.
func NewRules(c Config) *Rules {
	r := &Rules{Config: c}
	for l, b := range c.levels() {
		r.level[l] = *b.rule
	}
	return r
}

// Level returns the rule of a level detector.
func (r *Rules) Level(l Level) *Rule { return &r.level[l] }

// Timing returns the hysteresis in time of a level detector.
func (r *Rules) Timing(l Level) Timing {
	t := r.level[l].Timing()
	if l == levelSilence && !r.NeverHeard.Disabled {
		t.lead = max(0, t.After-r.NeverHeard.After)
	}
	return t
}
