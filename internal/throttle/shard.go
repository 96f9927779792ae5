package throttle

import "sync"

// bucket is one bucket. Times are ns since the table was made.
type bucket struct {
	key      Key
	full     int64 // when it is full again
	promised int64 // the latest token that was promised to somebody refused
	slot     int32 // where the index has it
}

// shard is a part of a table: a heap of buckets, the one that is full first on top, and
// an index of their keys.
type shard struct {
	mu        sync.Mutex
	limit     int
	heap      []bucket
	index     index
	evictions Evictions
}

// minSlots is the size of a shard's index at first; both grow as they are used.
const minSlots = 16

func (s *shard) init(limit int) {
	s.limit = limit
	s.index = newIndex(minSlots)
}

// get returns the place of a bucket, or -1.
func (s *shard) get(key Key) int {
	slot, found := s.index.find(key, s.heap)
	if !found {
		return -1
	}
	return int(s.index.slots[slot]) - 1
}

// put returns the place of a bucket, which it makes where there is none.
func (s *shard) put(key Key, at int64) int {
	if place := s.get(key); place >= 0 {
		s.heap[place].full = max(s.heap[place].full, at)
		return place
	}
	s.makeRoom(at)
	slot, _ := s.index.find(key, s.heap)
	s.heap = append(s.heap, bucket{key: key, full: at, slot: slot})
	s.index.slots[slot] = int32(len(s.heap))
	return s.up(len(s.heap) - 1)
}

// makeRoom forgets buckets that are full by now, at most two so that it takes no longer
// than what it makes room for, and one in debt where there is no other way.
func (s *shard) makeRoom(at int64) {
	for range 2 {
		if len(s.heap) > 0 && s.heap[0].full <= at {
			s.evictions.Full++
			s.drop()
		}
	}
	if len(s.heap) == s.limit {
		s.evictions.InDebt++
		s.drop()
	}
	if 2*len(s.heap) == len(s.index.slots) {
		s.grow()
	}
}

// drop forgets the bucket on top.
func (s *shard) drop() {
	last := len(s.heap) - 1
	s.index.free(s.heap[0].slot, s.heap)
	if last > 0 {
		s.move(s.heap[last], 0)
	}
	s.heap = s.heap[:last]
	if last > 0 {
		s.down(0)
	}
}

// grow doubles the index.
func (s *shard) grow() {
	s.index = newIndex(2 * len(s.index.slots))
	for place := range s.heap {
		slot, _ := s.index.find(s.heap[place].key, s.heap)
		s.heap[place].slot = slot
		s.index.slots[slot] = int32(place + 1)
	}
}

// move puts a bucket in a place of the heap.
func (s *shard) move(b bucket, place int) {
	s.heap[place] = b
	s.index.slots[b.slot] = int32(place + 1)
}

// up moves a bucket that is full earlier than before to its place.
func (s *shard) up(place int) int {
	b := s.heap[place]
	for place > 0 {
		above := (place - 1) / 2
		if s.heap[above].full <= b.full {
			break
		}
		s.move(s.heap[above], place)
		place = above
	}
	s.move(b, place)
	return place
}

// down moves a bucket that is full later than before to its place.
func (s *shard) down(place int) {
	b := s.heap[place]
	for {
		below := 2*place + 1
		if below >= len(s.heap) {
			break
		}
		if right := below + 1; right < len(s.heap) && s.heap[right].full < s.heap[below].full {
			below = right
		}
		if b.full <= s.heap[below].full {
			break
		}
		s.move(s.heap[below], place)
		place = below
	}
	s.move(b, place)
}
