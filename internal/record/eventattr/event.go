package eventattr

import (
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Source is the attributes of a record.
type Source interface {
	// Get returns the value of an attribute, with type Missing where there is none.
	Get(name string) Attr
}

var kinds = map[string]event.Kind{
	semconv.EventStats:    event.KindStats,
	semconv.EventEvent:    event.KindEvent,
	semconv.EventError:    event.KindError,
	semconv.EventFeedback: event.KindFeedback,
	semconv.EventLog:      event.KindLog,
	semconv.EventSkip:     event.KindSkip,
	semconv.EventSDP:      event.KindSDP,
}

// KindOf returns the kind of a record with that event name, 0 if no conference has such records.
func KindOf(name string) event.Kind { return kinds[name] }

// ReadScope reads the common attributes of the records of a fabric, without its number and its conference.
func ReadScope(e *event.Event, from Source) {
	e.Usage = from.Get(semconv.FabricUsage).Str()
	e.RemoteUser = from.Get(semconv.RemoteUserID).Str()
	e.RemoteAlias = from.Get(semconv.RemoteUserAlias).Str()
	e.RemoteType = from.Get(semconv.RemoteEndpointType).Str()
	e.Direction = from.Get(semconv.FabricDirection).Str()
}

// ReadDetails reads the attributes of a record that is no measurement, by the event's kind.
func ReadDetails(e *event.Event, from Source) {
	corrected := from.Get(semconv.TimeCorrected)
	e.TimeCorrected = corrected.Type == Bool && corrected.Bool
	switch e.Kind {
	case event.KindEvent:
		e.Name, e.Text = from.Get(semconv.EventName).Str(), from.Get(semconv.EventData).Text
		e.Data = event.ParseData(e.Name, []byte(e.Text))
	case event.KindError:
		e.Function, e.Error = from.Get(semconv.ErrorFunction).Str(), readError(from)
	case event.KindFeedback:
		e.Feedback = readFeedback(from)
	case event.KindLog:
		e.Text = from.Get(semconv.LogText).Str()
	case event.KindSkip:
		e.Lost = event.Lost{Stats: lost(from.Get(semconv.SkipStats)), Events: lost(from.Get(semconv.SkipEvents))}
	case event.KindSDP:
		e.SDP = readSDPPart(from)
	case event.KindStats: // read by Row.Put
	}
}

func readSDPPart(from Source) *event.SDPPart {
	part := &event.SDPPart{
		Error: uint64(max(0, from.Get(semconv.SDPError).whole())), Field: from.Get(semconv.SDPField).Str(), // not negative
		Offset: from.Get(semconv.SDPOffset).whole(), Bytes: from.Get(semconv.SDPBytes).whole(), Text: from.Get(semconv.SDPText).Str(),
	}
	if part.Bytes <= 0 {
		part.Bytes = int64(len(part.Text))
	}
	return part
}

func readError(from Source) *event.Error {
	return &event.Error{
		Name: from.Get(semconv.ErrorName).Str(), Message: from.Get(semconv.ErrorMessage).Str(), Code: from.Get(semconv.ErrorCode).Str(),
		ConstraintName: from.Get(semconv.ErrorConstraintName).Str(), Stack: from.Get(semconv.ErrorStack).Str(),
		Details:  from.Get(semconv.ErrorDetails).Str(),
		LocalSDP: from.Get(semconv.ErrorLocalSDP).Str(), RemoteSDP: from.Get(semconv.ErrorRemoteSDP).Str(),
		LocalSDPBytes: from.Get(semconv.ErrorLocalSDPBytes).whole(), RemoteSDPBytes: from.Get(semconv.ErrorRemoteSDPBytes).whole(),
	}
}

// readFeedback copies texts, since a conference keeps them.
func readFeedback(from Source) *event.Feedback {
	text := func(name string) string { return strings.Clone(from.Get(name).Str()) }
	return &event.Feedback{
		UserID: text(semconv.FeedbackUserID), Alias: text(semconv.FeedbackUserAlias), Claimed: text(semconv.FeedbackUserClaimed),
		Overall: rating(from.Get(semconv.FeedbackOverall)), Audio: rating(from.Get(semconv.FeedbackAudio)),
		Video: rating(from.Get(semconv.FeedbackVideo)), Screen: rating(from.Get(semconv.FeedbackScreen)),
		Comment: text(semconv.FeedbackComment),
	}
}

// maxLost bounds the counts of one skip, far above the length of any client's queue.
const maxLost = 1 << 30

func lost(a Attr) int { return int(min(max(0, a.whole()), maxLost)) }

func rating(a Attr) *int {
	v := int(a.whole())
	if v < 1 || v > 5 {
		return nil
	}
	return &v
}
