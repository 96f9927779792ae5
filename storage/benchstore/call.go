package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

const (
	interval     = 10 * time.Second // between two measurements
	liveSessions = 512              // that send in turn while commits are measured
	loopFrames   = 8                // different frames that a session repeats
	oneApp       = "app"            // of all generated calls
)

// sessionID returns a UUID version 7 of a time, unique by number.
func sessionID(at time.Time, number uint64) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(at.UnixMilli())<<16|0x7000)
	binary.BigEndian.PutUint64(id[8:], 1<<63|number)
	return uuid.UUID(id).String()
}

// renamed returns frames of a call as frames of another conference, whose sessions are numbered
// from first on.
func renamed(call []storage.Batch, conference string, start time.Time, people, first int) []storage.Batch {
	out := slices.Clone(call)
	for i := range out {
		b := &out[i]
		number := uint64(first + i%people)
		b.Session.ID, b.Session.AppID = sessionID(start, number), oneApp
		b.Session.UserID, b.Session.UserAlias = fmt.Sprint("user-", number), fmt.Sprint("user-", number)
		b.Records = slices.Clone(b.Records)
		for j := range b.Records {
			b.Records[j].ConferenceID = conference
		}
	}
	return out
}

// source generates the frames of many live calls of two, in turn, for one writer.
type source struct {
	templates [][]storage.Batch // by session
	sent      int
}

// newSources returns one source for each writer, with an even number of sessions.
func newSources(writers, sessions int, start time.Time) (out []*source) {
	call := storagetest.Call(2, loopFrames, start)
	for writer := range writers {
		s := &source{}
		for i := 0; i < sessions; i += 2 {
			first := writer<<20 | i
			frames := renamed(call, fmt.Sprintf("room-%d-%d", writer, i), start, 2, first)
			for who := range 2 {
				var loop []storage.Batch
				for f := who; f < len(frames); f += 2 {
					loop = append(loop, frames[f])
				}
				s.templates = append(s.templates, loop)
			}
		}
		out = append(out, s)
	}
	return out
}

// next returns the next frame: a generated one with a new time, so that only the store is
// measured.
func (s *source) next() storage.Batch {
	round := s.sent / len(s.templates)
	b := s.templates[s.sent%len(s.templates)][round%loopFrames]
	s.sent++
	later := time.Duration(round/loopFrames*loopFrames) * interval
	b.Records = slices.Clone(b.Records)
	for i := range b.Records {
		r := &b.Records[i]
		r.Seq, r.At, r.ObservedAt = uint64(round+1), r.At.Add(later), r.ObservedAt.Add(later)
	}
	return b
}
