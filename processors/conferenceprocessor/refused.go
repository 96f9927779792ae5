package conferenceprocessor

// refusedFrames bounds each of the two generations of a refused.
const refusedFrames = 32_768

// frameID identifies a frame; all of its records are in one call.
type frameID struct {
	session string
	seq     uint64
}

// refused holds the frames of calls that failed. Components beside the one that refused may
// have accepted them, so they are marked as repetitions when they arrive again, though no
// conference counts them yet. It drops the oldest frames when it is full.
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
