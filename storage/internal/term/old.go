package term

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/qosrtc/qos/storage"
)

// How many conferences of an older version, and records of them, one Pack makes the terms and
// renames of: some seconds of one core.
const (
	OldConferences = 1000
	OldRecords     = 1_000_000
)

// Old is what the records of activity of a conference say that an older version wrote.
type Old struct {
	Terms   []Term
	Renames map[string][]Rename // by session id
	Records int                 // that were read
}

// OfConference returns what the records of a conference say. What is damaged says nothing; of
// one that is gone there is nothing.
func OfConference(ctx context.Context, r storage.Reader, ref storage.Ref) (old Old, err error) {
	found := map[Term]bool{}
	old.Renames = map[string][]Rename{}
	reader := NewReader(ref.AppID)
	err = r.Records(ctx, ref, func(session string, record storage.Record) bool {
		old.Records++
		if !record.Activity {
			return true
		}
		said := reader.SaidBy(&record)
		old.Renames[session] = append(old.Renames[session], said.Renames...)
		for i := 0; i < len(said.Terms) && len(found) <= MaxPerConference; i++ {
			found[said.Terms[i]] = true
		}
		return true
	})
	if errors.Is(err, storage.ErrDamaged) || errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	old.Terms = slices.Sorted(maps.Keys(found))
	return old, err
}
