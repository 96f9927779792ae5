package records

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
)

// Each calls yield for each record of the conference at ref that is an event of it, in the
// store's order, until yield returns false. People are the conference's participants. What it
// gives to yield is overwritten by the next. Errors are those of storage.Reader.Records.
func Each(ctx context.Context, reader storage.Reader, ref storage.Ref, people []storage.Participant, yield func(*conference.Event) bool) error {
	sessions := make(map[string]*storage.Session, len(people))
	for i := range people {
		sessions[people[i].Session.ID] = &people[i].Session
	}
	return reader.Records(ctx, ref, func(session string, r storage.Record) bool {
		e, ok := recall(ref.AppID, session, sessions[session], &r)
		return !ok || yield(&e)
	})
}

// recall is the event that a stored record was when it passed through the pipeline.
func recall(appID, session string, from *storage.Session, r *storage.Record) (e conference.Event, ok bool) {
	if e.Kind = kinds[r.Name]; e.Kind == 0 {
		return e, false
	}
	record := plog.NewLogRecord()
	attrs := record.Attributes()
	if err := attrs.FromRaw(r.Attributes); err != nil {
		return e, false
	}
	readScope(&e, attrs)
	e.AppID, e.Session = appID, session
	if from != nil {
		e.UserID, e.Alias = from.UserID, from.UserAlias
	}
	e.ConferenceID, e.ConferenceAtMs, e.Fabric = r.ConferenceID, r.ConferenceAt.UnixMilli(), r.Fabric
	attrs.PutInt(semconv.FrameSeq, int64(r.Seq)) // at most 2^53-1
	attrs.PutInt(semconv.FrameIndex, int64(r.Index))
	record.SetTimestamp(pcommon.NewTimestampFromTime(r.At))
	return readRecord(e, record), true
}

// ErrTooMany says that a conference has more records than were asked for.
var ErrTooMany = errors.New("too many records")

// Fold applies the stored records of the conference at ref to c, at most limit of them. It
// returns how many there were. An error that wraps storage.ErrDamaged says that some could
// not be read and all others were applied; after any other a part was.
func Fold(ctx context.Context, reader storage.Reader, ref storage.Ref, people []storage.Participant, limit int, c *conference.Conference) (n int, err error) {
	err = Each(ctx, reader, ref, people, func(e *conference.Event) bool {
		if n++; n > limit {
			return false
		}
		c.Apply(e)
		return ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return n, ctx.Err()
	case n > limit:
		return n, fmt.Errorf("%w: more than %d", ErrTooMany, limit)
	}
	return n, err
}
