//go:build linux

package conferenceprocessor

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
	"golang.org/x/sys/unix"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/qualityprocessor"
)

// These make the figures of live conferences in docs/benchmarks.md. 100,000 take some
// gigabytes and a quarter of an hour:
//
//	go test -count=1 -timeout 2h -run TestLiveConferences -v ./processors/conferenceprocessor -live-conferences 100000
var (
	liveConferences = flag.Int("live-conferences", 0, "number of concurrent calls of two, whose cost is reported")
	liveMinutes     = flag.Int("live-minutes", 60, "with -live-conferences: how long the calls last")
	liveMemoryMiB   = flag.Int64("live-memory-mib", 0, "with -live-conferences: the processor's memory_mib; 0: no limit")
	liveImpaired    = flag.Int("live-impaired", 0, "with -live-conferences: of 100 calls so many have something else wrong in each measurement")
)

// liveTrace is a recorded call of two through Chromium: each has one connection with sound
// and picture both ways, and measured it every 2 s.
const (
	liveTrace = "../../tests/cause/testdata/good-direct.jsonl.gz"
	livePace  = 5 // the usual interval, 10 s, in recorded ones
	liveMs    = 10_000
	liveRows  = 5 // of a frame: two streams each way, the pair
	perMinute = 60_000 / liveMs
)

// TestLiveConferences is a benchmark, not a test: it passes a recorded call, with other IDs
// and values that vary, through ConsumeLogs for each conference. The clock is that of a
// synctest bubble, so that an hour costs only its work and a busy machine ends no call. In the
// last minute before each report the conferences alternate, with a tick each second; earlier
// measurements are passed call by call, which is faster and gives the same state.
func TestLiveConferences(t *testing.T) {
	if *liveConferences == 0 {
		t.Skip("figures are made on demand: -live-conferences")
	}
	require.GreaterOrEqual(t, *liveConferences, 100)
	synctest.Test(t, holdCalls)
}

func holdCalls(t *testing.T) {
	people := liveCall(t)
	before := conferencetest.Heap()
	cfg := createDefaultConfig().(*Config)
	cfg.MaxConferences, cfg.MemoryMiB = *liveConferences, *liveMemoryMiB
	c, err := newConferences(cfg, componenttest.NewNopTelemetrySettings(), consumertest.NewNop())
	require.NoError(t, err)
	load := &liveLoad{t: t, c: c, people: people, start: time.Now()}
	load.join()
	t.Log("conferences, minutes, resident, heap GB, kB/conference, kB/stream, GC % of CPU, us/measurement call by call, by turns, ms/tick, the longest:")
	for from, minute := range stages(*liveMinutes) {
		load.callByCall(from*perMinute, (minute-1)*perMinute)
		load.byTurns((minute-1)*perMinute, minute*perMinute)
		load.report(minute, before)
	}
	if *liveMemoryMiB == 0 { // else the store has the measurements of some
		load.check()
	}
	runtime.KeepAlive(people)
}

// check makes sure that all calls live, and that each measurement was taken once.
func (l *liveLoad) check() {
	require.Equal(l.t, *liveConferences, liveIn(l.c))
	some, _ := l.c.set.Tick(time.Now().Add(time.Hour).UnixMilli(), 100)
	require.Len(l.t, some, min(*liveConferences, 100))
	for i := range some {
		require.Len(l.t, some[i].Participants, len(l.people))
		for _, p := range some[i].Participants {
			streams := slices.Concat(p.Fabrics[0].Streams, []conference.Stream{*p.Fabrics[0].CandidatePair})
			require.Len(l.t, streams, liveRows)
			for _, s := range streams {
				require.Equal(l.t, *liveMinutes*60_000/liveMs, s.Intervals)
			}
		}
	}
}

// liveLoad feeds a processor. Times are those of the feeding thread, ns.
type liveLoad struct {
	t       *testing.T
	c       *conferences
	people  [2]livePerson
	start   time.Time
	idle    float64   // making the records of one interval of a conference
	alone   float64   // a measurement, call by call
	perRow  []float64 // one by turns
	ticks   []float64
	reading liveReading
}

