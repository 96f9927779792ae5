// Package postgres is the store's engine for many collectors: one PostgreSQL database that
// all of them write to and read from at once.
//
// Each collector has one writing connection. Appends that wait while a transaction commits
// share the next one (package group). A transaction has two round trips where nothing but
// more of a live call came: the first locks and reads all it needs, the second writes and
// commits.
//
// # Locks
//
// A transaction locks, in this order and each kind in the order of its keys: days (an
// advisory lock, shared), rows of qos_session, rows of qos_place. With its session locked
// nobody else decides which of its records are new; with its place locked nobody else
// joins its conferences. Rows of sessions and places are made before the transaction, by
// statements of their own. So writers never wait in a circle. Should the server end a
// transaction (deadlock, a lost connection, a partition that went), it is tried again.
//
// # Partitions
//
// Frames stand in a partition of the day on which their session started, by the time in
// its id (UUIDv7). A session whose id names a day more than two days ahead, or longer ago
// than Options.Days, goes to partition 0: a client that lies about its time cannot make
// partitions. Where a session's frames are is decided once and stands in its row.
//
// The tables of a conference can have hash partitions too (Options.HashPartitions), by the key
// of its (AppID, conferenceID), the place: a hash that begins every primary and unique key of
// theirs. What is asked of one conference names the place, and so reads one partition. Tables
// of sessions, visits, terms and settings are shared.
//
// A number of a session that comes again under another conferenceID is a duplicate, though no
// unique key says so: qos_visit has the places of a session, and a transaction looks in all of
// them for the numbers it is to write.
//
// DeleteBefore drops the partitions of which nothing is to be kept (the day's advisory
// lock, exclusive; DETACH CONCURRENTLY; DROP) and deletes the rest by rows, in small
// transactions. Writers of other days are never blocked.
//
// # Packing
//
// Pack moves the activity of conferences that have ended from rows into chunks (package
// chunk), one transaction a chunk. A chunk holds sessions of one day, and stands with its
// ranges in partitions of that day, so that retention drops them whole. The transaction
// takes the day's advisory lock, shared, and one of the conference, for which it does not
// wait: another collector that packs has it. It takes the row of the place last. Rows that
// went since they were read end it.
//
// # Followers
//
// Collectors notify each other of committed changes by NOTIFY, after the commit, at most some
// twenty times a second, in a transaction of its own: within that of a write, a lock of the
// whole server would make the commits of all collectors wait for each other. Each holds an
// advisory lock on a number of its own while it is there. Who follows looks every ten
// seconds which numbers are gone, for a collector may have died between a commit and the
// word of it; then, and after a lost connection, followers catch up.
//
// # Settings
//
// Settings are replaced whole, by compare-and-set, with one row locked that counts their
// writes. So revisions become visible in their order, and who polls the count misses none.
//
// # Durability
//
// A write that returned was committed: it survives what the server's synchronous_commit
// promises, which by default includes a power cut.
//
// # Format
//
// migrations/*.sql is the schema; the table qos_migration counts the migrations that were
// applied, and a database with a higher number is refused. Bodies are those of package
// frames; a summary's document is compressed (package envelope), and read only for a
// conference that is asked for by itself. A pooler between the collector and the server
// must keep sessions whole.
package postgres
