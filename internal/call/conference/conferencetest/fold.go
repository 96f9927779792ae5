package conferencetest

import (
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

// Fold returns the summary of one conference from its events, in any order and with any repetition. The caller selects the
// events by package instance.
func Fold(events []event.Event, labels quality.Bounds) conference.Summary {
	if len(events) == 0 {
		return conference.New("", "", nil, labels).Summary(labels)
	}
	c := conference.New(events[0].AppID, events[0].ConferenceID, nil, labels)
	for i := range events {
		c.Apply(&events[i])
	}
	return c.Summary(labels)
}
