// Command qos-load puts a collector under the load of many pages: conferences with joins, leaves, mutes, errors, ratings
// and networks that go bad (package tests/fleet), over the wire protocol. `make load` builds it.
//
// The load is open loop: the script gives each conference and each frame its time, and the latency of a frame is counted
// from that time until its ack, so that a slow collector does not slow its load. By the script a constant number of
// conferences is live: each that ends is followed by another. The same seed gives the same conferences and starts. A
// collector that is far too slow leaves more conferences live than a machine can play: beyond twice the number of the
// script, conferences are not started, and the run fails.
//
// At the end it prints the rates, the latencies and the losses. With -metrics it compares the number of acknowledged
// records with those that the collector's store exporter wrote meanwhile, and fails if they differ: nothing else may
// send records to that collector. With -store it reads a copy of the collector's SQLite file, and fails unless each
// acknowledged record is stored once, and no record of the run is stored that was not sent.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/qosrtc/qos/storage"
)

// options are the flags.
type options struct {
	url, app, secret, origin string
	metrics, store           string
	live                     int
	ramp, lasts, length      time.Duration
	interval                 time.Duration
	seed                     uint64
}

func (o *options) validate() error {
	switch {
	case o.url == "" || o.app == "" || o.secret == "":
		return errors.New("url, app and secret are required")
	case o.live < 1:
		return fmt.Errorf("live must be positive (got %d)", o.live)
	case o.interval < time.Second || o.interval > 20*time.Second:
		return fmt.Errorf("interval must be from 1s to 20s (got %s)", o.interval)
	case o.length < 10*time.Second || o.lasts <= 0 || o.ramp < 0:
		return fmt.Errorf("length must be at least 10s, for positive and ramp not negative (got %s, %s, %s)", o.length, o.lasts, o.ramp)
	}
	return nil
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "http://localhost:8480/", "back-end URL of the collector")
	flag.StringVar(&o.app, "app", "demo", "AppID")
	flag.StringVar(&o.secret, "secret", os.Getenv("QOS_APP_SECRET"), "app secret; by default of the environment variable QOS_APP_SECRET")
	flag.StringVar(&o.origin, "origin", "", "Origin header, if the application has origins")
	flag.StringVar(&o.metrics, "metrics", "", "URL of the collector's own metrics, to compare the number of records; empty: it is not compared")
	flag.StringVar(&o.store, "store", "", "SQLite file of the collector, to compare the ledger record by record; empty: it is not compared")
	flag.IntVar(&o.live, "live", 100, "conferences that are live at a time")
	flag.DurationVar(&o.ramp, "ramp", 30*time.Second, "time in which the first of them begin")
	flag.DurationVar(&o.lasts, "for", 5*time.Minute, "time of the load after the ramp")
	flag.DurationVar(&o.length, "length", 5*time.Minute, "mean length of a conference")
	flag.DurationVar(&o.interval, "interval", 10*time.Second, "between two measurements of a fabric")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the conferences")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := run(ctx, o)
	if report != nil {
		_, printErr := os.Stdout.WriteString(report.String())
		err = errors.Join(err, printErr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "qos-load:", err)
		os.Exit(1) //nolint:forbidigo,gocritic // a program's end
	}
}

// run loads the collector and returns what was measured, also beside an error about the ledger or the load.
func run(ctx context.Context, o options) (*report, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	before, err := written(ctx, o.metrics)
	if err != nil {
		return nil, err
	}
	l := newLoad(o, time.Now())
	l.run(ctx)
	r := l.stats.report(l.ended.Sub(l.began))
	return r, errors.Join(r.checkStarts(), r.checkWritten(ctx, o.metrics, before), r.checkStore(ctx, l))
}

// checkStarts returns an error if the load was lower than planned.
func (r *report) checkStarts() error {
	if r.notStarted == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d conferences were not started: too many others were live, and the load was lower than planned",
		r.notStarted, r.notStarted+r.conferences)
}

// checkWritten compares the number of acknowledged records with those that the store exporters wrote since before.
func (r *report) checkWritten(ctx context.Context, metrics string, before int64) error {
	if metrics == "" {
		return nil
	}
	after, err := written(ctx, metrics)
	if err != nil {
		return err
	}
	if r.written = after - before; r.written != r.records {
		return fmt.Errorf("%d records were acknowledged, and %d written", r.records, r.written)
	}
	return nil
}

// checkStore compares the records of the run with the store.
func (r *report) checkStore(ctx context.Context, l *load) error {
	if l.store == "" {
		return nil
	}
	return readStore(ctx, l.store, func(store storage.Reader) (err error) {
		if r.balance, err = l.balance(ctx, store); err != nil {
			return err
		}
		return r.balance.err()
	})
}
