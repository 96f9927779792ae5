// Package recipes runs the commands of docs/api.md, and the YAML blocks of the READMEs of the time-series exporter and the series connector
// unchanged, with the real collector and the servers that a block names. Each recipe has network and mount
// namespaces of its own, because blocks have fixed ports and directories. A command or block that no recipe runs
// fails the tests.
package recipes
