// Package postgrestest runs real PostgreSQL servers, from a distribution's package, for
// tests: each on a free port of loopback, its data in a temporary directory, with the
// server's own defaults (fsync and synchronous_commit are on). A server ends with the test
// binary, however that ends.
package postgrestest
