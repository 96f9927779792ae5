// Package postgres is the store's engine for many collectors: one PostgreSQL database that
// all of them write to and read from concurrently.
//
// Each collector has one writing connection. Appends that wait while a transaction commits
// share the next one (package group). A transaction that only extends live calls has two round
// trips: the first locks and reads all rows it needs, the second writes and commits.
//
// # Locks
//
// A transaction locks, in this order and each kind in the order of its keys: days (an
// advisory lock, shared), rows of qos_session, rows of qos_place. The lock on a session keeps
// other transactions from deciding which of its records are new; the lock on a row of qos_place
// keeps them from joining its conferences. Both rows are created before the transaction, by
// separate statements. This order prevents deadlocks between writers. If the server ends a
// transaction nevertheless (lost connection, dropped partition), it is retried.
//
// # Partitions
//
// A frame is stored in the partition of the day on which its session started, by the time in
// the session's id (UUIDv7). A session whose day is more than two days ahead, or older than
// Options.Days, uses partition 0: a client with a wrong clock cannot create partitions.
// The day is decided once and stored in the session's row.
//
// The tables of a conference can have hash partitions too (Options.HashPartitions), by the key of
// its row in qos_place: a hash of (AppID, conferenceID), the first column of all their primary and
// unique keys. Every query about one conference has this key, and so reads one partition. Tables
// of sessions, visits, terms and settings are shared.
//
// A frame that is sent again under another conferenceID is a duplicate, but no unique key
// enforces it: qos_visit lists the conferenceIDs of a session, and a transaction searches all
// of them for the frames that it is about to write.
//
// DeleteBefore drops partitions that hold nothing worth keeping (the day's advisory
// lock, exclusive; DETACH CONCURRENTLY; DROP) and deletes other rows in small
// transactions. Writers of other days are never blocked.
//
// # Packing
//
// Pack moves the activity of conferences that have ended from rows into chunks (package
// chunk), one transaction a chunk. A chunk holds sessions of one day. It and its ranges are
// stored in partitions of that day, so that retention drops them whole. The transaction
// takes the day's advisory lock, shared, and the conference's, without waiting: another
// collector that holds it is packing the conference. It locks the row of qos_place last. If
// rows were deleted since they were read, it is rolled back.
//
// # Followers
//
// Collectors notify each other of committed changes by NOTIFY, after the commit, at most
// twenty times a second, in a separate transaction: NOTIFY in the transaction of a write takes
// a lock of the whole server, so that the commits of all collectors would be serial. Each
// collector holds an advisory lock on its number while it runs. Listeners read these locks every
// ten seconds, because a collector may have crashed between a commit and its notification. When
// a lock is missing, and after a lost connection, followers receive a CatchUp.
//
// # Settings
//
// A setting is replaced as a whole, by compare-and-set, with the row that counts the writes
// locked. So revisions become visible in order, and a client that polls the count misses none.
//
// # Durability
//
// A write that returned is committed: it is as durable as the server's synchronous_commit
// makes it, which by default includes a power cut.
//
// # Format
//
// migrations/*.sql is the schema; the table qos_migration counts the migrations that were
// applied, and a database with a higher number is refused. Package frames encodes bodies.
// A summary's document is compressed (package envelope) and read only by Conference, not by
// listings. A pooler between the collector and the server must keep sessions whole.
package postgres
