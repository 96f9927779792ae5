package conferenceprocessor

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/internal/serve/logonce"
	"github.com/qosrtc/qos/processors/conferenceprocessor/internal/metadata"
)

// conferences is the processor. It has one lock, mu. While the lock is held, the processor calls no
// other component and acquires no other lock.
//
// A record is compared before it is passed on, so that a repetition is marked, and applied only when
// the next component has accepted it. In between it is in flight. A refused record that arrives again
// is marked, too: components other than the one that refused may have counted it.
type conferences struct {
	cfg       *Config
	next      consumer.Logs
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	labels    labelCheck

	mu       sync.Mutex
	set      *live.Set
	inFlight map[string][]*flight // by session; almost always at most one
	settled  *sync.Cond           // on mu: records left flight, or a conference is no longer aside
	// refused holds the frames of failed calls. Components other than the one that refused may have
	// accepted them, so they are marked as repetitions when they arrive again, though they were applied
	// to no conference.
	refused  frameSet
	preCalls frameSet // of pre-call tests, which belong to no conference

	callFailed bool // a call failed since the last sweep: the store may have its records

	stop   context.CancelFunc // nil before Start and after Shutdown
	wg     sync.WaitGroup
	out    outbox[conference.Summary] // used by the goroutine of run, then by Shutdown
	issues liveIssues                 // used like out

	restorer *restorer // nil: no store is configured; used like out
}

func newConferences(cfg *Config, set component.TelemetrySettings, next consumer.Logs) (*conferences, error) {
	set = logonce.Settings(set)
	telemetry, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return nil, err
	}
	c := &conferences{
		cfg: cfg, next: next, logger: set.Logger, telemetry: telemetry,
		labels:   labelCheck{logger: set.Logger},
		inFlight: make(map[string][]*flight),
	}
	c.setRules(rules.Default())
	c.settled = sync.NewCond(&c.mu)
	c.out = outbox[conference.Summary]{
		what: "summaries", full: reasonFull, refused: reasonRefused,
		next: next, write: writeSummaries, drop: c.drop, onSent: c.checkLater, logger: set.Logger,
	}
	c.issues.out = outbox[live.IssueChange]{
		what: "issues", full: reasonIssuesFull, refused: reasonIssueRefused,
		next: next, write: writeIssues, drop: c.drop, onSent: c.countIssues, logger: set.Logger,
	}
	return c, nil
}

// setRules sets the rules. It must be called before the first record.
func (c *conferences) setRules(r rules.Rules) {
	c.labels.bounds = r.Labels
	c.set = live.NewSet(live.Config{
		MaxConferences: c.cfg.MaxConferences, MaxBytes: c.cfg.MemoryMiB << 20, KeepEndedMs: c.cfg.KeepEnded.Milliseconds(), Labels: r.Labels,
		Detect: r.Detectors, EvaluateMs: c.cfg.Issues.Interval.Milliseconds(), Aside: c.runAside,
	})
}

// Start reads the rules of the collector and starts the periodic checks.
func (c *conferences) Start(_ context.Context, host component.Host) error {
	assessment, err := rules.Of(host)
	if err != nil {
		return err
	}
	c.setRules(assessment)
	if err := c.findStore(host); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.wg.Go(func() { c.run(ctx) })
	return nil
}

// Shutdown stops the checks, and passes on the summaries of ended conferences. It does not end live
// conferences.
func (c *conferences) Shutdown(ctx context.Context) error {
	if c.stop == nil {
		return nil
	}
	c.stop()
	c.wg.Wait()
	c.stop = nil
	reading, stop := context.WithTimeout(ctx, lastReading)
	defer stop()
	c.tick(ctx, reading, time.Now())
	c.telemetry.Shutdown()
	return nil
}

// Capabilities reports that the processor changes records.
func (*conferences) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

func (c *conferences) run(ctx context.Context) {
	ticker := time.NewTicker(c.cfg.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			c.tick(ctx, ctx, now)
		}
	}
}

// perCheck is the number of conferences checked while the lock is held.
const perCheck = 256

// lastReading is the time limit for reads of the store at shutdown. A conference without a summary is then read after
// the next start.
const lastReading = 5 * time.Second

// tick passes on the summaries that are due. reading bounds the reads of the store.
func (c *conferences) tick(ctx, reading context.Context, now time.Time) {
	c.sweep(reading, now)
	c.checkDue(reading, now)
	for more, accepted := true, true; more; {
		var summaries []conference.Summary
		c.mu.Lock()
		summaries, more = c.set.Tick(now.UnixMilli(), perCheck)
		partials, unattached := c.set.Partials(), c.set.Unattached()
		unrestored, alive, kept := c.set.Unrestored(), c.set.Live(), c.set.Len()
		bytes, shrunk := c.set.Bytes(), c.set.Shrunk()
		c.mu.Unlock()
		c.drop(ctx, int64(unattached), live.Unattached.String())
		c.countUnrestored(ctx, unrestored)
		c.telemetry.ProcessorConferenceLive.Record(ctx, int64(alive))
		c.telemetry.ProcessorConferenceKept.Record(ctx, int64(kept))
		c.telemetry.ProcessorConferenceMemory.Record(ctx, bytes)
		c.telemetry.ProcessorConferenceShrunk.Add(ctx, int64(shrunk))
		more = c.restore(reading, partials, now) > 0 || more
		c.count(ctx, summaries)
		c.out.add(ctx, summaries)
		if accepted && len(c.out.waiting) > maxWaiting/2 { // after a network failure many conferences end at once
			accepted = c.out.flush(ctx, now)
		}
	}
	c.notify(ctx, reading, now)
	c.out.flush(ctx, now)
}

