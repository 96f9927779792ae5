package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// quickTime is the length of `make quick`.
const quickTime = time.Minute

// runQuick runs the tests of packages that changed since the merge base with main, then of those that import them,
// nearest first, and vitest for changed scripts. It ends after quickTime and names what it did not run.
func runQuick(ctx context.Context, out io.Writer) error {
	files, err := changedFiles(ctx)
	if err != nil {
		return err
	}
	packages, err := testPackages(ctx)
	if err != nil {
		return err
	}
	rings, skipped := nearest(packages, files)
	bounded, cancel := context.WithTimeout(ctx, quickTime)
	defer cancel()
	q := &quickRun{out: out}
	if scripts := scriptsOf(files); len(scripts) > 0 {
		q.vitest(bounded, scripts)
	}
	for _, ring := range rings {
		q.goTest(bounded, ring)
	}
	for _, name := range append(q.missed, skipped...) {
		q.print("not run %s\n", name)
	}
	if len(files) == 0 {
		q.print("nothing changed\n")
	}
	q.print("%d packages passed, %d failed; `make test` runs everything\n", q.passed, q.failed)
	if q.failed > 0 {
		return errTests
	}
	return ctx.Err()
}

// changedFiles returns the paths of files that differ from the merge base with main. On main itself, without
// changes, those of the last commit.
func changedFiles(ctx context.Context) (files []string, err error) {
	base := "HEAD"
	for _, name := range []string{"origin/main", "main"} {
		if found, err := git(ctx, "merge-base", "HEAD", name); err == nil {
			base = found[0]
			break
		}
	}
	changed, err := git(ctx, "diff", "--name-only", base)
	if err != nil {
		return nil, err
	}
	untracked, err := git(ctx, "ls-files", "--others", "--exclude-standard")
	if files = slices.Concat(changed, untracked); err != nil || len(files) > 0 {
		return files, err
	}
	return git(ctx, "diff", "--name-only", "HEAD~1")
}

func git(ctx context.Context, args ...string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.Fields(string(out)), nil
}

// nearest returns the packages to test in rings: those with changed files, those that import them, and so on, and
// the names of those that need more than the repository (servers, browsers, the shipped binary).
func nearest(packages []*testPackage, files []string) (rings [][]string, skipped []string) {
	ring := map[string]bool{}
	for _, p := range packages {
		if slices.ContainsFunc(files, func(file string) bool { return p.owns(file, packages) }) {
			ring[p.ImportPath] = true
		}
	}
	seen := map[string]bool{}
	for len(ring) > 0 {
		next := map[string]bool{}
		var names []string
		for _, p := range packages {
			if !ring[p.ImportPath] {
				continue
			}
			seen[p.ImportPath] = true
			switch {
			case len(p.tests) == 0:
			case p.heavy():
				skipped = append(skipped, p.folder)
			default:
				names = append(names, p.ImportPath)
			}
		}
		for _, p := range packages {
			imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
			if !seen[p.ImportPath] && slices.ContainsFunc(imports, func(path string) bool { return ring[path] }) {
				next[p.ImportPath] = true
			}
		}
		if len(names) > 0 {
			rings = append(rings, names)
		}
		ring = next
	}
	return rings, skipped
}

// owns reports whether a file belongs to the package: its folder is the deepest package above the file.
func (p *testPackage) owns(file string, packages []*testPackage) bool {
	owner := ""
	for _, o := range packages {
		if strings.HasPrefix(file, o.folder+"/") && len(o.folder) > len(owner) {
			owner = o.folder
		}
	}
	return owner == p.folder
}

// heavy reports whether the tests of a package start servers, browsers or the shipped binary.
func (p *testPackage) heavy() bool {
	return strings.HasPrefix(p.folder, "tests/") || strings.HasPrefix(p.folder, "storage/postgres") ||
		strings.HasPrefix(p.folder, "storage/sqlite") || strings.HasPrefix(p.folder, "storage/benchstore") ||
		slices.ContainsFunc(slices.Concat(p.TestImports, p.XTestImports), func(path string) bool {
			return strings.HasSuffix(path, "/postgrestest") || strings.HasPrefix(path, module+"tests/")
		})
}

// scriptsOf returns the changed scripts that vitest can relate to tests; those that are gone have none.
func scriptsOf(files []string) (scripts []string) {
	for _, file := range files {
		if _, err := os.Stat(file); err == nil && slices.Contains([]string{".ts", ".js", ".mjs"}, filepath.Ext(file)) && !strings.Contains(file, "/dist/") {
			scripts = append(scripts, absolute(file))
		}
	}
	return scripts
}

// quickRun counts what has run.
type quickRun struct {
	out            io.Writer
	passed, failed int
	missed         []string
}

func (q *quickRun) print(format string, args ...any) { _, _ = fmt.Fprintf(q.out, format, args...) }

func (q *quickRun) vitest(ctx context.Context, scripts []string) {
	cmd := exec.CommandContext(ctx, "npx", append([]string{"vitest", "related", "--run"}, scripts...)...)
	cmd.Dir = "client"
	text, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		q.missed = append(q.missed, "vitest")
	case err != nil:
		q.failed++
		q.print("FAIL    vitest: %v\n%s\n", err, text)
	default:
		q.passed++
		q.print("ok      vitest: %s\n", countsOf(string(text)))
	}
}

// goTest tests packages, built as the shipped binary is, so that most of them are compiled. Go's cache of results
// counts.
func (q *quickRun) goTest(ctx context.Context, packages []string) {
	if ctx.Err() != nil {
		q.missed = append(q.missed, packages...)
		return
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-vet=off", "-trimpath"}, packages...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		q.failed++
		q.print("FAIL    %v\n", err)
		return
	}
	left := map[string][]string{} // output by package
	for _, name := range packages {
		left[name] = nil
	}
	for decoder := json.NewDecoder(out); ; {
		var e struct {
			event
			Package string
		}
		if decoder.Decode(&e) != nil {
			break // the end
		}
		switch {
		case e.Action == "build-output":
			q.print("%s", e.Output)
		case e.Package == "":
		case e.Action == "output":
			left[e.Package] = appendBounded(left[e.Package], e.Output)
		case e.Test == "" && e.Action != "start":
			q.ended(e.Package, e.Action, left[e.Package])
			delete(left, e.Package)
		}
	}
	_ = cmd.Wait() // the packages have reported how they ended
	for name := range left {
		if slices.Contains(packages, name) {
			q.missed = append(q.missed, name)
		}
	}
}

func (q *quickRun) ended(name, action string, output []string) {
	if action == "fail" {
		q.failed++
		q.print("FAIL    %s\n%s", name, strings.Join(slices.DeleteFunc(output, noise), ""))
		return
	}
	q.passed++
	q.print("ok      %s\n", name)
}
