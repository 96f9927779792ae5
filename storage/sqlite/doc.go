// Package sqlite is the store's embedded engine: one SQLite file, pure Go, no server.
//
// One goroutine owns the only writing connection. Appends that wait while a transaction
// commits share the next one, so that many small writers cost little more than one. Each gets
// its own result, and a write that fails does not fail the others. Readers have
// separate connections and never wait for the writer (WAL).
//
// # Durability
//
// A write that returned is in the write-ahead log. With SynchronousNormal, the default,
// it survives a crash or a kill of the process. After a power cut or a crash of the operating
// system the last writes may be lost, but the file is consistent. With SynchronousFull
// each transaction is synced to disk and survives a power cut.
//
// # Format
//
// migrations/*.sql is the schema; PRAGMA user_version counts the migrations that were
// applied, and a file with a higher number is refused. Times are in ms. The records
// of a frame with equal columns are one row. A row's body is compact: names of records and
// attributes are numbers, and values that all records of a row share are stored once
// (package frames describes the format).
//
// Pack moves the records of activity of ended conferences into chunks, by column (package
// chunk describes the format): some 28 bytes a record instead of 244 with all indexes. The table
// packed lists their frames, so that a late duplicate is recognised. Annotations stay
// loose: their conference may change when activity arrives. SQLite reuses the free
// pages; the file does not shrink.
//
// A summary's document is compressed (package envelope) and read only by Conference, not by
// listings. A listing names its index, because there are no statistics. Rare values, an outcome
// or a conference without a summary, have an index of their own.
//
// A setting is a row, which is replaced as a whole by compare-and-set in the writer's
// transactions. One row counts the writes, for clients that poll.
//
// Only one process may open a store. It holds a lock on <file>.lock, which ends with the process.
package sqlite
