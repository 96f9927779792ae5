package readapi

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// call is one conference of a memory store.
type call struct {
	storage.Conference
	records []sessionRecord
}

type sessionRecord struct {
	session string
	storage.Record
}

// memory is a storage extension and its reader, over calls in any order.
type memory struct {
	calls   []*call
	err     error
	damaged error     // what Records returns after all that it can read
	at      time.Time // the dashboard's clock is stopped there; zero: it runs

	unattached      storage.UnattachedPage
	unattachedQuery storage.UnattachedQuery // the last
	preCalls        []storage.PreCall
}

func (m *memory) Start(context.Context, component.Host) error { return nil }
func (m *memory) Shutdown(context.Context) error              { return nil }
func (m *memory) Reader() storage.Reader                      { return m }
func (m *memory) Follower() storage.Follower                  { return m }
func (m *memory) clock() time.Time                            { return m.at }

// Follow says nothing but that nothing was said before.
func (m *memory) Follow(ctx context.Context, _ storage.Filter, yield func(storage.Change) bool) error {
	if yield(storage.Change{CatchUp: true}) {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (m *memory) Conferences(_ context.Context, q storage.Query) (storage.Page, error) {
	if m.err != nil {
		return storage.Page{}, m.err
	}
	sorted := slices.Clone(m.calls)
	slices.SortFunc(sorted, func(a, b *call) int { return b.Start.Compare(a.Start) })
	var page storage.Page
	for i, c := range sorted {
		key := int64(len(sorted) - i)
		if !matches(q, c.Conference) || (!q.Before.Start.IsZero() && key >= q.Before.Key) {
			continue
		}
		if len(page.Conferences) == q.Limit {
			last := page.Conferences[len(page.Conferences)-1]
			page.Next = storage.Cursor{Start: last.Start, Key: key + 1}
			break
		}
		page.Conferences = append(page.Conferences, c.Conference)
		page.Cursors = append(page.Cursors, storage.Cursor{Start: c.Start, Key: key})
	}
	return page, nil
}

func matches(q storage.Query, c storage.Conference) bool {
	return (q.AppID == "" || q.AppID == c.AppID) &&
		(q.ConferenceID == "" || q.ConferenceID == c.ConferenceID) &&
		(q.Outcome == "" || (c.Summary != nil && q.Outcome == c.Summary.Outcome)) &&
		(q.From.IsZero() || !c.End.Before(q.From)) &&
		(q.To.IsZero() || c.Start.Before(q.To))
}

func (m *memory) find(ref storage.Ref) (*call, error) {
	if m.err != nil {
		return nil, m.err
	}
	for _, c := range m.calls {
		span := instance.Span{Start: c.Start.UnixMilli(), End: c.End.UnixMilli()}
		if c.AppID == ref.AppID && c.ConferenceID == ref.ConferenceID && span.Contains(ref.At.UnixMilli()) {
			return c, nil
		}
	}
	return nil, storage.ErrNotFound
}

func (m *memory) Conference(_ context.Context, ref storage.Ref) (storage.Conference, error) {
	c, err := m.find(ref)
	if err != nil {
		return storage.Conference{}, err
	}
	return c.Conference, nil
}

func (m *memory) CountParticipants(ctx context.Context, ref storage.Ref) (int, error) {
	c, err := m.Conference(ctx, ref)
	return len(c.Participants), err
}

func (m *memory) Records(_ context.Context, ref storage.Ref, yield func(string, storage.Record) bool) error {
	c, err := m.find(ref)
	if err != nil {
		return err
	}
	slices.SortFunc(c.records, func(a, b sessionRecord) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.session, b.session), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Index, b.Index))
	})
	for _, r := range c.records {
		if !yield(r.session, r.Record) {
			return nil
		}
	}
	return m.damaged
}

func (m *memory) RecordsFrom(ctx context.Context, ref storage.Ref, from time.Time, yield func(string, storage.Record) bool) error {
	return m.Records(ctx, ref, func(session string, r storage.Record) bool { return r.At.Before(from) || yield(session, r) })
}

func (m *memory) Hours(context.Context, time.Time, time.Time, func(time.Time, []byte) bool) error {
	return nil
}

func (m *memory) Digests(_ context.Context, q storage.DigestQuery, yield func(storage.Digest) bool) error {
	sorted := slices.Clone(m.calls)
	slices.SortStableFunc(sorted, func(a, b *call) int { return a.Start.Compare(b.Start) })
	for _, c := range sorted {
		if q.AppID != "" && q.AppID != c.AppID || c.Start.Before(q.From) || !q.To.IsZero() && !c.Start.Before(q.To) {
			continue
		}
		d := storage.Digest{AppID: c.AppID, Start: c.Start, End: c.End}
		if c.Summary != nil {
			d.Body = c.Summary.Digest
		}
		if !yield(d) {
			break
		}
	}
	return m.err
}

func (m *memory) PreCalls(context.Context, storage.PreCallQuery) (storage.PreCallPage, error) {
	return storage.PreCallPage{PreCalls: m.preCalls}, nil
}

func (m *memory) Unattached(_ context.Context, q storage.UnattachedQuery) (storage.UnattachedPage, error) {
	m.unattachedQuery = q
	return m.unattached, m.err
}

// newCall starts a conference of the app demo.
func (m *memory) newCall(id string, start time.Time) *call {
	c := &call{Conference: storage.Conference{AppID: "demo", ConferenceID: id, Start: start, End: start}}
	m.calls = append(m.calls, c)
	return c
}

func (c *call) join(session, userID, alias string, details map[string]string) {
	c.Participants = append(c.Participants, storage.Participant{Session: storage.Session{
		ID: session, AppID: c.AppID, UserID: userID, UserAlias: alias, Details: details,
	}})
}

// record adds a record; everything but a feedback, an error or a log extends the call.
func (c *call) record(session string, fabric int, at time.Time, name string, attrs map[string]any) {
	c.records = append(c.records, sessionRecord{session, storage.Record{
		Seq: uint64(len(c.records) + 1), ConferenceID: c.ConferenceID, ConferenceAt: c.Start, Fabric: fabric,
		Name: name, At: at, ObservedAt: at, Attributes: attrs,
	}})
	if at.After(c.End) && (name == semconv.EventStats || name == semconv.EventEvent) {
		c.End = at
	}
}

func (c *call) event(session string, fabric int, at time.Time, name, data string) {
	attrs := map[string]any{semconv.EventName: name}
	if data != "" {
		attrs[semconv.EventData] = data
	}
	c.record(session, fabric, at, semconv.EventEvent, attrs)
}

// stats adds one row of fabric 1; measures go by their column names.
func (c *call) stats(session string, at time.Time, statsType, media string, measures map[string]any) {
	attrs := map[string]any{semconv.StatsType: statsType, semconv.IntervalMs: 5000.0}
	if media != "" {
		attrs[semconv.MediaType] = media
	}
	for name, v := range measures {
		if attr := eventtest.Stats(name); attr != "" {
			name = attr
		}
		attrs[name] = v
	}
	c.record(session, 1, at, semconv.EventStats, attrs)
}
