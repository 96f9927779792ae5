// Package postgrestest runs real PostgreSQL servers, from a distribution's package, for
// tests: each on a free port of loopback, its data in a temporary directory. A server ends with
// the test binary, however that ends.
//
// The server of Shared is fast: its data is in memory if there is room, it does not flush to the disk, and loses the last
// commits when it is killed. The servers of Durable, Own and New have the server's own defaults (fsync, full_page_writes
// and synchronous_commit are on): tests that stop or kill a server use these.
package postgrestest
