// Package malice attacks the real binary as clients can: with announcements that it remembers, with logs, and at its
// doors with slow, large, odd and many requests. It checks that each attacker is refused alone, and that another
// application is served meanwhile.
package malice
