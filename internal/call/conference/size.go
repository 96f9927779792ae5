package conference

import "github.com/qosrtc/qos/internal/call/instance"

// The estimated size of one element of each kind, with its maps, keys and usual texts. TestBytes compares the sum with the heap.
const (
	emptyBytes         = 1200 // a conference without records
	participantBytes   = 1500
	fabricBytes        = 1500
	streamBytes        = 1100
	sessionRecordBytes = 900
	bucketBytes        = 6
	undecidedBytes     = 64
	breachBytes        = 40
	factBytes          = 64 // a toggle, a mark, a name of an owner, a change of the playout
)

// Bytes returns the estimated size of the conference in memory. Only Apply, ApplyArrived, Merge, Shrink and Detach
// change it.
func (c *Conference) Bytes() int64 {
	return emptyBytes + c.bytes + int64(len(c.participants))*participantBytes + int64(c.parts)*streamBytes +
		int64(len(c.sessionRecords))*sessionRecordBytes
}

// Parts returns the number of its fabrics and streams.
func (c *Conference) Parts() int { return c.parts }

// ownBytes returns the bytes of a fabric, without its streams, beyond those of a part.
func (f *fabric) ownBytes() int64 {
	facts := cap(f.toggles) + cap(f.marks) + cap(f.owners) + cap(f.endedTracks) + cap(f.playouts)
	return fabricBytes - streamBytes + int64(facts)*factBytes + int64(f.facts.Bytes())
}

// ownBytes returns the bytes of a stream beyond those of a part.
func (s *stream) ownBytes() int64 {
	n := distBytes(&s.bitrate, &s.jitter, &s.rtt, &s.fps, &s.scored.mos) + cap(s.undecided)*undecidedBytes + cap(s.detectors.breaches)*breachBytes
	if s.pictures != nil {
		n += distBytes(&s.pictures.assumed.mos, &s.pictures.coding)
	}
	return int64(n + s.detectors.line.Bytes() + s.causeFacts.Bytes() + s.missing.Bytes())
}

func distBytes(all ...*dist) (n int) {
	for _, d := range all {
		n += cap(d.buckets) * bucketBytes
	}
	return n
}

// variableBytes returns the bytes of a fabric and its streams beyond those of its parts.
func (f *fabric) variableBytes() int64 {
	n := f.ownBytes()
	for _, s := range f.streams {
		n += s.ownBytes()
	}
	return n
}

// touched returns the bytes of the elements that a record of the fabric can change.
func (f *fabric) touched(key streamKey) int64 {
	n := f.ownBytes()
	if s := f.streams[key]; s != nil {
		n += s.ownBytes()
	}
	return n
}

// recount computes the bytes of all participants and fabrics beyond those of their elements.
func (c *Conference) recount() {
	c.bytes = 0
	for _, p := range c.participants {
		c.bytes += p.seen.Bytes()
		for _, f := range p.fabrics {
			c.bytes += f.variableBytes()
		}
	}
}

// Shrink drops all participants and measurements. The span, the deadline and the annotations remain. Until the records
// are read from the store and applied again, the summary does not cover them.
func (c *Conference) Shrink() {
	if deadline := c.DeadlineMs(); deadline > 0 {
		c.attemptMs = max(c.attemptMs, deadline-instance.Gap)
	}
	c.participants, c.parts, c.bytes, c.dirty = make(map[string]*participant), 0, 0, false
}
