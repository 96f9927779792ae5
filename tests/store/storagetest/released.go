package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// Store is the methods of engines beyond the interfaces of package storage.
type Store interface {
	storage.Writer
	storage.Reader
	DeleteBefore(ctx context.Context, before time.Time) (int, error)
}

// pack packs the conferences that ended before a second, if the engine supports it.
func (f *fixture) pack(before float64) {
	f.t.Helper()
	s, ok := f.w.(interface {
		Pack(ctx context.Context, before time.Time) (storage.Packed, error)
	})
	if !ok {
		return
	}
	_, err := s.Pack(f.t.Context(), at(before))
	require.NoError(f.t, err)
}

// startedOn returns the id of session n that started at a time (a UUID version 7).
func startedOn(n int, start time.Time) string {
	ms := start.UnixMilli()
	return fmt.Sprintf("%08x-%04x-7000-8000-%012x", ms>>16, ms&0xffff, n)
}

// WriteReleased writes records of every kind into an empty store, as a store of a
// released version may hold them. Engines have such stores in testdata, one of each schema.
func WriteReleased(t *testing.T, w storage.Writer) {
	t.Helper()
	f := &fixture{t: t, w: w}
	day := 24 * 3600.0
	f.append(call4("first", 0)...)
	f.append(renamed("first", 0))
	f.append(call4("first", day)...) // reuses the conferenceID
	f.pack(day / 2)
	f.append(call4("second", 2*day)...)
	f.append(renamed("second", 2*day))
	f.append(oddBatch(3 * day))

	// About the first call, and about a call without records.
	annotation, alone := annotation(900, 10, 500), annotation(901, 5*day, 5*day)
	annotation.ConferenceID, alone.ConferenceID = "first", "nobody"
	f.append(storage.Batch{Session: released(1, 0), Records: []storage.Record{annotation, alone}})

	for revision := 1; revision <= 2; revision++ {
		s := summary(0, 50, revision)
		s.ConferenceID, s.Document = "first", json.RawMessage(fmt.Sprintf(`{"revision":%d,"text":"Ünï"}`, revision))
		s.Digest = []byte{0, 0xff, byte(revision)}
		f.put(s)
	}
	writeReleasedSettings(t, w)
}

// releasedKind is the kind of settings in released stores that have settings.
const releasedKind = "released"

func writeReleasedSettings(t *testing.T, w storage.Writer) {
	t.Helper()
	settings, ok := w.(storage.Settings)
	if !ok {
		return
	}
	for i, id := range []string{"a", "b\x00\xff"} {
		_, err := settings.PutSetting(t.Context(), storage.Setting{Kind: releasedKind, ID: id, ChangedAt: at(float64(i)), Body: []byte(`{"text":"Ünï"}`)})
		require.NoError(t, err)
	}
}

func released(n int, second float64) storage.Session {
	return storage.Session{
		ID: startedOn(n, at(second)), AppID: app, UserID: fmt.Sprint("user ", n), UserAlias: fmt.Sprint("alias ", n),
		Details: map[string]string{"user_agent.original": "browser", "qos.site.id": "hq"},
	}
}

// call4 returns a call of four participants: frames of three rows, 10 s apart. The id of one session has the time
// 1970, and one session sends the rows of a frame in two parts.
func call4(conferenceID string, second float64) (out []storage.Batch) {
	for n := 1; n <= 4; n++ {
		b := storage.Batch{Session: released(n, second)}
		if n == 3 {
			b.Session.ID = startedOn(int(second)+n, time.UnixMilli(0))
		}
		for seq := uint64(1); seq <= 6; seq++ {
			for index := range 3 {
				r := activity(seq, index, second+float64(seq-1)*10)
				r.ConferenceID, r.ConferenceAt = conferenceID, at(second)
				r.Attributes["qos.stats.rtt_ms"] = float64(n)*1.5 + float64(index)/3
				b.Records = append(b.Records, r)
			}
		}
		if n == 4 {
			cut := 7 // within a frame
			out = append(out, storage.Batch{Session: b.Session, Records: b.Records[cut:]})
			b.Records = b.Records[:cut]
		}
		out = append(out, b)
	}
	return out
}

