// Package cluster proves what docs/adr/0006, 0007 and 0015 promise, with the real binary:
// two collectors on one PostgreSQL server, both of which are killed, stopped and started
// under load, and whose database stops, freezes and refuses. Nothing acknowledged is lost,
// nothing stands in the store twice, a conference has one summary of all its parts.
//
// QOS_CLUSTER_SEED repeats the dice of a run, QOS_CLUSTER_SECONDS sets the length of each
// load, QOS_CLUSTER_AWAY for how many seconds the database is away (with 600 go test needs a
// longer -timeout).
package cluster
