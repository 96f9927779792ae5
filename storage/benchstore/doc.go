// Command benchstore measures the engines of the store: committed frames a second and how
// long a commit takes, bytes a row, searches, one long conference, packing and retention.
// `make bench-store` runs it; it is no test and never runs in CI.
//
// Every figure stands beside a baseline of the same run, so that a claim is a ratio. Each
// section runs in a process of its own on one core; PostgreSQL's server has another. The
// frames are a model of calls (call.go) that went through the real quality processor and
// the real store exporter.
//
// Results go to standard output as Markdown, and as JSON lines to a file (-json). With
// -docs they take the place of what stands between the marks in docs/benchmarks.md; with
// -sections of the sections of these titles alone.
package main
