package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// bodies returns the stored columns of a source's first frames, without their keys.
func bodies(s *source) (out [][]byte, err error) {
	for _, loop := range s.templates {
		prepared, err := frames.Prepare(loop[:1])
		if err != nil {
			return nil, err
		}
		for _, frame := range prepared[0].Frames {
			out = append(out, frame.Body)
		}
	}
	return out, nil
}

// measureWrites compares one frame a commit into a plain table, and repeated fsync, with
// the store.
func measureWrites(e *env) error {
	if err := measureSync(e); err != nil {
		return err
	}
	for _, writers := range []int{1, 8, 64} {
		sources := newSources(writers, max(2, e.scaled(liveSessions)/writers), e.now)
		plain, err := measurePlain(e, sources)
		if err != nil {
			return err
		}
		if err := measureAppends(e, sources, plain); err != nil {
			return err
		}
	}
	return nil
}

// measureSync repeatedly writes a page and syncs it to disk.
func measureSync(e *env) error {
	dir, err := os.MkdirTemp("", "qos-sync")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()        // it holds nothing
	f, err := os.Create(filepath.Join(dir, "sync")) //nolint:gosec // our own temporary directory
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	page := make([]byte, 4096)
	done, err := repeat(1, e.seconds/4, func(int) error {
		if _, err := f.Write(page); err != nil {
			return err
		}
		return f.Sync()
	})
	e.commits("4 kB and fsync, 1 writer", done)
	return err
}

func measurePlain(e *env, sources []*source) (done repeatResult, err error) {
	if err := e.empty(e.ctx); err != nil {
		return done, err
	}
	rows := make([][][]byte, len(sources))
	for i, s := range sources {
		if rows[i], err = bodies(s); err != nil {
			return done, err
		}
	}
	err = e.with(e.dsn, func(db *sql.DB) (err error) {
		db.SetMaxIdleConns(len(sources))
		if e.driver == "sqlite" { // it has one writer
			db.SetMaxOpenConns(1)
		}
		if _, err := db.ExecContext(e.ctx, e.plainTable); err != nil {
			return err
		}
		insert, err := db.PrepareContext(e.ctx, e.plainInsert)
		if err != nil {
			return err
		}
		next := make([]int, len(sources))
		done, err = repeat(len(sources), e.seconds/2, func(writer int) error {
			next[writer]++
			_, err := insert.ExecContext(e.ctx, rows[writer][next[writer]%len(rows[writer])])
			return err
		})
		return err
	})
	e.commits("plain insert, "+people(len(sources)), done)
	return done, err
}

func measureAppends(e *env, sources []*source, plain repeatResult) error {
	s, err := e.create(e.ctx)
	if err != nil {
		return err
	}
	write := func(writer int) error {
		_, err := s.Append(e.ctx, []storage.Batch{sources[writer].next()})
		return err
	}
	for writer, source := range sources { // the sessions' first frames are not measured
		for range source.templates {
			if err := write(writer); err != nil {
				return err
			}
		}
	}
	done, err := repeat(len(sources), e.seconds, write)
	if err != nil {
		return err
	}
	what := "Append, " + people(len(sources))
	e.commits(what, done)
	e.add(what, "of plain", done.perSecond()/plain.perSecond())
	return s.Close()
}

func people(writers int) string {
	if writers == 1 {
		return "1 writer"
	}
	return fmt.Sprint(writers, " writers")
}

// repeatResult is the result of repeat.
type repeatResult struct {
	took    time.Duration
	latency latencies
}

func (m repeatResult) perSecond() float64 { return float64(len(m.latency)) / m.took.Seconds() }

func (e *env) commits(what string, m repeatResult) {
	e.add(what, "commits/s", m.perSecond())
	e.latency(what, m.latency)
}

// repeat runs do in concurrent workers for a time.
func repeat(workers int, long time.Duration, do func(worker int) error) (m repeatResult, err error) {
	took := make([]latencies, workers)
	errs := make([]error, workers)
	start := time.Now()
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for now := start; now.Sub(start) < long && errs[worker] == nil; {
				errs[worker] = do(worker)
				then := time.Now()
				took[worker] = append(took[worker], then.Sub(now))
				now = then
			}
		})
	}
	wg.Wait()
	m.took = time.Since(start)
	for worker := range workers {
		if errs[worker] != nil {
			return m, errs[worker]
		}
		m.latency = append(m.latency, took[worker]...)
	}
	return m, nil
}

func wait(ctx context.Context, long time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(long):
		return nil
	}
}
