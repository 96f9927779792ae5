package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

const (
	liveSessions = 512 // that send in turn while commits are measured
	loopFrames   = 8   // different frames a session sends, over and over
	rowsAFrame   = 5
)

// source makes the frames of many live calls of two, in turn, for one writer.
type source struct {
	templates [][]storage.Batch // by session
	sent      int
}

// newSource makes the frames of some sessions; number tells writers apart.
func newSource(p *pipeline, sessions, number int, start time.Time) (*source, error) {
	s := &source{}
	for i := range (sessions + 1) / 2 {
		for _, who := range meeting(fmt.Sprintf("room-%d-%d", number, i), 2, start, uint64(number)<<32|uint64(i)) {
			var loop []storage.Batch
			for range loopFrames {
				b, err := p.frame(who)
				if err != nil {
					return nil, err
				}
				loop = append(loop, b)
			}
			s.templates = append(s.templates, loop)
		}
	}
	return s, nil
}

// next returns the next frame: one that was made, at its place in time. Only the store is
// measured.
func (s *source) next() storage.Batch {
	round := s.sent / len(s.templates)
	b := s.templates[s.sent%len(s.templates)][round%loopFrames]
	s.sent++
	later := time.Duration(round/loopFrames*loopFrames) * interval
	records := make([]storage.Record, len(b.Records))
	for i, r := range b.Records {
		r.Seq, r.At, r.ObservedAt = uint64(round+1), r.At.Add(later), r.ObservedAt.Add(later)
		records[i] = r
	}
	b.Records = records
	return b
}

// bodies returns what the store keeps of a source's first frames, without their keys.
func bodies(ctx context.Context, s *source) (out [][]byte, err error) {
	words := frames.NewDictionary()
	learn := func(_ context.Context, missing map[string]bool) error {
		ids := map[string]uint64{}
		for word := range missing {
			ids[word] = uint64(len(ids) + 1)
		}
		words.Add(ids)
		return nil
	}
	for _, loop := range s.templates {
		prepared, err := frames.Prepare(ctx, words, learn, loop[:1])
		if err != nil {
			return nil, err
		}
		for _, frame := range prepared[0].Frames {
			out = append(out, frame.Body)
		}
	}
	return out, nil
}

// measureWrites compares one frame a commit of a plain table, and a loop of fsync, with
// the store's.
func measureWrites(ctx context.Context, e *env) error {
	if err := measureSync(e); err != nil {
		return err
	}
	for _, writers := range []int{1, 8, 64} {
		sources, err := newSources(ctx, writers, max(2, e.some(liveSessions)/writers), e.now)
		if err != nil {
			return err
		}
		plain, err := measurePlain(ctx, e, sources)
		if err != nil {
			return err
		}
		if err := measureAppends(ctx, e, sources, plain); err != nil {
			return err
		}
	}
	return nil
}

func newSources(ctx context.Context, writers, sessions int, start time.Time) (out []*source, err error) {
	p, err := startPipeline(ctx)
	if err != nil {
		return nil, err
	}
	for i := range writers {
		s, err := newSource(p, sessions, i, start)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, p.stop()
}

// measureSync writes a page and forces it to the disk, over and over.
func measureSync(e *env) error {
	path := filepath.Join(e.dir, "sync")
	f, err := os.Create(path) //nolint:gosec // our own temporary directory
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }() // the directory goes anyway
	defer func() { _ = f.Close() }()       // nobody reads it
	page := make([]byte, 4096)
	done, err := repeat(1, e.seconds/4, func(int) error {
		if _, err := f.Write(page); err != nil {
			return err
		}
		return f.Sync()
	})
	if err != nil {
		return err
	}
	return e.commits("4 kB and fsync, 1 writer", done)
}

func measurePlain(ctx context.Context, e *env, sources []*source) (measured, error) {
	table, err := e.engine.plain(ctx)
	if err != nil {
		return measured{}, err
	}
	var inserts []func([]byte) error
	var rows [][][]byte
	for _, s := range sources {
		insert, err := table.connection(ctx)
		if err != nil {
			return measured{}, err
		}
		some, err := bodies(ctx, s)
		if err != nil {
			return measured{}, err
		}
		inserts, rows = append(inserts, insert), append(rows, some)
	}
	next := make([]int, len(sources))
	done, err := repeat(len(sources), e.seconds/2, func(writer int) error {
		next[writer]++
		return inserts[writer](rows[writer][next[writer]%len(rows[writer])])
	})
	if err != nil {
		return done, err
	}
	if err := table.close(); err != nil {
		return done, err
	}
	return done, e.commits("plain insert, "+people(len(sources)), done)
}

func measureAppends(ctx context.Context, e *env, sources []*source, plain measured) error {
	s, err := e.engine.open(ctx, true)
	if err != nil {
		return err
	}
	write := func(writer int) error {
		_, err := s.Append(ctx, []storage.Batch{sources[writer].next()})
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
	if err := e.commits(what, done); err != nil {
		return err
	}
	if err := e.report.add(what, "of plain", done.perSecond()/plain.perSecond()); err != nil {
		return err
	}
	return s.Close()
}

func people(writers int) string {
	if writers == 1 {
		return "1 writer"
	}
	return fmt.Sprint(writers, " writers")
}

// measured is what repeat saw.
type measured struct {
	took    time.Duration
	latency latencies
}

func (m measured) perSecond() float64 { return float64(len(m.latency)) / m.took.Seconds() }

func (e *env) commits(what string, m measured) error {
	if err := e.report.add(what, "commits/s", m.perSecond()); err != nil {
		return err
	}
	return e.report.latency(what, m.latency)
}

// repeat lets workers do something over and over for a time.
func repeat(workers int, long time.Duration, do func(worker int) error) (m measured, err error) {
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