// renamed returns the new names that the first participant of a call4 recorded, of itself and of another.
func renamed(conferenceID string, second float64) storage.Batch {
	b := storage.Batch{Session: released(1, second), Records: []storage.Record{
		fabricEvent(7, second+50, "userIDChange", `{"userIDType":"local","newUserID":{"userName":"Renamed Ünï","aliasName":"renamed"}}`),
		fabricEvent(8, second+50, "userIDChange", `{"userIDType":"remote","newUserID":"not renamed"}`),
	}}
	for i := range b.Records {
		b.Records[i].ConferenceID, b.Records[i].ConferenceAt = conferenceID, at(second)
	}
	return b
}

// oddBatch returns a session with bytes that are not UTF-8, values at their limits and gaps in the
// numbers.
func oddBatch(second float64) storage.Batch {
	odd := "a\x00b\xff"
	b := storage.Batch{Session: released(9, second)}
	b.Session.AppID, b.Session.UserID = odd, odd
	for i, seq := range []uint64{1, 1 << 53, math.MaxInt64} {
		r := activity(seq, i, second+float64(i))
		r.ConferenceID, r.Name, r.Index = odd, odd+"name", []int{0, 1, math.MaxInt32}[i]
		r.Attributes = values()
		r.Attributes["big"] = strings.Repeat("big ", 300)
		b.Records = append(b.Records, r)
	}
	return b
}

// Contents returns everything in a store as JSON, the oldest conference first. Texts are
// quoted as in Go and values have their type, which JSON would not preserve.
func Contents(t *testing.T, r storage.Reader) []byte {
	t.Helper()
	f := &fixture{t: t, r: r}
	var out []content
	for _, c := range f.all() {
		ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}
		c, err := r.Conference(t.Context(), ref) // with its document
		require.NoError(t, err)
		got := content{App: strconv.Quote(c.AppID), Conference: strconv.Quote(c.ConferenceID), Start: c.Start, End: c.End, Summary: c.Summary}
		for _, p := range c.Participants {
			got.Participants = append(got.Participants, fmt.Sprintf("%q", p.Session))
		}
		for _, r := range f.records(ref) {
			got.Records = append(got.Records, line(r))
		}
		out = append(out, got)
	}
	if settings := settingsOf(t, r); settings != nil {
		out = append(out, content{Settings: settings})
	}
	text, err := json.MarshalIndent(out, "", " ")
	require.NoError(t, err)
	return append(text, '\n')
}

type content struct {
	App, Conference string
	Start, End      time.Time
	Summary         *storage.Summary
	Participants    []string
	Records         []string
	Settings        []string `json:",omitempty"` // independent of conferences
}

// settingsOf returns the settings of a store as lines.
func settingsOf(t *testing.T, r storage.Reader) (out []string) {
	t.Helper()
	settings, ok := r.(storage.Settings)
	if !ok {
		return nil
	}
	changes, err := settings.SettingsSince(t.Context(), releasedKind, 0)
	require.NoError(t, err)
	for _, s := range changes.Changed {
		out = append(out, fmt.Sprintf("%q %d %s %q", s.ID, s.Revision, s.ChangedAt, s.Body))
	}
	return out
}

// line returns a record as one line, its attributes in order.
func line(r read) string {
	attributes := make([]string, 0, len(r.record.Attributes))
	for k, v := range r.record.Attributes {
		text := fmt.Sprintf("%T %v", v, v)
		if s, ok := v.(string); ok {
			text = strconv.Quote(s)
		}
		attributes = append(attributes, strconv.Quote(k)+": "+text)
	}
	slices.Sort(attributes)
	r.record.Attributes = nil
	return fmt.Sprintf("%s %q %s", r.session, fmt.Sprint(r.record), strings.Join(attributes, ", "))
}

// all returns all conferences, the oldest first.
func (f *fixture) all() (out []storage.Conference) {
	f.t.Helper()
	for q := (storage.Query{}); ; {
		page := f.list(q)
		out = append(out, page.Conferences...)
		if q.Before = page.Next; q.Before == (storage.Cursor{}) {
			slices.Reverse(out)
			return out
		}
	}
}

