package main

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/qosrtc/qos/storage"
)

const (
	longPeople = 8
	longFrames = 720 // two hours
	longReads  = 7
)

// measureLong reads one long conference, loose and packed.
func measureLong(e *env) error {
	s, err := e.create(e.ctx)
	if err != nil {
		return err
	}
	start := e.now.Add(-day)
	rows, err := e.load(s, longPeople, longFrames, start)
	if err != nil {
		return err
	}
	ref := storage.Ref{AppID: oneApp, ConferenceID: "hall-0", At: start.Add(time.Minute)}
	for _, form := range []string{"loose", "packed"} {
		if form == "packed" {
			if err := e.pack(s); err != nil {
				return err
			}
		}
		if s, err = e.measureSize(s, form, rows); err != nil {
			return err
		}
		if err := e.measureReads(s, ref, form, rows); err != nil {
			return err
		}
	}
	return s.Close()
}

func (e *env) measureReads(s store, ref storage.Ref, form string, rows int) error {
	var found, read latencies
	var peak uint64
	for range longReads {
		began := time.Now()
		if _, err := s.Conference(e.ctx, ref); err != nil {
			return err
		}
		found = append(found, time.Since(began))
		took, most, n, err := e.readAll(s, ref)
		if err != nil {
			return err
		}
		if n != rows {
			return fmt.Errorf("%d rows were read, %d were written", n, rows)
		}
		read, peak = append(read, took), max(peak, most)
	}
	slices.Sort(found)
	slices.Sort(read)
	e.add(form, "rows", float64(rows))
	e.add(form, "Conference ms", ms(found.at(0.5)))
	e.add(form, "Records ms", ms(read.at(0.5)))
	e.add(form, "rows/s", float64(rows)/read.at(0.5).Seconds())
	e.add(form, "peak heap MB", float64(peak)/1e6)
	return nil
}

// readAll reads and drops all records of a conference.
func (e *env) readAll(s store, ref storage.Ref) (took time.Duration, peak uint64, n int, err error) {
	runtime.GC()
	before := heap()
	began := time.Now()
	err = s.Records(e.ctx, ref, func(string, storage.Record) bool {
		if n%64 == 0 {
			peak = max(peak, heap())
		}
		n++
		return true
	})
	return time.Since(began), peak - min(before, peak), n, err
}

// heap returns the bytes of live objects and those not collected yet.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
