package term

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/qosrtc/qos/storage"
)

// How many conferences of an older version, and records of them, one Pack makes the terms of:
// some seconds of one core.
const (
	OldConferences = 1000
	OldRecords     = 1_000_000
)

// OfConference returns the terms that the records of activity of a conference say, and how
// many records it read. What is damaged says nothing; of one that is gone there are none.
func OfConference(ctx context.Context, r storage.Reader, ref storage.Ref) (terms []Term, records int, err error) {
	found := map[Term]bool{}
	reader := NewReader(ref.AppID)
	err = r.Records(ctx, ref, func(_ string, record storage.Record) bool {
		records++
		if record.Activity {
			for _, t := range reader.OfRecord(record.Name, record.Attributes) {
				found[t] = true
			}
		}
		return len(found) <= MaxPerConference
	})
	if errors.Is(err, storage.ErrDamaged) || errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return slices.Sorted(maps.Keys(found)), records, err
}