// batches returns all records of a store as batches.
func (f *fixture) batches() (out []storage.Batch, records int) {
	f.t.Helper()
	for _, c := range f.all() {
		who := map[string]storage.Session{}
		for _, p := range c.Participants {
			who[p.Session.ID] = p.Session
		}
		for _, r := range f.records(storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}) {
			out = append(out, storage.Batch{Session: who[r.session], Records: []storage.Record{r.record}})
			records++
		}
	}
	return out, records
}

// RunReleased tests a store that a released version wrote, by this or an earlier version of
// WriteReleased, and that the current code has opened: its contents are unchanged (golden is its
// Contents by the code that wrote it), late duplicates are recognised, new records
// join its conferences, and retention deletes them.
func RunReleased(t *testing.T, s Store, golden []byte) {
	t.Helper()
	f := &fixture{t: t, w: s, r: s}
	runReleasedSettings(t, s)
	require.Equal(t, string(golden), string(Contents(t, s)))
	f.pack(36 * 3600)
	require.Equal(t, string(golden), string(Contents(t, s)), "after packing")
	f.findsReleased()

	batches, records := f.batches()
	require.Positive(t, records)
	require.Equal(t, storage.Appended{Duplicates: records}, f.append(batches...))
	require.Equal(t, string(golden), string(Contents(t, s)), "after the duplicates")

	before := f.all()
	next := batches[0]
	next.Records = []storage.Record{next.Records[0], next.Records[0]}
	next.Records[1].Seq = 5000
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.append(next))
	newer := activity(1, 0, 30*24*3600)
	require.Equal(t, storage.Appended{New: 1}, f.append(batch(70, newer)))
	require.Len(t, f.all(), len(before)+1)

	last := before[len(before)-1].End
	n, err := s.DeleteBefore(t.Context(), before[0].End.Add(time.Millisecond))
	require.NoError(t, err)
	require.Equal(t, 1, n, "the oldest")
	require.Len(t, f.all(), len(before))
	n, err = s.DeleteBefore(t.Context(), last.Add(time.Millisecond))
	require.NoError(t, err)
	require.Equal(t, len(before)-1, n, "all but the new one")
	require.Equal(t, []read{{sessionID(70), newer}}, f.records(storage.Ref{AppID: app, ConferenceID: call, At: newer.At}))
	require.Equal(t, storage.Appended{New: records}, f.append(batches...), "what was deleted may come again")
}

// findsReleased requires that searches find records of an older version after packing.
func (f *fixture) findsReleased() {
	f.t.Helper()
	sites, users := 0, 0
	for _, c := range f.all() {
		here := func(s storage.Session) bool { return s.Details[siteID] == "hq" }
		if slices.ContainsFunc(c.Participants, func(p storage.Participant) bool { return here(p.Session) }) {
			sites++
		}
		if slices.ContainsFunc(c.Participants, func(p storage.Participant) bool { return p.Session.UserID == "user 1" }) {
			users++
		}
	}
	require.Positive(f.t, users)
	f.renamesReleased()
	require.Len(f.t, f.list(storage.Query{SiteID: "hq"}).Conferences, sites)
	require.Len(f.t, f.list(storage.Query{UserID: "user 1"}).Conferences, users)
}

// renamesReleased requires that packing found the renames in records of an older version.
func (f *fixture) renamesReleased() {
	f.t.Helper()
	for _, c := range f.all() {
		want := map[string][]storage.Name{}
		for _, r := range f.records(storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}) {
			if data, _ := r.record.Attributes[eventData].(string); strings.Contains(data, "Renamed Ünï") {
				want[r.session] = []storage.Name{{UserID: "Renamed Ünï", UserAlias: "renamed"}}
			}
		}
		for _, p := range c.Participants {
			require.Equal(f.t, want[p.Session.ID], p.Renames)
		}
	}
}

// runReleasedSettings requires that settings can be stored, whether or not there were any.
func runReleasedSettings(t *testing.T, s Store) {
	t.Helper()
	settings, ok := s.(storage.Settings)
	require.True(t, ok)
	f := &settingsFixture{t: t, s: settings}
	before := f.revision()
	made := f.put(setting("new", 0, "1"))
	require.Equal(t, before+1, made.Revision)
	require.Equal(t, storage.SettingsChanges{Revision: made.Revision, Changed: []storage.Setting{made}, Total: 1}, f.since(0))
}
