package recommend

import (
	"encoding/json"
	"fmt"

	"github.com/qosrtc/qos/protocol"
)

// step is the video that a throughput suffices for.
type step struct {
	below         float64 // bit/s, exclusive
	width, height int     // 0: no video
	frameRate     int
}

// steps are in ascending order. At the lower bound of each, audio and video of its size need at most 80 % of the
// throughput; the rest is for bursts, retransmissions and what the measurement missed.
var steps = []step{ //nolint:gochecknoglobals // a constant
	{below: 150_000},
	{below: 500_000, width: 320, height: 180, frameRate: 15},
	{below: 1_000_000, width: 640, height: 360, frameRate: 30},
	{below: 2_500_000, width: 1280, height: 720, frameRate: 30},
}

// video recommends constraints that fit the throughput of the test. They never ask for more than the default.
func (c *change) video(test *protocol.TestResult) {
	if test == nil || test.ThroughputBps == nil {
		return
	}
	for i := range steps {
		if *test.ThroughputBps < steps[i].below {
			c.limit(&steps[i], *test.ThroughputBps)
			return
		}
	}
}

func (c *change) limit(s *step, bps float64) {
	video, there := c.media["video"]
	if there && (string(video) == "false" || string(video) == "null") {
		return
	}
	if !there && len(c.media) > 0 {
		return // the application asks for audio only
	}
	if len(c.media) == 0 {
		c.media.set("audio", true)
	}
	if s.width == 0 && !c.hears() {
		s = &steps[1] // a call without audio and video is none
	}
	measured := fmt.Sprintf("the pre-call test measured %.0f kbit/s, ", bps/1000)
	if s.width == 0 {
		c.media.set("video", false)
		c.because(memberVideo, CodeThroughput, measured+"which suffices for audio only")
		return
	}
	constraints := members(video)
	if constraints["mandatory"] != nil || constraints["optional"] != nil {
		return // Chromium refuses others beside these
	}
	changed := lower(constraints, "width", s.width)
	changed = lower(constraints, "height", s.height) || changed
	changed = lower(constraints, "frameRate", s.frameRate) || changed
	if !changed {
		return
	}
	c.media["video"] = constraints.json()
	c.because(memberVideo, CodeThroughput, fmt.Sprintf("%swhich suffices for %dx%d at %d frames per second", measured, s.width, s.height, s.frameRate))
}

// hears reports whether the application asks for audio.
func (c *change) hears() bool { return c.media.asksFor("audio") }

func (o object) asksFor(kind string) bool {
	text := string(o[kind])
	return text != "" && text != "false" && text != "null"
}

// Asks reports whether MediaStreamConstraints ask for audio or video: getUserMedia refuses others.
func Asks(media json.RawMessage) bool {
	o := members(media)
	return o.asksFor("audio") || o.asksFor("video")
}

// lower sets a constraint unless the default asks for no more, and reports whether it did. An ideal value is
// never a reason for a browser to refuse a camera.
func lower(constraints object, name string, most int) bool {
	if asked, ok := asks(constraints[name]); ok && asked <= float64(most) {
		return false
	}
	constraints.set(name, map[string]int{"ideal": most})
	return true
}

// asks returns the number that a constraint asks for: itself, or its exact, ideal or max value.
func asks(raw json.RawMessage) (number float64, ok bool) {
	if json.Unmarshal(raw, &number) == nil && string(raw) != "null" {
		return number, true
	}
	var c struct{ Exact, Max, Ideal *float64 }
	if json.Unmarshal(raw, &c) != nil {
		return 0, false
	}
	for _, n := range []*float64{c.Exact, c.Ideal, c.Max} {
		if n != nil {
			return *n, true
		}
	}
	return 0, false
}
