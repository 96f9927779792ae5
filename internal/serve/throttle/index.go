package throttle

// index finds a bucket of the heap by its key: open addressing with linear probing, at most half
// full. A Go map would allocate as keys are added and removed.
type index struct {
	slots []int32 // position in the heap plus one; 0: free
	mask  uint64
}

func newIndex(slots int) index {
	return index{slots: make([]int32, slots), mask: uint64(slots - 1)}
}

// find returns the slot of a key, or the free slot for it.
func (x *index) find(key Key, heap []bucket) (slot int32, found bool) {
	for at := x.home(key); ; at = (at + 1) & x.mask {
		position := x.slots[at]
		if position == 0 {
			return int32(at), false
		}
		if heap[position-1].key == key {
			return int32(at), true
		}
	}
}

// home returns the slot at which the search for a key begins. The low bits select the shard.
func (x *index) home(key Key) uint64 { return uint64(key>>shardBits) & x.mask }

// free empties a slot and moves back the entries that linear probing put behind it.
func (x *index) free(slot int32, heap []bucket) {
	hole := uint64(slot)
	for at := (hole + 1) & x.mask; x.slots[at] != 0; at = (at + 1) & x.mask {
		b := &heap[x.slots[at]-1]
		if (at-x.home(b.key))&x.mask < (at-hole)&x.mask {
			continue // its home slot is behind the hole
		}
		x.slots[hole], b.slot = x.slots[at], int32(hole)
		hole = at
	}
	x.slots[hole] = 0
}
