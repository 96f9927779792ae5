package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/tests/kit/bench"
)

const (
	fewClients  = 200
	manyClients = 10_000
	ackRate     = 1000 // frames a second of all clients
	dialsAtOnce = 64
)

// connect opens so many connections.
func (e *env) connect(kind, address string, n int, logs plog.Logs) ([]client, error) {
	clients := make([]client, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, dialsAtOnce)
	for lane := range dialsAtOnce {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || errs[lane] != nil {
					return
				}
				clients[i], errs[lane] = dial(e.ctx, kind, address, i, logs)
			}
		})
	}
	wg.Wait()
	return clients, errors.Join(errs...)
}

func closeAll(clients []client) {
	for _, c := range clients {
		c.close()
	}
}

// with runs f with a server and so many connections to it.
func (e *env) with(kind string, n int, logs plog.Logs, f func(p *process, clients []client) error) error {
	p, err := e.start(kind)
	if err != nil {
		return err
	}
	clients, err := e.connect(kind, p.address, n, logs)
	if err == nil {
		err = f(p, clients)
		closeAll(clients)
	}
	return errors.Join(err, p.stop())
}

// frames measures the CPU of a frame, one in flight on each of few connections, against the stock receiver and a bare
// WebSocket.
func (e *env) frames() error {
	logs, err := records(e.ctx)
	if err != nil {
		return err
	}
	took, err := e.inTurns(logs, kindQos, kindGRPC, kindHTTP, kindJSON, kindEcho)
	if err != nil {
		return err
	}
	ours := fmt.Sprintf("%.1f µs against", median(took[kindQos]))
	for _, peer := range []struct{ kind, what, goal string }{
		{kindGRPC, "frames a CPU second against OTLP over gRPC", "≥ 2.0"},
		{kindHTTP, "against OTLP over HTTP, protobuf", "≥ 2.5"},
		{kindJSON, "against OTLP over HTTP, JSON", "≥ 4"},
	} {
		e.add(peer.what, fmt.Sprintf("%.2f (%s %.1f)", medianRatio(took[peer.kind], took[kindQos]), ours, median(took[peer.kind])), peer.goal)
	}
	e.add("CPU of a frame, times that of a bare WebSocket", fmt.Sprintf("%.2f (%s %.1f)", medianRatio(took[kindQos], took[kindEcho]), ours, median(took[kindEcho])), "≤ 3")
	return nil
}

// inTurns measures the CPU of a frame of each kind of server, in turns, in µs.
func (e *env) inTurns(logs plog.Logs, kinds ...string) (took map[string][]float64, err error) {
	took = map[string][]float64{}
	for range e.options.turns {
		for _, kind := range kinds {
			err := e.with(kind, fewClients, logs, func(p *process, clients []client) error {
				us, err := e.closedLoop(p, clients)
				took[kind] = append(took[kind], us)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
		}
	}
	return took, nil
}

// peers measures the CPU of a frame in the whole collector, which commits it, against servers of npm that parse it, or
// append it to a file.
func (e *env) peers() error {
	took, err := e.inTurns(plog.Logs{}, kindStore, kindAppend, kindObserver)
	if err != nil {
		return err
	}
	for _, peer := range []struct{ kind, what, goal string }{
		{kindAppend, "frames a CPU second, whole pipeline and SQLite, against a server of npm's ws that appends each to a file", "≥ 1"},
		{kindObserver, "the same against observer-js, which keeps its objects in memory", "≥ 2"},
	} {
		e.add(peer.what, fmt.Sprintf("%.2f (%.1f µs against %.1f)", medianRatio(took[peer.kind], took[kindStore]), median(took[kindStore]), median(took[peer.kind])), peer.goal)
	}
	return nil
}

// closedLoop keeps one frame in flight on each connection, and returns the server's CPU of a frame in µs.
func (e *env) closedLoop(p *process, clients []client) (float64, error) {
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	var done atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, len(clients))
	for i, c := range clients {
		wg.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				// The last exchange ends, so that the connection can be used again.
				errs[i] = c.exchange(e.ctx)
				done.Add(1)
			}
		})
	}
	pause(ctx, e.seconds/4) // until all runs evenly
	from, before, err := done.Load(), time.Duration(0), error(nil)
	if before, err = p.cpu(); err == nil {
		pause(ctx, e.seconds)
	}
	after, more := p.cpu()
	n := done.Load() - from
	cancel()
	wg.Wait()
	return float64((after - before).Nanoseconds()) / 1000 / float64(n), errors.Join(append(errs, err, more)...)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// acks measures how long answers take at a fixed rate over many connections.
