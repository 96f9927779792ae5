package qoswssreceiver

import (
	"time"

	"github.com/qosrtc/qos/protocol"
)

// recordsOfAMessage is the number of records of a measurement that count as one message. They cost the collector as
// much as one or two short messages.
const recordsOfAMessage = 8

// weight returns the number of messages that a frame counts as. Each entry of a skip may be about another conference.
func weight(frame protocol.Frame) int {
	switch f := frame.(type) {
	case *protocol.Stats:
		return 1 + len(f.Records)/recordsOfAMessage
	case *protocol.Skip:
		return max(1, len(f.Lost))
	}
	return 1
}

// chargeWeight counts an accepted frame as several messages by its weight. The messages beside the frame itself are
// charged later, like announcements: they are accepted because they have been sent.
func (s *session) chargeWeight(frame protocol.Frame, now time.Time) {
	messages := weight(frame)
	s.batchMessages += messages
	more := messages - 1
	if more == 0 {
		return
	}
	if !s.isPost {
		s.pace.frames -= float64(more)
	}
	s.pace.unpaid += more * messageBytes
	s.pay(now)
}