// livePerson is what one of the two sends.
type livePerson struct {
	joins    []*liveFrame
	frames   []*liveFrame // of measurements
	firstSeq int64        // of the first of them
}

// liveFrame is a batch that is sent again and again, and where its ids and values lie.
type liveFrame struct {
	logs    plog.Logs
	session pcommon.Value
	ids     []pcommon.Value // of conferences
	began   []pcommon.Value
	seqs    []pcommon.Value
	seq     int64 // of the first record, as recorded
	records []plog.LogRecord
	values  []liveValue
}

// liveValue is a measure that wanders.
type liveValue struct {
	name   string
	at     pcommon.Value
	label  pcommon.Value // of a score
	base   float64
	spread float64 // standard deviation of its logarithm
}

// liveSpread says how much the measures of a call wander from one interval to the next:
// about as much as in recorded calls.
var liveSpread = map[string]float64{
	eventtest.Stats("bytes"): 0.2, eventtest.Stats("jitterMs"): 0.3, eventtest.Stats("remoteJitterMs"): 0.3, eventtest.Stats("rttMs"): 0.2,
	eventtest.Stats("fps"): 0.03, semconv.QualityMOS: 0.01,
	eventtest.Stats("packetsLost"): 0, eventtest.Stats("freezeMs"): 0, // of impaired calls
}

// liveBase are values of the usual network. The recorded call had none between its two ends.
var liveBase = map[string]float64{
	eventtest.Stats("jitterMs"): 8, eventtest.Stats("remoteJitterMs"): 8, eventtest.Stats("rttMs"): 40,
}

// liveCounters are increases over the interval: of a longer one they are more.
var liveCounters = []string{
	"bytes", "packets", "samples", "frames", "framesEncoded", "framesDecoded", "bytesSent", "bytesReceived", "encodeMs", "decodeMs", "nacks",
}