func (c *conferences) countUnrestored(ctx context.Context, n int) {
	if n > 0 {
		c.drop(ctx, int64(n), reasonNotRestored)
		c.logger.Error("the store could not be read for long: summaries cover a part of their conferences", zap.Int("summaries", n))
	}
}

func (c *conferences) count(ctx context.Context, summaries []conference.Summary) {
	for i := range summaries {
		if summaries[i].Revision > 1 {
			c.telemetry.ProcessorConferenceRevised.Add(ctx, 1)
			continue
		}
		c.telemetry.ProcessorConferenceEnded.Add(ctx, 1,
			metric.WithAttributes(attribute.String("outcome", string(summaries[i].Outcome))))
	}
}

// ConsumeLogs marks repetitions, passes the records on, and applies them when the next component has
// accepted them.
func (c *conferences) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	items := eventlog.Read(logs)
	eventlog.MarkOutOfRange(items)
	c.labels.check(items)
	f := newFlight(items)
	duplicates := c.markDuplicates(f) + c.markPreCalls(logs)
	err := c.next.ConsumeLogs(ctx, logs)
	results := c.settle(f, err == nil, time.Now())
	if err != nil {
		return err
	}
	if duplicates > 0 {
		c.telemetry.ProcessorConferenceDuplicates.Add(ctx, int64(duplicates))
	}
	for _, why := range [...]live.Result{live.Invalid, live.TooLate, live.Full} {
		c.drop(ctx, results[why], why.String())
	}
	return nil
}

// markDuplicates marks the records that were applied before or are in flight, and adds all to those in flight. It
// returns the number of marked records.
func (c *conferences) markDuplicates(f *flight) (duplicates int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.collides(f) {
		c.settled.Wait()
	}
	for i := range f.items {
		e := f.event(i)
		if f.find(e) < i || c.set.Seen(e) || c.isInFlight(e) || c.refused.has(frameOf(e)) {
			f.items[i].Record.Attributes().PutBool(semconv.Duplicate, true)
			duplicates++
		}
	}
	for session := range f.sessions() {
		c.inFlight[session] = append(c.inFlight[session], f)
	}
	return duplicates
}

func (c *conferences) isInFlight(e *event.Event) bool {
	return slices.ContainsFunc(c.inFlight[e.Session], func(flying *flight) bool { return flying.find(e) >= 0 })
}

// collides reports whether a record in flight has the identity of a record of f but different
// content. The store keeps the first one that it receives, so the second one waits until the first
// has left flight.
func (c *conferences) collides(f *flight) bool {
	for i := range f.items {
		e := f.event(i)
		for _, flying := range c.inFlight[e.Session] {
			if o := flying.find(e); o >= 0 && !sameRecord(flying.event(o), e) {
				return true
			}
		}
	}
	return false
}

// sameRecord reports whether two records of one identity have the same effect on a conference.
func sameRecord(a, b *event.Event) bool {
	return a.AppID == b.AppID && a.ConferenceID == b.ConferenceID && a.Kind == b.Kind && a.Name == b.Name &&
		a.Fabric == b.Fabric && a.AtMs == b.AtMs && a.ConferenceAtMs == b.ConferenceAtMs
}

// settle removes records from flight, and applies them if they were accepted.
func (c *conferences) settle(f *flight, accepted bool, now time.Time) (results [live.NumResults]int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.isAside(f) {
		c.settled.Wait()
	}
	for session := range f.sessions() {
		c.land(session, f)
	}
	c.settled.Broadcast()
	c.callFailed = c.callFailed || !accepted
	nowMs := now.UnixMilli()
	for i := range f.items {
		e := f.event(i)
		if !accepted {
			c.refused.add(frameOf(e))
			continue
		}
		c.refused.remove(frameOf(e))
		results[c.set.Apply(e, nowMs)]++
	}
	return results
}

// runAside runs a slow function without the lock.
func (c *conferences) runAside(run func()) {
	c.mu.Unlock()
	run()
	c.mu.Lock()
	c.settled.Broadcast()
}

// isAside reports whether a conference of f is being read, so that its records cannot be applied.
func (c *conferences) isAside(f *flight) bool {
	for i := range f.items {
		if c.set.IsAside(f.event(i)) {
			return true
		}
	}
	return false
}

func frameOf(e *event.Event) frameID { return frameID{e.Session, e.Seq} }

func (c *conferences) land(session string, f *flight) {
	flying := slices.DeleteFunc(c.inFlight[session], func(other *flight) bool { return other == f })
	if len(flying) == 0 {
		delete(c.inFlight, session)
		return
	}
	c.inFlight[session] = flying
}

// drop counts items that are in no summary, by reason.
func (c *conferences) drop(ctx context.Context, n int64, reason string) {
	if n > 0 {
		c.telemetry.ProcessorConferenceDropped.Add(ctx, n, metric.WithAttributes(attribute.String("reason", reason)))
	}
}
