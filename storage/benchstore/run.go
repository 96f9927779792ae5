package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/qosrtc/qos/storage/postgres/postgrestest"
)

const (
	storeCore  = 0 // of the collector's side
	serverCore = 1 // of PostgreSQL's server
)

// measureAll runs every section for every engine, each in a process of its own, and draws
// the tables.
func measureAll(ctx context.Context, o options, out io.Writer) error {
	dir, err := os.MkdirTemp("", "qos-benchstore")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // nobody can do more about it
	if strings.Contains(o.engines, postgresName) {
		var server *postgrestest.Server
		if err := onCore(serverCore, func() (err error) { server, err = postgrestest.New(); return err }); err != nil {
			return fmt.Errorf("PostgreSQL: %w", err)
		}
		defer server.Close()
		o.dsn = server.DSN("postgres")
	}
	document := &bytes.Buffer{}
	both := io.MultiWriter(out, document)
	if _, err := fmt.Fprintf(both, "%s\n%s conferences to search, %g s a rate.\n", facts(dir), short(float64(o.conferences)), o.seconds); err != nil {
		return err
	}
	var all []result
	for _, s := range sections {
		if o.sections != "" && !strings.Contains(","+o.sections+",", ","+s.name+",") {
			continue
		}
		results, err := measureSection(ctx, o, s, dir)
		if err != nil {
			return err
		}
		all = append(all, results...)
		if _, err := fmt.Fprintf(both, "\n### %s\n\n%s", s.title, table(results)); err != nil {
			return err
		}
	}
	return publish(o, all, document.String())
}

func measureSection(ctx context.Context, o options, s section, dir string) (results []result, err error) {
	for engine := range strings.SplitSeq(o.engines, ",") {
		if engine == "SQLite full" && !s.durable {
			continue
		}
		began := time.Now()
		some, err := child(ctx, o, s.name+"/"+engine, dir)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", s.name, engine, err)
		}
		fmt.Fprintf(os.Stderr, "%s, %s: %s\n", s.name, engine, time.Since(began).Round(time.Second))
		results = append(results, some...)
	}
	return results, nil
}

// child measures one section in a process of its own, on one core, in an empty directory.
func child(ctx context.Context, o options, name, parent string) (results []result, err error) {
	dir, err := os.MkdirTemp(parent, "section")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", name, "-dir", dir, "-dsn", o.dsn, //nolint:gosec // ourselves
		"-conferences", strconv.Itoa(o.conferences), "-seconds", fmt.Sprint(o.seconds))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := onCore(storeCore, cmd.Start); err != nil {
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return nil, err
	}
	for lines := json.NewDecoder(&out); ; {
		var r result
		if err := lines.Decode(&r); errors.Is(err, io.EOF) {
			return results, nil
		} else if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
}

// publish writes the files that were asked for.
func publish(o options, results []result, document string) error {
	if o.json != "" {
		var lines bytes.Buffer
		for _, r := range results {
			if err := json.NewEncoder(&lines).Encode(r); err != nil {
				return err
			}
		}
		if err := os.WriteFile(o.json, lines.Bytes(), 0o644); err != nil { //nolint:gosec // figures are no secret
			return err
		}
	}
	if o.docs == "" {
		return nil
	}
	text, err := os.ReadFile(o.docs)
	if err != nil {
		return err
	}
	text, err = between(text, document)
	if err != nil {
		return fmt.Errorf("%s: %w", o.docs, err)
	}
	return os.WriteFile(o.docs, text, 0o644) //nolint:gosec // it is in the repository
}

// The marks in the document; what stands between them is written by this program.
const (
	beginMark = "<!-- bench-store begins -->\n"
	endMark   = "<!-- bench-store ends -->\n"
)

// between puts a document between the marks of a text.
func between(text []byte, document string) ([]byte, error) {
	before, rest, found := strings.Cut(string(text), beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !found || !ended {
		return nil, errors.New("the marks of the store's figures are missing")
	}
	return []byte(before + beginMark + "\n" + document + "\n" + endMark + after), nil
}
