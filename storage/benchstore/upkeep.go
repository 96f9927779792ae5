package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

const (
	day            = 24 * time.Hour
	hallFrames     = 60 // ten minutes
	hallsASecond   = 40 // conferences for each second of measuring
	livePeople     = 4  // concurrent writers
	liveEvery      = 20 * time.Millisecond
	deletedQuarter = 6 * time.Hour
)

// halls returns the starts of conferences on two days, within the first twelve hours of each.
func (e *env) halls() []time.Time {
	n := max(4, int(e.seconds.Seconds()*hallsASecond))
	out := make([]time.Time, n)
	first := e.now.Truncate(day).Add(-4 * day)
	for i := range out {
		out[i] = first.Add(time.Duration(i%(n/2)) * 12 * time.Hour / time.Duration(n/2))
		if i >= n/2 {
			out[i] = out[i].Add(day)
		}
	}
	return out
}

// load appends conferences, all participants of one at a time, and returns the number of rows.
func (e *env) load(s store, people, frames int, starts ...time.Time) (rows int, err error) {
	for i, start := range starts {
		call := renamed(storagetest.Call(people, e.scaled(frames), start), fmt.Sprint("hall-", i), start, people, i*people)
		for at := 0; at < len(call); at += people {
			done, err := s.Append(e.ctx, call[at:at+people])
			if err != nil {
				return rows, err
			}
			rows += done.New
		}
	}
	return rows, nil
}

// pack packs the conferences that ended before now and reports the cost.
func (e *env) pack(s store) error {
	began := time.Now()
	done, err := s.Pack(e.ctx, e.now)
	took := time.Since(began).Seconds()
	e.add("packing", "rows/s", float64(done.Records)/took)
	e.add("packing", "conferences/s", float64(done.Conferences)/took)
	e.add("packed", "B/row, chunks alone", float64(done.Bytes)/float64(done.Records))
	return err
}

// measureSize closes the store, so that no write is pending, and reopens it.
func (e *env) measureSize(s store, what string, rows int) (store, error) {
	if err := s.Close(); err != nil {
		return nil, err
	}
	onDisk, inUse, err := e.size(e.ctx)
	if err != nil {
		return nil, err
	}
	e.add(what, "MB on disk", float64(onDisk)/1e6)
	e.add(what, "MB in use", float64(inUse)/1e6)
	if rows > 0 {
		e.add(what, "B/row, all indexes", float64(inUse)/float64(rows))
	}
	return e.open(e.ctx)
}

// measureUpkeep compares loose and packed rows, then measures writers while the store packs and
// deletes.
func measureUpkeep(e *env) error {
	s, err := e.create(e.ctx)
	if err != nil {
		return err
	}
	rows, err := e.load(s, 2, hallFrames, e.halls()...)
	if err != nil {
		return err
	}
	if s, err = e.measureSize(s, "loose", rows); err != nil {
		return err
	}
	if err := e.pack(s); err != nil {
		return err
	}
	if s, err = e.measureSize(s, "packed", rows); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return e.measureStalls()
}

// measureStalls starts again, with writers at a steady rate.
func (e *env) measureStalls() error {
	s, err := e.create(e.ctx)
	if err != nil {
		return err
	}
	halls := e.halls()
	if _, err := e.load(s, 2, hallFrames, halls...); err != nil {
		return err
	}
	live := newSources(livePeople, e.scaled(50), e.now)
	last := halls[len(halls)-1].Truncate(day)
	packing := func(what string) error {
		began := time.Now()
		done, err := s.Pack(e.ctx, e.now)
		e.add(what, "rows/s", float64(done.Records)/time.Since(began).Seconds())
		return err
	}
	deleting := func(before time.Time) func(string) error {
		return func(what string) error {
			began := time.Now()
			n, err := s.DeleteBefore(e.ctx, before)
			e.add(what, "conferences/s", float64(n)/time.Since(began).Seconds())
			return err
		}
	}
	for _, step := range []struct {
		what string
		run  func(what string) error
	}{
		{"writers alone", func(string) error { return wait(e.ctx, e.seconds/2) }},
		{"writers while it packs", packing},
		{"retention, a whole day", deleting(last)},
		{"retention, half a day's", deleting(last.Add(deletedQuarter))},
	} {
		if err := e.whileLive(s, live, step.what, step.run); err != nil {
			return err
		}
	}
	if s, err = e.measureSize(s, "after retention", 0); err != nil {
		return err
	}
	return s.Close()
}

// whileLive runs f while writers write at a steady rate, and reports their delays. The delay of a
// write that starts late, because the previous one was slow, counts from the time when it
// was due.
func (e *env) whileLive(s store, live []*source, what string, f func(what string) error) error {
	stop := make(chan struct{})
	took, errs := make([]latencies, len(live)), make([]error, len(live))
	began := time.Now()
	var wg sync.WaitGroup
	for i := range live {
		wg.Go(func() { took[i], errs[i] = e.writeSteadily(s, live[i], stop) })
	}
	fault := f(what)
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
	e.add(what, "took s", time.Since(began).Seconds())
	e.latency(what, all)
	return nil
}

func (e *env) writeSteadily(s store, live *source, stop <-chan struct{}) (took latencies, err error) {
	for due := time.Now().Add(liveEvery); ; due = due.Add(liveEvery) {
		select {
		case <-stop:
			return took, nil
		case <-time.After(time.Until(due)):
		}
		if _, err := s.Append(e.ctx, []storage.Batch{live.next()}); err != nil {
			return took, err
		}
		took = append(took, time.Since(due))
	}
}
