//go:build !fuzz

package readapi

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadatatest"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// lossyCall began a minute before now. Alice loses a fifth of what Bob sends since half a
// minute.
func lossyCall(m *memory, now time.Time) *call {
	c := m.newCall("lossy", now.Add(-time.Minute).Truncate(time.Millisecond))
	c.join(alice, "Alice Archer", "a-1", nil)
	c.join(bob, "Robert Roe", "b-17", nil)
	for _, session := range []string{alice, bob} {
		c.event(session, 1, c.Start, "fabricAdded", `{}`)
		c.event(session, 1, c.Start, "fabricSetup", `{"setupMs":120}`)
	}
	c.event(bob, 0, c.Start, "activeDeviceList", `{}`)
	for i := 1; i <= 12; i++ {
		at := c.Start.Add(time.Duration(i) * 5 * time.Second)
		lost, score, label := int64(0), 4.3, "excellent"
		if i > 6 {
			lost, score, label = 50, 2.2, "bad"
		}
		c.stats(alice, at, "inbound-rtp", "audio", map[string]any{
			"ssrc": int64(7), "packets": 250 - lost, "packetsLost": lost, semconv.QualityMOS: score, semconv.QualityLabel: label,
		})
		c.stats(bob, at, "outbound-rtp", "audio", map[string]any{"ssrc": int64(7), "packets": int64(250), "rttMs": 30.0})
	}
	return c
}

// issuesOf are the issues of a conference that goes on.
func issuesOf(t *testing.T, g got) (kinds []string, open []bool) {
	t.Helper()
	require.NotNil(t, g.SoFar)
	require.Empty(t, g.SoFar.Missing)
	for _, i := range g.SoFar.Summary.(map[string]any)["issues"].([]any) {
		issue := i.(map[string]any)
		kinds, open = append(kinds, issue["kind"].(string)), append(open, issue["open"].(bool))
	}
	return kinds, open
}

// TestALiveConferenceIsSummedUp: what it has come to stands in the answer, and no more when
// there is a summary of all of it.
//
// spec: DASH-05, CONF-03
func TestALiveConferenceIsSummedUp(t *testing.T) {
	m := &memory{at: time.Now()}
	c := lossyCall(m, m.at)
	g := ask(t, start(t, m, nil), c)
	require.Equal(t, stateLive, g.Conference.State)
	require.Nil(t, g.Summary)
	kinds, open := issuesOf(t, g)
	require.Equal(t, []string{string(detect.HighPacketLoss)}, kinds)
	require.Equal(t, []bool{true}, open)
	require.Equal(t, len(c.records), g.SoFar.Records)
	require.Equal(t, m.at.UnixMilli(), g.SoFar.At)
	document := g.SoFar.Summary.(map[string]any)
	require.Equal(t, "fair", document["label"])
	person := document["participants"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"a-1", ""}, []any{person["alias"], person["endReason"]}, "still there")
	require.NotContains(t, person, "userID", "real names only where they may be shown")
	require.NotEqual(t, "none", document["likelyCause"].(map[string]any)["cause"])

	detectors := detect.DefaultConfig()
	detectors.HighPacketLoss.Disabled = true
	operators := rules.Rules{Labels: quality.Bounds{4.2, 3.8, 3.6, 3.5}, Detectors: detect.NewRules(detectors)}
	g = ask(t, start(t, m, func(s *Settings) { s.ShowUserNames, s.Rules = true, operators }), c)
	kinds, _ = issuesOf(t, g)
	require.Equal(t, []string{"lowQuality"}, kinds, "by the operator's thresholds and bounds")
	require.Equal(t, "Alice Archer", g.SoFar.Summary.(map[string]any)["participants"].([]any)[0].(map[string]any)["userID"])

	c.summarise("dropped", nil, "", `{"revision":1}`)
	g = ask(t, start(t, m, nil), c)
	require.Nil(t, g.SoFar, "it is reported")
	c.Summary.End = c.End.Add(-20 * time.Second)
	g = ask(t, start(t, m, nil), c)
	require.Equal(t, stateLive, g.Conference.State)
	require.NotNil(t, g.Summary, "the one of before")
	kinds, _ = issuesOf(t, g)
	require.NotEmpty(t, kinds, "they came back")
}