func (e *env) acks() error {
	p99 := map[string][]float64{}
	for range max(1, e.options.turns/2) {
		for _, kind := range []string{kindEcho, kindQos, kindStore} {
			err := e.with(kind, manyClients, plog.Logs{}, func(_ *process, clients []client) error {
				took, err := e.openLoop(clients, 4*e.seconds)
				p99[kind] = append(p99[kind], percentile(took, 0.99))
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
		}
	}
	bare := median(p99[kindEcho])
	for _, one := range []struct{ kind, what, goal string }{
		{kindQos, "p99 of an ack, 10,000 connections and 1,000 frames/s, nothing behind, times that of a bare WebSocket", "≤ 1.5"},
		{kindStore, "the same, committed in SQLite", "≤ 4"},
	} {
		e.add(one.what, fmt.Sprintf("%.2f (%.2f ms against %.2f)", medianRatio(p99[one.kind], p99[kindEcho]), median(p99[one.kind]), bare), one.goal)
	}
	return nil
}

// openLoop sends frames at ackRate over the connections in turn, however late answers are, and returns how long each
// took from the time at which it was due, in ms. A frame whose connection still waits for an answer waits for it.
func (e *env) openLoop(clients []client, lasts time.Duration) ([]float64, error) {
	n := int(lasts.Seconds() * ackRate)
	took := make([]float64, n)
	errs := make([]error, n)
	turn := make([]sync.Mutex, len(clients))
	var wg sync.WaitGroup
	began := time.Now()
	for i := range n {
		due := began.Add(time.Duration(i) * time.Second / ackRate)
		pause(e.ctx, time.Until(due))
		wg.Go(func() {
			lane := i % len(clients)
			turn[lane].Lock()
			errs[i] = clients[lane].exchange(e.ctx)
			turn[lane].Unlock()
			took[i] = time.Since(due).Seconds() * 1000
		})
	}
	wg.Wait()
	return took, errors.Join(errs...)
}

// pipeline measures the CPU of a frame at a fixed rate, in the whole collector and in what it consists of.
func (e *env) pipeline() error {
	return errors.Join(
		e.atRate(kindEcho, "a bare WebSocket", "", 32, 320, 5000),
		e.atRate(kindQos, "the receiver with nothing behind", "", 32, 320, 5000),
		e.atRate(kindStore, "the whole pipeline, SQLite", "≤ 100 µs", 32, 320, 5000),
		e.atRate(kindPostgres, "the whole pipeline, PostgreSQL, the collector alone", "≤ 100 µs", 320, 5000),
	)
}

// atRate measures one server. A lone frame costs each of them system calls and wake-ups that frames one after the other share.
func (e *env) atRate(kind, what, goal string, connections ...int) error {
	for _, n := range connections {
		var took []float64
		for range max(1, e.options.turns/2) {
			err := e.with(kind, n, plog.Logs{}, func(p *process, clients []client) error {
				if _, err := e.openLoop(clients, e.seconds); err != nil { // until all runs evenly
					return err
				}
				before, err := p.cpu()
				if err != nil {
					return err
				}
				lasts := 3 * e.seconds
				var profile sync.WaitGroup
				if e.options.profiles != "" && p.pprof != "" {
					profile.Go(func() {
						file := filepath.Join(e.options.profiles, fmt.Sprintf("pipeline-%s-%d.pprof", kind, n))
						if err := p.profile(e.ctx, lasts, file); err != nil {
							fmt.Fprintln(os.Stderr, "compare: profile:", err)
						}
					})
				}
				if _, err = e.openLoop(clients, lasts); err != nil {
					return err
				}
				after, err := p.cpu()
				profile.Wait()
				took = append(took, float64((after-before).Microseconds())/(lasts.Seconds()*ackRate))
				return err
			})
			if err != nil {
				return err
			}
		}
		e.add(fmt.Sprintf("CPU of a frame at 1,000 frames/s, %d connections: %s", n, what), fmt.Sprintf("%.0f µs", median(took)), goal)
	}
	return nil
}

// idle measures the memory of connections that do nothing after their first frame.
func (e *env) idle() error {
	const n = 5000
	held := map[string]float64{}
	for _, kind := range []string{kindEcho, kindQos, kindEchoTLS, kindQosTLS} {
		err := e.memory(kind, func(p *process, before state) error {
			clients, err := e.connect(kind, p.address, n, plog.Logs{})
			if err != nil {
				return err
			}
			if err := e.once(clients); err != nil {
				return err
			}
			pause(e.ctx, 5*time.Second)
			after, err := p.state()
			held[kind] = float64(after.RSS-before.RSS) / n
			closeAll(clients)
			return err
		})
		if err != nil {
			return err
		}
	}
	row := func(what, own, other, goal string) {
		e.add(what, fmt.Sprintf("%.2f (%.1f against %.1f kB)", held[own]/held[other], held[own]/1000, held[other]/1000), goal)
	}
	row("RSS of an idle connection that logged in, times that of a gorilla server with its defaults", kindQos, kindEcho, "≤ 0.55")
	row("the same over TLS", kindQosTLS, kindEchoTLS, "≤ 0.60")
	return nil
}

// churn measures what stays when connections were opened, used and closed.
func (e *env) churn() error {
	return e.memory(kindQos, func(p *process, before state) error {
		clients, err := e.connect(kindQos, p.address, manyClients, plog.Logs{})
		if err != nil {
			return err
		}
		err = e.once(clients)
		closeAll(clients)
		if err != nil {
			return err
		}
		pause(e.ctx, 20*time.Second)
		after, err := p.state()
		e.add("RSS after 10,000 connections were opened, used and closed, times that before",
			fmt.Sprintf("%.2f (%.1f against %.1f MB, goroutines %d against %d)", float64(after.RSS)/float64(before.RSS), float64(after.RSS)/1e6, float64(before.RSS)/1e6, after.Goroutines, before.Goroutines), "≤ 1.1, no goroutine")
		return err
	})
}

// memory runs f with a server that has served a few connections.
func (e *env) memory(kind string, f func(p *process, before state) error) error {
	p, err := e.start(kind)
	if err != nil {
		return err
	}
	run := func() error {
		clients, err := e.connect(kind, p.address, fewClients, plog.Logs{})
		if err == nil {
			err = e.once(clients)
		}
		if err != nil {
			return err
		}
		closeAll(clients)
		pause(e.ctx, 2*time.Second)
		before, err := p.state()
		if err != nil {
			return err
		}
		return f(p, before)
	}
	return errors.Join(run(), p.stop())
}

// once exchanges one frame on each connection.
func (e *env) once(clients []client) error {
	for _, c := range clients {
		if err := c.exchange(e.ctx); err != nil {
			return err
		}
	}
	return nil
}

func median(values []float64) float64 { return percentile(values, 0.5) }

// medianRatio is the median of the ratios of the turns.
func medianRatio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
}

func percentile(values []float64, share float64) float64 {
	return bench.Quantile(slices.Sorted(slices.Values(values)), share)
}
