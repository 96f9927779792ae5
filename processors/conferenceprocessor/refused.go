package conferenceprocessor

// refusedFrames bounds each of the two generations of a refused.
const refusedFrames = 32_768

// frameID names a frame; all of its records are in one call.
type frameID struct {
	session string
	seq     uint64
}

// refused remembers frames of calls that failed. Components beside the one that refused
// have had them, so that they must be marked when they come again, though no conference
// counts them yet. It forgets the oldest when clients hold back more than it has room for.
// The zero value is empty.
type refused struct{ young, old map[frameID]struct{} }

func (r *refused) has(id frameID) bool {
	_, young := r.young[id]
	_, old := r.old[id]
	return young || old
}

func (r *refused) add(id frameID) {
	if r.has(id) {
		return
	}
	if r.young == nil || len(r.young) >= refusedFrames {
		r.young, r.old = make(map[frameID]struct{}), r.young
	}
	r.young[id] = struct{}{}
}

func (r *refused) remove(id frameID) {
	delete(r.young, id)
	delete(r.old, id)
}
