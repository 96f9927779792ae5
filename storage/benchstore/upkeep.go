package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/qosrtc/qos/storage"
)

const (
	day            = 24 * time.Hour
	hallFrames     = 60 // ten minutes
	hallsASecond   = 40 // conferences that are made for each second of measuring
	livePeople     = 4  // who write meanwhile
	liveEvery      = 20 * time.Millisecond
	deletedQuarter = 6 * time.Hour
)

// hall is a conference to be made.
type hall struct {
	people int
	start  time.Time
}

// halls are conferences of two on two days, spread over the first twelve hours of each.
func (e *env) halls() []hall {
	n := max(4, int(e.seconds.Seconds()*hallsASecond))
	out := make([]hall, n)
	first := e.now.Truncate(day).Add(-4 * day)
	for i := range out {
		start := first.Add(time.Duration(i%(n/2)) * 12 * time.Hour / time.Duration(n/2))
		if i >= n/2 {
			start = start.Add(day)
		}
		out[i] = hall{2, start}
	}
	return out
}

// load appends the conferences, all people of one at a time, and returns the rows.
func (e *env) load(ctx context.Context, s store, halls []hall, frames int) (rows int, err error) {
	p, err := startPipeline(ctx)
	if err != nil {
		return 0, err
	}
	for i, h := range halls {
		who := meeting(fmt.Sprint("hall-", i), h.people, h.start, uint64(i))
		for range frames {
			batches := make([]storage.Batch, len(who))
			for j := range who {
				if batches[j], err = p.frame(who[j]); err != nil {
					return rows, err
				}
			}
			done, err := s.Append(ctx, batches)
			if err != nil {
				return rows, err
			}
			rows += done.New
		}
	}
	return rows, p.stop()
}

// pack packs what ended before a time, where the engine can, and reports what it cost.
func (e *env) pack(ctx context.Context, s store, before time.Time) (bool, error) {
	p, ok := s.(packer)
	if !ok {
		return false, nil
	}
	began := time.Now()
	done, err := p.Pack(ctx, before)
	if err != nil || done.Records == 0 {
		return false, err
	}
	took := time.Since(began)
	if err := e.report.add("packing", "rows/s", float64(done.Records)/took.Seconds()); err != nil {
		return true, err
	}
	if err := e.report.add("packing", "conferences/s", float64(done.Conferences)/took.Seconds()); err != nil {
		return true, err
	}
	return true, e.report.add("packed", "B/row, chunks alone", float64(done.Bytes)/float64(done.Records))
}

// measureSize closes the store, so that nothing is under way, and opens it again.
func (e *env) measureSize(ctx context.Context, s store, what string, rows int) (store, error) {
	if err := s.Close(); err != nil {
		return nil, err
	}
	onDisk, inUse, err := e.engine.size(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range []struct {
		metric string
		value  int64
	}{{"MB on disk", onDisk}, {"MB in use", inUse}} {
		if err := e.report.add(what, r.metric, float64(r.value)/1e6); err != nil {
			return nil, err
		}
	}
	if rows > 0 {
		if err := e.report.add(what, "B/row, all indexes", float64(inUse)/float64(rows)); err != nil {
			return nil, err
		}
	}
	return e.engine.open(ctx, false)
}

// measureUpkeep compares rows loose and packed, then lets others write while it packs and
// deletes.
func measureUpkeep(ctx context.Context, e *env) error {
	s, err := e.engine.open(ctx, true)
	if err != nil {
		return err
	}
	rows, err := e.load(ctx, s, e.halls(), e.some(hallFrames))
	if err != nil {
		return err
	}
	if s, err = e.measureSize(ctx, s, "loose", rows); err != nil {
		return err
	}
	packed, err := e.pack(ctx, s, e.now)
	if err != nil {
		return err
	}
	if packed {
		if s, err = e.measureSize(ctx, s, "packed", rows); err != nil {
			return err
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	return e.measureStalls(ctx)
}

// measureStalls begins again, with others who write at a steady pace.
func (e *env) measureStalls(ctx context.Context) error {
	s, err := e.engine.open(ctx, true)
	if err != nil {
		return err
	}
	halls := e.halls()
	if _, err := e.load(ctx, s, halls, e.some(hallFrames)); err != nil {
		return err
	}
	live, err := newSources(ctx, livePeople, e.some(50), e.now)
	if err != nil {
		return err
	}
	steps := []struct {
		what string
		run  func() error
	}{
		{"writers alone", func() error { return wait(ctx, e.seconds/2) }},
		{"writers while it packs", func() error { return e.packAgain(ctx, s) }},
		{"retention, a whole day", func() error {
			return e.delete(ctx, s, "retention, a whole day", halls[len(halls)-1].start.Truncate(day))
		}},
		{"retention, half a day's", func() error {
			return e.delete(ctx, s, "retention, half a day's", halls[len(halls)-1].start.Truncate(day).Add(deletedQuarter))
		}},
	}
	for _, step := range steps {
		if _, ok := s.(packer); !ok && step.what == "writers while it packs" {
			continue
		}
		if err := e.whileLive(ctx, s, live, step.what, step.run); err != nil {
			return err
		}
	}
	s, err = e.measureSize(ctx, s, "after retention", 0)
	if err != nil {
		return err
	}
	return s.Close()
}

func (e *env) packAgain(ctx context.Context, s store) error {
	began := time.Now()
	done, err := s.(packer).Pack(ctx, e.now)
	if err != nil {
		return err
	}
	return e.report.add("writers while it packs", "rows/s", float64(done.Records)/time.Since(began).Seconds())
}

func (e *env) delete(ctx context.Context, s store, what string, before time.Time) error {
	began := time.Now()
	n, err := s.DeleteBefore(ctx, before)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%s deleted nothing", what)
	}
	return e.report.add(what, "conferences/s", float64(n)/time.Since(began).Seconds())
}

func wait(ctx context.Context, long time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(long):
		return nil
	}
}

// whileLive runs f while people write at a steady pace, and reports how late they were
// done. A write that begins late, because the one before it took long, counts from when it
// was due.
func (e *env) whileLive(ctx context.Context, s store, live []*source, what string, f func() error) error {
	stop := make(chan struct{})
	took, errs := make([]latencies, len(live)), make([]error, len(live))
	began := time.Now()
	var wg sync.WaitGroup
	for i := range live {
		wg.Go(func() { took[i], errs[i] = writeSteadily(ctx, s, live[i], stop) })
	}
	fault := f()
	close(stop)
	wg.Wait()
	if fault != nil {
		return fault
	}
	var all latencies
	for i := range live {
		if errs[i] != nil {
			return errs[i]
		}
		all = append(all, took[i]...)
	}
	if err := e.report.add(what, "took s", time.Since(began).Seconds()); err != nil {
		return err
	}
	return e.report.latency(what, all)
}

func writeSteadily(ctx context.Context, s store, live *source, stop <-chan struct{}) (took latencies, err error) {
	for due := time.Now().Add(liveEvery); ; due = due.Add(liveEvery) {
		select {
		case <-stop:
			return took, nil
		case <-time.After(time.Until(due)):
		}
		if _, err := s.Append(ctx, []storage.Batch{live.next()}); err != nil {
			return took, err
		}
		took = append(took, time.Since(due))
	}
}
