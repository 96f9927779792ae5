package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	conferences int
	seconds     float64
	engines     string
	sections    string
	json, docs  string

	child, dsn, dir string // how a process of ours measures one section
}

func readOptions(args []string) (o options, err error) {
	f := flag.NewFlagSet("benchstore", flag.ContinueOnError)
	f.IntVar(&o.conferences, "conferences", 1_000_000, "conferences to search")
	f.Float64Var(&o.seconds, "seconds", 10, "for how long each rate is measured")
	f.StringVar(&o.engines, "engines", strings.Join(engineNames, ","), "engines, by their names")
	f.StringVar(&o.sections, "sections", "", "sections, by their names; empty: all")
	f.StringVar(&o.json, "json", "", "file for the figures as JSON lines")
	f.StringVar(&o.docs, "docs", "", "Markdown file between whose marks the tables go")
	f.StringVar(&o.child, "child", "", "for its own use")
	f.StringVar(&o.dsn, "dsn", "", "for its own use")
	f.StringVar(&o.dir, "dir", "", "for its own use")
	return o, f.Parse(args)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "benchstore:", err)
		os.Exit(1) //nolint:forbidigo // a program's end
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := readOptions(args)
	if err != nil {
		return err
	}
	if o.child != "" {
		return measureOne(ctx, o, os.Stdout)
	}
	return measureAll(ctx, o, os.Stdout)
}

// env is what a section has.
type env struct {
	engine      engine
	report      report
	seconds     time.Duration
	conferences int
	dir         string
	now         time.Time // of the model
}

// some returns n, or less where less than a second is measured: all is to be quick then.
func (e *env) some(n int) int { return min(n, max(2, int(float64(n)*e.seconds.Seconds()))) }

// section measures one thing for one engine.
type section struct {
	name, title string
	run         func(context.Context, *env) error
	durable     bool // whether it differs by how durable SQLite is
}

var sections = []section{
	{"writes", "Commits, one frame of 5 rows each", measureWrites, true},
	{"upkeep", "Rows, packing and retention", measureUpkeep, false},
	{"long", "One conference of 2 hours and 8 people", measureLong, false},
	{"search", "Search, first page of 50", measureSearch, false},
}

// measureOne is the child's work: one section of one engine, "section/engine".
func measureOne(ctx context.Context, o options, out io.Writer) error {
	name, engine, _ := strings.Cut(o.child, "/")
	i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
	if i < 0 {
		return fmt.Errorf("there is no section %q", name)
	}
	e, err := newEngine(engine, o.dir, o.dsn)
	if err != nil {
		return err
	}
	return sections[i].run(ctx, &env{
		engine: e, report: report{name, engine, out}, conferences: o.conferences, dir: o.dir,
		seconds: time.Duration(o.seconds * float64(time.Second)),
		now:     time.Now().Truncate(time.Hour).Add(-3 * time.Hour), // so that nothing is ahead of the clock
	})
}
