package throttle

// index finds the place of a bucket by its key: open addressing with linear probing, at
// most half full. A map of the runtime would do, but for what it allocates while keys
// come and go.
type index struct {
	slots []int32 // place in the heap plus one; 0: free
	mask  uint64
}

func newIndex(slots int) index {
	return index{slots: make([]int32, slots), mask: uint64(slots - 1)}
}

// find returns the slot that holds key, or the free one where it belongs.
func (x *index) find(key Key, heap []bucket) (slot int32, found bool) {
	for at := x.home(key); ; at = (at + 1) & x.mask {
		place := x.slots[at]
		if place == 0 {
			return int32(at), false
		}
		if heap[place-1].key == key {
			return int32(at), true
		}
	}
}

// home is where the search for a key begins. The low bits chose the shard.
func (x *index) home(key Key) uint64 { return uint64(key>>shardBits) & x.mask }

// free empties a slot and moves up what was pushed past it.
func (x *index) free(slot int32, heap []bucket) {
	hole := uint64(slot)
	for at := (hole + 1) & x.mask; x.slots[at] != 0; at = (at + 1) & x.mask {
		b := &heap[x.slots[at]-1]
		if (at-x.home(b.key))&x.mask < (at-hole)&x.mask {
			continue // it stands between its home and the hole
		}
		x.slots[hole], b.slot = x.slots[at], int32(hole)
		hole = at
	}
	x.slots[hole] = 0
}
