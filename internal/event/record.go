package event

// Limits of an identity.
const (
	indexBits = 10
	maxIndex  = 1<<indexBits - 1
	maxSeq    = 1<<53 - 1
)

// Identified reports whether the event's identity is one. A session that is too long to keep
// is none: two could be the same when they are cut.
func (e *Event) Identified() bool {
	return len(e.Session) <= MaxText && e.Seq <= maxSeq && e.Index >= 0 && e.Index <= maxIndex
}

// Rank orders the events of a session: by number, then by index (maxIndex is 10 bits,
// numbers have 53).
func (e *Event) Rank() uint64 {
	return e.Seq<<indexBits | uint64(e.Index) // 0 to maxIndex
}

// PlaceMs is the time that finds the event's conference, ms since the epoch.
func (e *Event) PlaceMs() int64 {
	if e.Activity() {
		return e.AtMs
	}
	return e.ConferenceAtMs
}
