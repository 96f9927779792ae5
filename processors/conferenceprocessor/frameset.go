package conferenceprocessor

// maxFrames bounds each of the two generations of a frameSet.
const maxFrames = 32_768

// frameID identifies a frame. One call has all of its records.
type frameID struct {
	session string
	seq     uint64
}

// frameSet is a set of frames. It drops the oldest ones when it is full. The zero value is empty.
type frameSet struct{ young, old map[frameID]struct{} }

func (r *frameSet) has(id frameID) bool {
	_, young := r.young[id]
	_, old := r.old[id]
	return young || old
}

func (r *frameSet) add(id frameID) {
	if r.has(id) {
		return
	}
	if r.young == nil || len(r.young) >= maxFrames {
		r.young, r.old = make(map[frameID]struct{}), r.young
	}
	r.young[id] = struct{}{}
}

func (r *frameSet) remove(id frameID) {
	delete(r.young, id)
	delete(r.old, id)
}