// TestTwoCollectorsOneAnswer: of a conference whose participants are at two collectors on one
// PostgreSQL, both dashboards tell what all of its records say.
//
// spec: DASH-05, CONF-01
func TestTwoCollectorsOneAnswer(t *testing.T) {
	t.Parallel()
	m := &memory{at: time.Now()}
	c := lossyCall(m, m.at)
	want := ask(t, start(t, m, nil), c)
	dsn := postgrestest.Own(t).Database(t)
	var stores [2]*postgres.Store
	for i, person := range []string{alice, bob} {
		store, err := postgres.Open(t.Context(), dsn, postgres.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		writePart(t, store, c, person)
		stores[i] = store
	}
	for _, store := range stores {
		have := ask(t, startOn(t, shared{m, store}, nil), c)
		require.Equal(t, want.SoFar.Records, have.SoFar.Records)
		kinds, open := issuesOf(t, have)
		require.Equal(t, []string{string(detect.HighPacketLoss)}, kinds)
		require.Equal(t, []bool{true}, open)
		require.Equal(t, want.SoFar.Summary, have.SoFar.Summary)
	}
}

type shared struct {
	*memory
	store *postgres.Store
}

func (s shared) Reader() storage.Reader     { return s.store }
func (s shared) Follower() storage.Follower { return s.store }

func writePart(tb testing.TB, store storage.Writer, c *call, session string) {
	tb.Helper()
	for _, p := range c.Participants {
		if p.Session.ID != session {
			continue
		}
		batch := storage.Batch{Session: p.Session}
		for _, r := range c.records {
			if r.session == session {
				r.Activity = r.Fabric != 0
				batch.Records = append(batch.Records, r.Record)
			}
		}
		_, err := store.Append(context.Background(), []storage.Batch{batch})
		require.NoError(tb, err)
	}
}

// slow is a reader that takes its time, and tells how often it was asked.
type slow struct {
	*memory
	takes       time.Duration
	mu          sync.Mutex
	asked       int
	reading     int
	mostReading int
}

func (s *slow) Records(ctx context.Context, ref storage.Ref, yield func(string, storage.Record) bool) error {
	s.count(1)
	defer s.count(-1)
	select {
	case <-time.After(s.takes):
		return s.memory.Records(ctx, ref, yield)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slow) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading += n
	s.asked += max(0, n)
	s.mostReading = max(s.mostReading, s.reading)
}

func (s *slow) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// newFolds makes a soFar over a reader.
func newFolds(t *testing.T, reader storage.Reader) (*soFar, *componenttest.Telemetry) {
	t.Helper()
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	builder, err := metadata.NewTelemetryBuilder(telemetry.NewTelemetrySettings())
	require.NoError(t, err)
	a := &API{reader: reader, log: zap.NewNop(), telemetry: builder, now: time.Now}
	return newSoFar(a, rules.Default()), telemetry
}

// TestPagesShareAFold: those who ask at the same time, or shortly after, get one run's result;
// who goes away while running it holds up nobody.
//
// spec: DASH-05
func TestPagesShareAFold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		c := lossyCall(m, time.Now())
		store := &slow{memory: m, takes: time.Second}
		s, _ := newFolds(t, store)
		ctx, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := s.of(ctx, &c.Conference, nil)
			require.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		for range 5 {
			wg.Go(func() {
				p, err := s.of(t.Context(), &c.Conference, nil)
				require.NoError(t, err)
				require.Equal(t, len(c.records), p.Records)
			})
		}
		synctest.Wait()
		require.Equal(t, 1, store.times())
		leave()
		wg.Wait()
		require.Equal(t, 2, store.times(), "one of the others ran it")

		again := func(after time.Duration, times int) {
			t.Helper()
			time.Sleep(after)
			_, err := s.of(t.Context(), &c.Conference, nil)
			require.NoError(t, err)
			require.Equal(t, times, store.times())
		}
		again(0, 2)
		again(9*time.Second, 2) // ten times as long as it took
		again(time.Second, 3)
		store.takes = 0
		again(10*time.Second, 4)
		again(4*time.Second, 4)
		again(time.Second, 5) // five seconds at least
	})
}

// TestFewFoldsAtOnce: others wait for their turn, and what is kept is bounded.
//
// spec: DASH-05
func TestFewFoldsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		store := &slow{memory: m, takes: time.Second}
		s, _ := newFolds(t, store)
		for n := range 2 * maxKeptFolds {
			lossyCall(m, time.Now().Add(-time.Duration(n)*time.Hour))
		}
		var wg sync.WaitGroup
		for _, c := range m.calls {
			wg.Go(func() {
				_, err := s.of(t.Context(), &c.Conference, nil)
				require.NoError(t, err)
			})
		}
		wg.Wait()
		require.Equal(t, maxFolds, store.mostReading)
		require.LessOrEqual(t, len(s.folds), maxKeptFolds)
		time.Sleep(time.Hour)
		_, err := s.of(t.Context(), &m.calls[0].Conference, nil)
		require.NoError(t, err)
		require.Len(t, s.folds, 1, "what has lapsed is let go")
	})
}

