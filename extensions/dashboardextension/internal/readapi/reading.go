package readapi

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// Reading is charged by the participants of the conferences that are read, since memory grows with them: the answer that has
// a whole conference takes some 100 kB for each until it is encoded, half of them garbage.
const (
	// maxReading bounds the participants that are read at the same time. A larger conference is read alone. Three lists are
	// read at a time, so that one of the four connections that read an SQLite file is left for the collector itself.
	maxReading = 3800
	// readingCharge is the least charge. It is for a page of a list too, where storage.DefaultPageParticipants take less.
	readingCharge = 1000
	// participantDocument is the length of the summary's document that a participant is charged for, in bytes: decoded it
	// takes some 20 times as much.
	participantDocument = 5000
	// maxReadingWait is how long a request waits for others.
	maxReadingWait = 10 * time.Second
)

// errBusy is returned where others read for longer than a request waits.
var errBusy = errors.New("others read large conferences: try again later")

// room bounds what is read at the same time.
type room struct{ *semaphore.Weighted }

func newRoom() room { return room{semaphore.NewWeighted(maxReading)} }

// charge is what a request holds of the room.
type charge struct {
	of   room
	held int64
}

type chargeKey struct{}

// charged returns a context in which take charges the request, and what ends the charge.
func (r room) charged(ctx context.Context) (context.Context, func()) {
	c := &charge{of: r}
	return context.WithValue(ctx, chargeKey{}, c), c.end
}

func (c *charge) end() {
	c.of.Release(c.held)
	c.held = 0
}

// take charges a request before it reads conferences of some participants, in place of what it was charged before. It
// waits for room, and returns errBusy if there is none for long.
func take(ctx context.Context, participants int) error {
	c, ok := ctx.Value(chargeKey{}).(*charge)
	want := int64(min(max(participants, readingCharge), maxReading))
	if !ok || c.held >= want {
		return nil
	}
	c.end() // who holds some and waits for more could wait for another one who does the same
	wait, cancel := context.WithTimeout(ctx, maxReadingWait)
	defer cancel()
	if c.of.Acquire(wait, want) != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errBusy
	}
	c.held = want
	return nil
}
