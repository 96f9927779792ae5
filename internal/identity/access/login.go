package access

import "time"

// Limits of a login.
const (
	// MaxLogins is the number of logins of a user. A further one ends that which was used longest ago.
	MaxLogins = 20
	// SeeEvery is how often a login records that it is used.
	SeeEvery = time.Minute
)

// Limits are the times after which a login ends.
type Limits struct {
	Absolute time.Duration // after sign-in
	Idle     time.Duration // after the last request
}

// Ended reports whether a login has ended at a time.
func (l Limits) Ended(created, seen, now time.Time) bool {
	return now.Sub(created) >= l.Absolute || now.Sub(seen) >= l.Idle+SeeEvery || created.After(now.Add(SeeEvery))
}
