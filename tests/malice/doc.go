// Package malice attacks the real binary as clients can: with announcements that it remembers, and with logs. It
// checks that each attacker is refused alone, and that another application is served meanwhile.
package malice