// TestWhatIsTooLargeSaysSo, and what takes too long, and what fails; and is counted.
//
// spec: DASH-05
func TestWhatIsTooLargeSaysSo(t *testing.T) {
	f := func(want, counted string, change func(*soFar, *slow)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			m := &memory{}
			c := lossyCall(m, time.Now())
			store := &slow{memory: m}
			s, telemetry := newFolds(t, store)
			change(s, store)
			p, err := s.of(t.Context(), &c.Conference, nil)
			require.NoError(t, err)
			require.Equal(t, want, p.Missing)
			require.Equal(t, want == "", p.document != "")
			if counted == "" {
				return
			}
			metadatatest.AssertEqualQosdashboardFailedSummaries(t, telemetry, []metricdata.DataPoint[int64]{{
				Value: 1, Attributes: attribute.NewSet(attribute.String("cause", counted)),
			}}, metricdatatest.IgnoreTimestamp())
		})
	}
	f("", "", func(*soFar, *slow) {})
	f(missingTooLarge, "too_large", func(s *soFar, store *slow) { s.limit = len(store.calls[0].records) - 1 })
	f("", "", func(s *soFar, store *slow) { s.limit = len(store.calls[0].records) })
	f(missingTooLarge, "too_large", func(s *soFar, _ *slow) { s.parts = 3 })
	f("", "", func(s *soFar, _ *slow) { s.parts = 4 })
	f(missingTooSlow, "too_slow", func(_ *soFar, store *slow) { store.takes = time.Hour })
	f(missingFailed, "failed", func(_ *soFar, store *slow) { store.err = errors.New("disk") })
	f("", "", func(_ *soFar, store *slow) { store.damaged = storage.ErrDamaged })
}

// BenchmarkSoFar folds a call of two, of ten streams each, from SQLite: ns and bytes are
// those of a record.
func BenchmarkSoFar(b *testing.B) {
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "qos.db"), sqlite.Options{})
	require.NoError(b, err)
	defer func() { require.NoError(b, store.Close()) }()
	m := &memory{}
	c := m.newCall("long", t0)
	c.join(alice, "alice", "alice", nil)
	for i := range 50_000 {
		c.stats(alice, t0.Add(time.Duration(i/10)*2*time.Second), "inbound-rtp", "video", map[string]any{
			"ssrc": int64(i % 10), "packets": int64(250), "packetsLost": int64(i % 7), "bytes": int64(90_000), "jitterMs": 4.25, "rttMs": 31.5, "fps": 29.5,
			"frames": int64(60), "framesDecoded": int64(60), "freezes": int64(0), semconv.QualityMOS: 4.1, semconv.QualityLabel: "good",
		})
	}
	writePart(b, store, c, alice)
	builder, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(b, err)
	a := &API{reader: store, log: zap.NewNop(), telemetry: builder, now: time.Now}
	s := newSoFar(a, rules.Default())
	b.ReportAllocs()
	for b.Loop() {
		require.NotEmpty(b, s.run(b.Context(), storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: t0}, c.Participants, nil).document)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.records)), "ns/record")
}

type slowStore struct {
	*memory
	reader *slow
}

func (s slowStore) Reader() storage.Reader { return s.reader }

// TestALivePageReadsTheStoreOnce: the page and its summary so far are from one reading, and the
// same as from two.
//
// spec: DASH-05
func TestALivePageReadsTheStoreOnce(t *testing.T) {
	m := &memory{at: time.Now()}
	c := lossyCall(m, m.at)
	store := slowStore{m, &slow{memory: m}}
	base := startOn(t, store, nil)
	first := ask(t, base, c)
	require.Equal(t, 1, store.reader.times())
	require.Equal(t, len(c.records), first.SoFar.Records)
	second := ask(t, base, c)
	require.Equal(t, 2, store.reader.times(), "the summary so far is some seconds old, the page is not")
	require.Equal(t, first, second)
	require.NotEmpty(t, first.Timeline)
	require.NotEmpty(t, first.Streams)

	m.damaged = storage.ErrDamaged
	later := slowStore{m, &slow{memory: m}}
	broken := ask(t, startOn(t, later, nil), c)
	require.Equal(t, 1, later.reader.times())
	require.True(t, broken.Damaged)
	require.NotNil(t, broken.SoFar.Summary)
}

// TestAPageIsDrawnThoughItsSummaryIsNot: the limit of a fold is none of the page's.
//
// spec: DASH-05
func TestAPageIsDrawnThoughItsSummaryIsNot(t *testing.T) {
	m := &memory{}
	c := lossyCall(m, time.Now())
	s, _ := newFolds(t, m)
	s.limit = 3
	seen := 0
	page := &pageReading{add: func(*event.Event, *storage.Record) { seen++ }}
	p, err := s.of(t.Context(), &c.Conference, page)
	require.NoError(t, err)
	require.Equal(t, missingTooLarge, p.Missing)
	require.True(t, page.done)
	require.NoError(t, page.err)
	require.Equal(t, len(c.records), seen)
}
