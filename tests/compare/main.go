// Command compare measures a collector beside stock components that receive the same: the collector's own OTLP
// receiver, and a gorilla/websocket server that answers each message and nothing else. `make bench-compare` runs it; it
// is no test and never runs in CI.
//
// Each server is a process of its own on one core, its clients are on another. CPU is that of all threads of the server
// (/proc/<pid>/task/*/schedstat). Servers that are compared take turns, and a ratio is the median of the ratios of the turns.
//
// The table goes to standard output. With -docs it replaces the section of its title in a Markdown file.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/qosrtc/qos/tests/kit/bench"
)

const (
	serverCore = 0
	clientCore = 1
)

// options are the flags.
type options struct {
	serve     string // the server that this process is; empty: the clients
	flood     string // address of the server that this process floods; empty: none
	pinned    bool   // this process is on the clients' core
	collector string
	node      string
	turns     int
	seconds   float64
	sections  string
	docs      string
	profiles  string
}

func main() {
	var o options
	flag.StringVar(&o.serve, "serve", "", "be a server of this kind (used by the program itself)")
	flag.StringVar(&o.flood, "flood", "", "flood the server at this address (used by the program itself)")
	flag.BoolVar(&o.pinned, "pinned", false, "the process is on a core (used by the program itself)")
	flag.StringVar(&o.collector, "collector", "bin/qos-collector", "binary of the collector")
	flag.StringVar(&o.node, "node", "tests/compare/node", "folder of the servers in Node, with their packages")
	flag.IntVar(&o.turns, "turns", 5, "turns of the servers that are compared")
	flag.Float64Var(&o.seconds, "seconds", 4, "for how long a rate is measured")
	flag.StringVar(&o.sections, "sections", "frame,peers,ack,beside,storm,pipeline,idle,churn", "sections, by their names")
	flag.StringVar(&o.docs, "docs", "", "Markdown file whose section of this title the table replaces")
	flag.StringVar(&o.profiles, "profiles", "", "folder for CPU profiles of the whole pipeline, which cost it a little")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1) //nolint:forbidigo // a program's end
	}
}

func run(ctx context.Context, o options) error {
	switch {
	case o.serve != "":
		return serve(ctx, o.serve)
	case o.flood != "":
		return floodUntil(ctx, o.flood)
	case o.pinned:
		return measure(ctx, o)
	}
	// A process inherits the core that it begins on, with all its threads.
	self := exec.CommandContext(ctx, os.Args[0], append([]string{"-pinned"}, os.Args[1:]...)...)
	self.Stdout, self.Stderr = os.Stdout, os.Stderr
	return bench.OnCore(clientCore, self.Run)
}

// section measures one thing.
type section struct {
	name string
	run  func(*env) error
}

var sections = []section{
	{"frame", (*env).frames},
	{"peers", (*env).peers},
	{"ack", (*env).acks},
	{"beside", (*env).beside},
	{"storm", (*env).storm},
	{"pipeline", (*env).pipeline},
	{"idle", (*env).idle},
	{"churn", (*env).churn},
}

// env is what a section has.
type env struct {
	ctx     context.Context // it ends with the program
	options options
	seconds time.Duration
	rows    []string

	database database
}

func (e *env) add(what, measured, goal string) {
	row := fmt.Sprintf("| %s | %s | %s |", what, measured, goal)
	fmt.Fprintln(os.Stderr, row)
	e.rows = append(e.rows, row)
}

const title = "Figures of the last run"

func measure(ctx context.Context, o options) error {
	e := &env{ctx: ctx, options: o, seconds: time.Duration(o.seconds * float64(time.Second))}
	defer e.database.close()
	for _, s := range sections {
		if !strings.Contains(o.sections, s.name) {
			continue
		}
		if err := s.run(e); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	text := fmt.Sprintf("### %s\n\n%s\n\n| | measured | goal |\n| --- | --- | --- |\n%s\n", title, facts(o), strings.Join(e.rows, "\n"))
	if _, err := os.Stdout.WriteString(text); err != nil || o.docs == "" {
		return err
	}
	return bench.ReplaceSection(o.docs, title, text)
}

func facts(o options) string {
	commit, _ := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	return fmt.Sprintf("%s, %s, commit %s, %d turns of %g s, load at the end %s. Each frame has five rows of 18 values.",
		runtime.Version(), time.Now().Format(time.DateOnly), strings.TrimSpace(string(commit)), o.turns, o.seconds, bench.Load())
}
