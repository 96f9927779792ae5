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
	d := figures{head: fmt.Sprintf("%s\n%s conferences to search, %g s a rate.\n", facts(dir), short(float64(o.conferences)), o.seconds)}
	if _, err := io.WriteString(out, d.head); err != nil {
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
		d.sections = append(d.sections, [2]string{s.title, table(results)})
		if _, err := fmt.Fprintf(out, "\n### %s\n\n%s", s.title, table(results)); err != nil {
			return err
		}
	}
	return publish(o, all, d)
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
func publish(o options, results []result, d figures) error {
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
	put := d.whole
	if o.sections != "" {
		put = d.some
	}
	if text, err = put(text); err != nil {
		return fmt.Errorf("%s: %w", o.docs, err)
	}
	return os.WriteFile(o.docs, text, 0o644) //nolint:gosec // it is in the repository
}
