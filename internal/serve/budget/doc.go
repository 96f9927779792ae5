// Package budget charges memory to its users. A Ledger is a tree of accounts: applications, their users, the
// sessions of users and the connections of sessions. The bytes of an account count in each account above it. A full
// account refuses its own user only. The package does no I/O, has no clock, and is safe for concurrent use.
//
// # Fair shares
//
// Users, sessions and connections have limits. An application has a share: it may hold at most three times the
// bytes that are free (the dynamic threshold of Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998). One application that
// floods gets three quarters of the whole, two get 3/7 each, and a part is always free for the next one.
// Clients before their login have the limit of one user, of which each of their addresses has a share.
//
// # Kept and transient bytes
//
// Bytes are kept (announcements, which live as long as a connection) or transient (frames in the pipeline). Kept
// bytes fill at most half of each account, so that frames always find room, and never wait for bytes that no frame
// frees.
package budget