// stages yields from which minute to which there is no report.
func stages(minutes int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		from := 0
		for _, to := range []int{1, 10, minutes} {
			if to > minutes || to == from || !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// join starts all calls.
func (l *liveLoad) join() {
	for n := range *liveConferences {
		for p := range l.people {
			for _, f := range l.people[p].joins {
				f.aim(n, p, f.seq, l.start)
				require.NoError(l.t, l.c.ConsumeLogs(l.t.Context(), f.logs))
			}
		}
	}
	l.idle = l.time(func() { l.send(0, 0, *liveConferences, func(plog.Logs) error { return nil }) }) / float64(*liveConferences)
}

// callByCall passes the measurements of so many intervals when they are over.
func (l *liveLoad) callByCall(from, to int) {
	if from == to {
		return
	}
	time.Sleep(time.Until(l.at(to, 0)))
	took := l.time(func() {
		for n := range *liveConferences {
			for round := from; round < to; round++ {
				l.send(round, n, n+1, l.consume)
			}
		}
	})
	l.alone = l.each(took, (to-from)**liveConferences)
}

// byTurns passes one measurement of each conference after the other, those of a second
// together.
func (l *liveLoad) byTurns(from, to int) {
	const parts = liveMs / 1000
	l.perRow, l.ticks = l.perRow[:0], l.ticks[:0]
	for round := from; round < to; round++ {
		for part := range parts {
			time.Sleep(time.Until(l.at(round, part*1000).Add(time.Second)))
			first, last := *liveConferences*part/parts, *liveConferences*(part+1)/parts
			took := l.time(func() { l.send(round, first, last, l.consume) })
			l.perRow = append(l.perRow, l.each(took, last-first))
			l.ticks = append(l.ticks, l.time(func() { l.c.tick(l.t.Context(), l.t.Context(), time.Now()) }))
		}
	}
}

// at is when an interval begins, or so many ms later.
func (l *liveLoad) at(round, ms int) time.Time {
	return l.start.Add(time.Duration(round*liveMs+ms) * time.Millisecond)
}

// each is the time of a measurement where that of n intervals is known.
func (l *liveLoad) each(took float64, n int) float64 {
	return (took/float64(n) - l.idle) / float64(len(l.people)*liveRows)
}

func (l *liveLoad) consume(logs plog.Logs) error { return l.c.ConsumeLogs(l.t.Context(), logs) }

// send passes the measurements of one interval of the conferences from first to before last.
func (l *liveLoad) send(round, first, last int, consume func(plog.Logs) error) {
	for n := first; n < last; n++ {
		source := rand.New(rand.NewPCG(uint64(n), uint64(round)))
		at := l.at(round, n%1000+1000*(n*(liveMs/1000) / *liveConferences))
		for p := range l.people {
			person := &l.people[p]
			f := person.frames[(round+n)%len(person.frames)]
			f.aim(n, p, person.firstSeq+int64(round), at)
			f.wander(source, n%100 < *liveImpaired)
			require.NoError(l.t, consume(f.logs))
		}
	}
}

// time returns what do takes of its thread, ns.
func (l *liveLoad) time(do func()) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime(l.t)
	do()
	return float64(threadTime(l.t) - before)
}

// aim makes f a frame of one participant of one conference.
func (f *liveFrame) aim(n, person int, seq int64, at time.Time) {
	f.session.SetStr(fmt.Sprintf("01a20023-905b-79f5-%04x-%012x", 0x8000+person, n))
	id := fmt.Sprintf("conference-%d", n)
	for i := range f.ids {
		f.ids[i].SetStr(id)
		f.began[i].SetInt(at.UnixMilli() / 1e8 * 1e8) // the same for hours
	}
	later := seq - f.seqs[0].Int()
	for i, r := range f.records {
		f.seqs[i].SetInt(f.seqs[i].Int() + later)
		r.SetTimestamp(pcommon.NewTimestampFromTime(at))
	}
}

// wander gives the measures other values.
func (f *liveFrame) wander(source *rand.Rand, impaired bool) {
	ill := impaired && source.IntN(2) == 0
	for i := range f.values {
		v := &f.values[i]
		value := v.base * math.Exp(v.spread*source.NormFloat64())
		switch {
		case v.name == semconv.QualityMOS:
			if ill {
				value -= 3 * source.Float64()
			}
			value = min(5, max(1, value))
			v.label.SetStr(quality.Label(value, quality.DefaultBounds()))
		case impaired && v.spread == 0: // a counter of what went wrong
			value = float64(btoi(ill) * source.IntN(400))
		case ill:
			value *= 1 + 200*source.Float64()
		}
		switch {
		case v.at.Type() == pcommon.ValueTypeInt:
			v.at.SetInt(int64(value))
		case v.name == semconv.QualityMOS:
			v.at.SetDouble(value)
		default: // as browsers round
			v.at.SetDouble(math.Round(value*10) / 10)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// liveCall reads the recorded call, scored and at the usual pace.
func liveCall(t *testing.T) (people [2]livePerson) {
	t.Helper()
	scores := qualityprocessor.NewFactory()
	sink := new(consumertest.LogsSink)
	scorer, err := scores.CreateLogs(t.Context(), processortest.NewNopSettings(scores.Type()), scores.CreateDefaultConfig(), sink)
	require.NoError(t, err)
	for _, logs := range recorded(t) {
		eachRecord(logs, slower)
		require.NoError(t, scorer.ConsumeLogs(context.Background(), logs))
	}
	for _, logs := range sink.AllLogs() {
		if logs.LogRecordCount() == 0 {
			continue
		}
		resource := logs.ResourceLogs().At(0).Resource()
		user, _ := resource.Attributes().Get(semconv.UserID)
		person := &people[btoi(user.Str() == "ben")]
		f := liveFrameOf(logs)
		switch {
		case len(f.values) == 0:
			person.joins = append(person.joins, f)
			person.firstSeq = f.seqs[len(f.seqs)-1].Int() + 1
		case len(f.records) == liveRows && f.seq == f.seqs[liveRows-1].Int():
			person.frames = append(person.frames, f)
		}
	}
	for p := range people {
		slices.SortFunc(people[p].joins, func(a, b *liveFrame) int { return int(a.seq - b.seq) })
		require.NotEmpty(t, people[p].joins)
		require.NotEmpty(t, people[p].frames)
	}
	return people
}

func recorded(t *testing.T) (all []plog.Logs) {
	t.Helper()
	file, err := os.Open(liveTrace)
	require.NoError(t, err)
	defer func() { _ = file.Close() }() // it was only read
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	lines.Scan() // the header
	for lines.Scan() {
		logs, err := new(plog.JSONUnmarshaler).UnmarshalLogs(lines.Bytes())
		require.NoError(t, err)
		all = append(all, logs)
	}
	require.NoError(t, lines.Err())
	return all
}

func eachRecord(logs plog.Logs, do func(plog.LogRecord)) {
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				do(record)
			}
		}
	}
}

// slower converts a measurement of 2 s to one of 10 s.
func slower(r plog.LogRecord) {
	if r.EventName() != semconv.EventStats {
		return
	}
	r.Attributes().PutDouble(semconv.IntervalMs, liveMs)
	for _, name := range liveCounters {
		if v, ok := r.Attributes().Get(eventtest.Stats(name)); ok {
			scale(v, livePace)
		}
	}
}

func scale(v pcommon.Value, by float64) {
	if v.Type() == pcommon.ValueTypeInt {
		v.SetInt(v.Int() * int64(by))
	} else {
		v.SetDouble(v.Double() * by)
	}
}

func liveFrameOf(logs plog.Logs) *liveFrame {
	f := &liveFrame{logs: logs}
	resource := logs.ResourceLogs().At(0)
	f.session, _ = resource.Resource().Attributes().Get(semconv.SessionID)
	for _, scope := range resource.ScopeLogs().All() {
		id, _ := scope.Scope().Attributes().Get(semconv.ConferenceID)
		began, _ := scope.Scope().Attributes().Get(semconv.ConferenceAt)
		f.ids, f.began = append(f.ids, id), append(f.began, began)
	}
	eachRecord(logs, f.take)
	f.seq = f.seqs[0].Int()
	return f
}

func (f *liveFrame) take(r plog.LogRecord) {
	seq, _ := r.Attributes().Get(semconv.FrameSeq)
	f.records, f.seqs = append(f.records, r), append(f.seqs, seq)
	if r.EventName() != semconv.EventStats {
		return
	}
	label, _ := r.Attributes().Get(semconv.QualityLabel)
	for name, v := range r.Attributes().All() {
		spread, wanders := liveSpread[name]
		if !wanders {
			continue
		}
		base := v.Double()
		if v.Type() == pcommon.ValueTypeInt {
			base = float64(v.Int())
		}
		f.values = append(f.values, liveValue{name, v, label, cmp.Or(liveBase[name], base), spread})
	}
}

// liveReading is the last reading of the runtime's counters.
type liveReading struct{ gc, busy float64 }

// report prints the cost of the calls after a number of minutes.
func (l *liveLoad) report(minute int, before uint64) {
	rss := status(l.t, "VmRSS:")
	gc, busy := cpuSeconds()
	share := (gc - l.reading.gc) / (busy - l.reading.busy)
	held := float64(conferencetest.Heap()-before) / float64(*liveConferences)
	slices.Sort(l.perRow)
	slices.Sort(l.ticks)
	const us, ms = 1e3, 1e6
	l.t.Logf("| %d | %d | %s | %.2f | %.1f | %.2f | %.0f | %.2f | %.2f | %.1f | %.1f |", *liveConferences, minute, rss,
		held*float64(*liveConferences)/1e9, held/1000, held/8000, 100*share, l.alone/us, l.perRow[len(l.perRow)/2]/us,
		l.ticks[len(l.ticks)/2]/ms, l.ticks[len(l.ticks)-1]/ms)
	gc, busy = cpuSeconds() // without the collection that was forced
	l.reading = liveReading{gc, busy}
}

// cpuSeconds returns the CPU time of garbage collection, and all that was not idle.
func cpuSeconds() (gc, busy float64) {
	samples := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(samples)
	return samples[0].Value.Float64(), samples[1].Value.Float64() - samples[2].Value.Float64()
}

func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var took unix.Timespec
	require.NoError(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &took))
	return time.Duration(took.Nano())
}

func status(t *testing.T, field string) string {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, field); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
