package readapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventrow"
	"github.com/qosrtc/qos/storage"
)

// maxTail bounds the measurements of one tail. A page that needs more reads the whole conference.
const maxTail = 20_000

// tail is the measurements of a conference from a time on. A page replaces what it has from that time on by them. All other
// records are counted only: they may change names, the time-line and what is masked, so the page reads the conference again.
type tail struct {
	At         int64         `json:"at"`                // time of the answer, in ms since the Unix epoch
	From       int64         `json:"from"`              // start of the measurements, in ms since the Unix epoch
	Conference conferenceRow `json:"conference"`        // the row of the conference, as of /api/conference
	Streams    []*stream     `json:"streams"`           // measurements from that time on
	Measures   []measure     `json:"measures" mask:"-"` // units and meanings of the values in latest of the streams
	Others     int           `json:"others"`            // records that are no measurements
	Incomplete bool          `json:"incomplete"`        // there are more streams or measurements than these
	Damaged    bool          `json:"damaged,omitempty"` // some of it cannot be read, and is not here
}

// tail answers with the newest measurements of a conference.
func (a *API) tail(ctx context.Context, r *http.Request) (any, error) {
	parameters := readParameters(r)
	ref, err := parameters.ref()
	if err != nil {
		return nil, err
	}
	from := parameters.time("from")
	parameters.required("from")
	if parameters.err != nil {
		return nil, parameters.err
	}
	view := a.view(ctx)
	c, _, err := a.audited(ctx, ref, view.scope) // a tail has nothing of the document
	if err != nil {
		return nil, err
	}
	t := &tail{At: a.now().UnixMilli(), From: from.UnixMilli(), Conference: view.row(c, a.now())}
	if err := a.readTail(ctx, ref, &c, t, view.names); err != nil {
		return nil, err
	}
	view.masks.answer(t)
	return t, nil
}

func (a *API) readTail(ctx context.Context, ref storage.Ref, c *storage.Conference, t *tail, n names) error {
	all, measurements := newStreams(n), 0
	err := eventrow.EachRecordFrom(ctx, a.reader, ref, time.UnixMilli(t.From), c.Participants, func(e *event.Event, r *storage.Record) bool {
		n.note(e)
		if e.Kind != event.KindStats {
			t.Others++
			return true
		}
		if measurements++; measurements > maxTail {
			t.Incomplete = true
			return false
		}
		all.add(e, r)
		return ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, storage.ErrDamaged) {
		a.tellDamage(ctx, ref, err)
		t.Damaged = true
	} else if err != nil {
		return err
	}
	t.Streams = all.list(nil)
	t.Incomplete = t.Incomplete || all.leftOut > 0
	t.Measures = measuresOf(t.Streams)
	return nil
}
