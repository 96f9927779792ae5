// Package recipes runs the YAML blocks of the READMEs of the time-series exporter and the series connector
// as they stand: the real collector and the servers that a block names, each recipe in network and mount
// namespaces of its own, because blocks have fixed ports and directories. A block that no recipe runs
// fails the tests.
package recipes
