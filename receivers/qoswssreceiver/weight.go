package qoswssreceiver

import (
	"time"

	"github.com/qosrtc/qos/protocol"
)

// recordsOfAMessage is how many records of a measurement count as a message. They cost the collector as much as one to two short
// messages.
const recordsOfAMessage = 8

// weight is for how many messages a frame counts. Each entry of a skip may be about another conference.
func weight(frame protocol.Frame) int {
	switch f := frame.(type) {
	case *protocol.Stats:
		return 1 + len(f.Records)/recordsOfAMessage
	case *protocol.Skip:
		return max(1, len(f.Lost))
	}
	return 1
}

// weighed counts a frame that was taken as the messages that it stands for beside itself. They are paid for later,
// like announcements: what was sent is taken.
func (s *session) weighed(frame protocol.Frame, now time.Time) {
	messages := weight(frame)
	s.batchMessages += messages
	more := messages - 1
	if more == 0 {
		return
	}
	if !s.patient {
		s.pace.frames -= float64(more)
	}
	s.pace.unpaid += more * messageBytes
	s.pay(now)
}
