package event

// Limits of an identity.
const (
	indexBits = 10
	maxIndex  = 1<<indexBits - 1
	maxSeq    = 1<<53 - 1
)

// Identified reports whether the event's identity is valid. A session longer than MaxText is not: two
// truncated ones could be equal.
func (e *Event) Identified() bool {
	return len(e.Session) <= MaxText && e.Seq <= maxSeq && e.Index >= 0 && e.Index <= maxIndex
}

// Rank returns a number that orders the events of a session by Seq, which has 53 bits, then by Index,
// which has 10.
func (e *Event) Rank() uint64 {
	return e.Seq<<indexBits | uint64(e.Index) // 0 to maxIndex
}

// PlaceMs returns the time that locates the event's conference, ms since the epoch.
func (e *Event) PlaceMs() int64 {
	if e.Activity() {
		return e.AtMs
	}
	return e.ConferenceAtMs
}
