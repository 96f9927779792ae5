package main

import (
	"context"
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
func measureLong(ctx context.Context, e *env) error {
	s, err := e.engine.open(ctx, true)
	if err != nil {
		return err
	}
	rows, err := e.load(ctx, s, []hall{{people: longPeople, start: e.now.Add(-24 * time.Hour)}}, e.some(longFrames))
	if err != nil {
		return err
	}
	ref := storage.Ref{AppID: oneApp, ConferenceID: "hall-0", At: e.now.Add(-24*time.Hour + time.Minute)}
	for _, form := range []string{"loose", "packed"} {
		if form == "packed" {
			if packed, err := e.pack(ctx, s, e.now); err != nil || !packed {
				return err
			}
		}
		if s, err = e.measureSize(ctx, s, form, rows); err != nil {
			return err
		}
		if err := e.measureReads(ctx, s, ref, form, rows); err != nil {
			return err
		}
	}
	return s.Close()
}

func (e *env) measureReads(ctx context.Context, s store, ref storage.Ref, form string, rows int) error {
	var found, read latencies
	var peak uint64
	for range longReads {
		began := time.Now()
		if _, err := s.Conference(ctx, ref); err != nil {
			return err
		}
		found = append(found, time.Since(began))
		took, most, n, err := readAll(ctx, s, ref)
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
	for _, r := range []struct {
		metric string
		value  float64
	}{
		{"rows", float64(rows)},
		{"Conference ms", ms(found.at(0.5))},
		{"Records ms", ms(read.at(0.5))},
		{"rows/s", float64(rows) / read.at(0.5).Seconds()},
		{"peak heap MB", float64(peak) / 1e6},
	} {
		if err := e.report.add(form, r.metric, r.value); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads all records of a conference and keeps none.
func readAll(ctx context.Context, s store, ref storage.Ref) (took time.Duration, peak uint64, n int, err error) {
	runtime.GC()
	before := heap()
	began := time.Now()
	err = s.Records(ctx, ref, func(string, storage.Record) bool {
		if n%64 == 0 {
			peak = max(peak, heap())
		}
		n++
		return true
	})
	return time.Since(began), peak - min(before, peak), n, err
}

// heap returns the bytes of objects that are alive or not collected yet.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
