package throttle

import "sync"

// bucket is one bucket. Times are in ns since the table's start.
type bucket struct {
	key      Key
	full     int64 // when the bucket is full again
	promised int64 // the latest token that was promised to a refused client
	slot     int32 // of the index
}

// shard is a part of a table: a heap of buckets, ordered by the time at which they are full, and
// an index of their keys.
type shard struct {
	mu        sync.Mutex
	limit     int
	heap      []bucket
	index     index
	evictions Evictions
}

// minSlots is the first size of a shard's index. Index and heap grow with use.
const minSlots = 16

func (s *shard) init(limit int) {
	s.limit = limit
	s.index = newIndex(minSlots)
}

// get returns the position of a bucket in the heap, -1 if there is none.
func (s *shard) get(key Key) int {
	slot, found := s.index.find(key, s.heap)
	if !found {
		return -1
	}
	return int(s.index.slots[slot]) - 1
}

// put returns the position of a bucket in the heap. It adds a missing one.
func (s *shard) put(key Key, at int64) int {
	if position := s.get(key); position >= 0 {
		s.heap[position].full = max(s.heap[position].full, at)
		return position
	}
	s.makeRoom(at)
	slot, _ := s.index.find(key, s.heap)
	s.heap = append(s.heap, bucket{key: key, full: at, slot: slot})
	s.index.slots[slot] = int32(len(s.heap))
	return s.up(len(s.heap) - 1)
}

// makeRoom evicts at most two full buckets, so that it costs no more than the bucket that it makes
// room for, and one in debt if the shard is at its limit.
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

// drop evicts the first bucket of the heap.
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
	for position := range s.heap {
		slot, _ := s.index.find(s.heap[position].key, s.heap)
		s.heap[position].slot = slot
		s.index.slots[slot] = int32(position + 1)
	}
}

// move stores a bucket at a position of the heap.
func (s *shard) move(b bucket, position int) {
	s.heap[position] = b
	s.index.slots[b.slot] = int32(position + 1)
}

// up moves a bucket towards the top of the heap, after its time became earlier.
func (s *shard) up(position int) int {
	b := s.heap[position]
	for position > 0 {
		above := (position - 1) / 2
		if s.heap[above].full <= b.full {
			break
		}
		s.move(s.heap[above], position)
		position = above
	}
	s.move(b, position)
	return position
}

// down moves a bucket towards the end of the heap, after its time became later.
func (s *shard) down(position int) {
	b := s.heap[position]
	for {
		below := 2*position + 1
		if below >= len(s.heap) {
			break
		}
		if right := below + 1; right < len(s.heap) && s.heap[right].full < s.heap[below].full {
			below = right
		}
		if b.full <= s.heap[below].full {
			break
		}
		s.move(s.heap[below], position)
		position = below
	}
	s.move(b, position)
}
