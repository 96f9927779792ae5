// Package sqlite is the store's embedded engine: one SQLite file, pure Go, no server.
//
// One goroutine owns the only writing connection. Appends that wait while a transaction
// commits share the next one, so many small writers cost little more than one; each gets
// its own result, and a write that fails takes no other with it. Readers have
// connections of their own and never wait for the writer (WAL).
//
// # Durability
//
// A write that returned is in the write-ahead log. With SynchronousNormal, the default,
// it survives a crash or a kill of the process; a power cut or a crash of the operating
// system may lose the last writes, never the file's consistency. With SynchronousFull
// each transaction is forced to the disk, and a power cut loses nothing either.
//
// # Format
//
// migrations/*.sql is the schema; PRAGMA user_version counts the migrations that were
// applied, and a file with a higher number is refused. Times are kept in ms. The records
// of one frame stand in one row. A row's body is compact: names of records and
// attributes are numbers, and values that all records of a row share stand there once
// (package frames has the bytes).
//
// Pack moves the records of activity of closed conferences into chunks, by column (package
// chunk has the bytes), some 28 bytes a record in place of 244 with all indexes. The table
// packed says which, so that a late duplicate is recognised. Annotations stay
// loose: their conference may change when activity arrives. The pages that become free
// are used again; the file does not shrink.
//
// A summary's document is kept compressed (package envelope) and read only for a conference
// that is asked for by itself. A listing names the index it uses: there are no statistics,
// and what is rare, an outcome or a conference without a summary, has one of its own.
//
// Settings are rows of their own, replaced whole by compare-and-set in the writer's
// transactions; one row counts their writes, for who polls.
//
// One process may hold a store: a lock on <file>.lock says so and goes with the process.
package sqlite
