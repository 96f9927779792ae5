// Command benchstore measures the engines of the store: committed frames a second and the
// duration of a commit, bytes a row, searches, one long conference, packing and retention.
// `make bench-store` runs it; it is no test and never runs in CI.
//
// Every figure is beside a baseline of the same run, so that claims are ratios. It runs
// on one core; PostgreSQL's server has another. The frames are those of storagetest.Call, with
// the scores of the quality models.
//
// The tables are written to standard output. With -docs each table replaces the section with its
// title in a Markdown file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/qosrtc/qos/tests/kit/bench"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

const (
	storeCore  = 0 // of the collector's side
	serverCore = 1 // of PostgreSQL's server
)

// options are the flags.
type options struct {
	conferences       int
	seconds           float64
	engines, sections string
	docs              string
}

func main() {
	runtime.GOMAXPROCS(1)
	var o options
	flag.IntVar(&o.conferences, "conferences", 1_000_000, "conferences to search")
	flag.Float64Var(&o.seconds, "seconds", 10, "for how long each rate is measured")
	flag.StringVar(&o.engines, "engines", strings.Join(engineNames, ","), "engines, by their names")
	flag.StringVar(&o.sections, "sections", "writes,upkeep,long,search", "sections, by their names")
	flag.StringVar(&o.docs, "docs", "", "Markdown file whose sections of these titles the tables replace")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "benchstore:", err)
		os.Exit(1) //nolint:forbidigo // a program's end
	}
}

// env is the environment of a section.
type env struct {
	*engine
	report
	ctx         context.Context // it ends with the program
	seconds     time.Duration
	conferences int
	now         time.Time // of the model
}

// scaled returns n, or fewer if less than a second is measured, for quick runs.
func (e *env) scaled(n int) int { return min(n, max(2, int(float64(n)*e.seconds.Seconds()))) }

// section measures one thing for one engine.
type section struct {
	name, title string
	run         func(*env) error
	durable     bool // run again with SynchronousFull of SQLite
}

var sections = []section{
	{"writes", "Commits, one frame of 5 rows each", measureWrites, true},
	{"upkeep", "Rows, packing and retention", measureUpkeep, false},
	{"long", "One conference of 2 hours and 8 people", measureLong, false},
	{"search", "Search, first page of 50", measureSearch, false},
}

func run(o options) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "qos-benchstore")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var server *postgrestest.Server
	if strings.Contains(o.engines, postgresName) {
		if err := bench.OnCore(serverCore, func() (err error) { server, err = postgrestest.New(); return err }); err != nil {
			return fmt.Errorf("PostgreSQL: %w", err)
		}
		defer server.Close()
	}
	return bench.OnCore(storeCore, func() error {
		for _, s := range sections {
			if !strings.Contains(o.sections, s.name) {
				continue
			}
			if err := measure(ctx, o, s, dir, server); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		return nil
	})
}

// measure runs one section for every engine and publishes its table.
func measure(ctx context.Context, o options, s section, dir string, server *postgrestest.Server) error {
	head := fmt.Sprintf("%s\n%s conferences to search, %g s a rate.\n", facts(dir), short(float64(o.conferences)), o.seconds)
	var all table
	for name := range strings.SplitSeq(o.engines, ",") {
		if name == "SQLite full" && !s.durable {
			continue
		}
		eng, err := newEngine(name, dir, server)
		if err != nil {
			return err
		}
		e := &env{
			ctx: ctx, engine: eng, report: report{name, &all}, conferences: o.conferences,
			seconds: time.Duration(o.seconds * float64(time.Second)),
			now:     time.Now().Truncate(time.Hour).Add(-3 * time.Hour), // all times are in the past
		}
		if err := s.run(e); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	text := fmt.Sprintf("### %s\n\n%s\n%s", s.title, head, all)
	if _, err := os.Stdout.WriteString(text + "\n"); err != nil || o.docs == "" {
		return err
	}
	return bench.ReplaceSection(o.docs, s.title, text)
}
