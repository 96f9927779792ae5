package recommend

import (
	"encoding/json"
	"fmt"

	"github.com/qosrtc/qos/protocol"
)

// videoStep is the largest video for a throughput.
type videoStep struct {
	below         float64 // bit/s, exclusive
	width, height int     // 0: no video
	frameRate     int
}

// videoSteps are in ascending order. At the lower bound of each, audio and video of its size need at most 80 % of the
// throughput; the rest is for bursts, retransmissions and errors of the measurement.
var videoSteps = []videoStep{
	{below: 150_000},
	{below: 500_000, width: 320, height: 180, frameRate: 15},
	{below: 1_000_000, width: 640, height: 360, frameRate: 30},
	{below: 2_500_000, width: 1280, height: 720, frameRate: 30},
}

// video recommends constraints for the throughput of the test. They never exceed the default.
func (c *change) video(test *protocol.TestResult) {
	if test == nil || test.ThroughputBps == nil {
		return
	}
	for i := range videoSteps {
		if *test.ThroughputBps < videoSteps[i].below {
			c.limit(&videoSteps[i], *test.ThroughputBps)
			return
		}
	}
}

func (c *change) limit(s *videoStep, bps float64) {
	video, present := c.media["video"]
	if present && (string(video) == "false" || string(video) == "null") {
		return
	}
	if !present && len(c.media) > 0 {
		return // the application requests audio only
	}
	if len(c.media) == 0 {
		c.media.set("audio", true)
	}
	if s.width == 0 && !c.requestsAudio() {
		s = &videoSteps[1] // a call needs audio or video
	}
	measured := fmt.Sprintf("the pre-call test measured %.0f kbit/s, ", bps/1000)
	if s.width == 0 {
		c.media.set("video", false)
		c.addReason(memberVideo, CodeThroughput, measured+"which suffices for audio only")
		return
	}
	constraints := members(video)
	if constraints["mandatory"] != nil || constraints["optional"] != nil {
		return // Chromium rejects other members together with these
	}
	changed := lower(constraints, "width", s.width)
	changed = lower(constraints, "height", s.height) || changed
	changed = lower(constraints, "frameRate", s.frameRate) || changed
	if !changed {
		return
	}
	c.media["video"] = constraints.json()
	c.addReason(memberVideo, CodeThroughput, fmt.Sprintf("%swhich suffices for %dx%d at %d frames per second", measured, s.width, s.height, s.frameRate))
}

// requestsAudio reports whether the application requests audio.
func (c *change) requestsAudio() bool { return c.media.requests("audio") }

func (o object) requests(kind string) bool {
	text := string(o[kind])
	return text != "" && text != "false" && text != "null"
}

// Asks reports whether MediaStreamConstraints request audio or video: getUserMedia rejects others.
func Asks(media json.RawMessage) bool {
	o := members(media)
	return o.requests("audio") || o.requests("video")
}

// lower sets a constraint unless the default requests no more, and reports whether it did. A browser does not
// reject a camera because of an ideal value.
func lower(constraints object, name string, most int) bool {
	if have, ok := requestedNumber(constraints[name]); ok && have <= float64(most) {
		return false
	}
	constraints.set(name, map[string]int{"ideal": most})
	return true
}

// requestedNumber returns the number of a constraint: itself, or its exact, ideal or max value.
func requestedNumber(raw json.RawMessage) (number float64, ok bool) {
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
