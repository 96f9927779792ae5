package eventrow

import (
	"context"
	"time"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// Each calls yield for each event of the conference at ref, in the store's order, until yield
// returns false. It omits parts of SDPs. people MUST be the conference's participants. The next
// event overwrites the event and its measurement. Errors are those of storage.Reader.Records.
func Each(ctx context.Context, reader storage.Reader, ref storage.Ref, people []storage.Participant, yield func(*event.Event) bool) error {
	return EachRecord(ctx, reader, ref, people, func(e *event.Event, _ *storage.Record) bool {
		return e.Kind == event.KindSDP || yield(e)
	})
}

// EachRecord is Each with the record of each event, and includes parts of SDPs.
func EachRecord(ctx context.Context, reader storage.Reader, ref storage.Ref, people []storage.Participant, yield func(*event.Event, *storage.Record) bool) error {
	return reader.Records(ctx, ref, eventsOf(ref, people, yield))
}

// EachRecordFrom is EachRecord for the records that are not before from.
func EachRecordFrom(ctx context.Context, reader storage.Reader, ref storage.Ref, from time.Time, people []storage.Participant, yield func(*event.Event, *storage.Record) bool) error {
	return reader.RecordsFrom(ctx, ref, from, eventsOf(ref, people, yield))
}

// eventsOf calls yield for the records that are events.
func eventsOf(ref storage.Ref, people []storage.Participant, yield func(*event.Event, *storage.Record) bool) func(string, storage.Record) bool {
	sessions := make(map[string]*storage.Session, len(people))
	for i := range people {
		sessions[people[i].Session.ID] = &people[i].Session
	}
	var m event.Measurement
	return func(session string, r storage.Record) bool {
		e, ok := Read(&r, &m)
		if !ok {
			return true
		}
		e.AppID, e.Session = ref.AppID, session
		if from := sessions[session]; from != nil {
			e.UserID, e.Alias, e.Client = from.UserID, from.UserAlias, client(from)
		}
		return yield(&e, &r)
	}
}

func client(s *storage.Session) *event.Client {
	return &event.Client{
		SiteID: s.Details[semconv.SiteID], ApplicationVersion: s.Details[semconv.ApplicationVersion], UserAgent: s.Details[semconv.UserAgent],
	}
}
