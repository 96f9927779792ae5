package sqlite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/join"
)

// Whatever is written, in any order, the newest conference of a place is kept as its row is.
func TestNewestIsItsRow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := temp(t)
		second := rapid.IntRange(0, 300)
		at := func(seconds int) time.Time { return time.UnixMilli(int64(1_000_000 + 1000*seconds)).UTC() }
		seq, revision := uint64(0), 0
		write := map[string]func(*rapid.T){
			"activity": func(rt *rapid.T) {
				seq++
				when := at(second.Draw(rt, "second"))
				_, err := s.Append(t.Context(), []storage.Batch{{
					Session: storage.Session{ID: "019a9f3c-7b1a-7c3e-9f10-000000000001", AppID: "app"},
					Records: []storage.Record{{Seq: seq, ConferenceID: "c", ConferenceAt: when, At: when, ObservedAt: when, Activity: true, Name: "qos.stats"}},
				}})
				require.NoError(t, err)
			},
			"summary": func(rt *rapid.T) {
				revision++
				start := second.Draw(rt, "start")
				err := s.PutSummary(t.Context(), storage.Summary{
					AppID: "app", ConferenceID: "c", Start: at(start), End: at(start + second.Draw(rt, "length")), Revision: revision, Document: []byte("{}"),
				})
				if err != nil {
					require.ErrorIs(t, err, storage.ErrNotFound)
				}
			},
			"pack": func(*rapid.T) {
				_, err := s.Pack(t.Context(), at(1000))
				require.NoError(t, err)
			},
			"": func(*rapid.T) { requireNewest(t, s, at) },
		}
		rt.Repeat(write)
		require.NoError(t, s.Close())
	})
}

// requireNewest compares what is found with and without the kept rows.
func requireNewest(t *testing.T, s *Store, at func(int) time.Time) {
	t.Helper()
	var got, want [][]join.Row
	require.NoError(t, s.writer.do(t.Context(), job{run: func(tx *tx) error {
		for second := -30; second <= 300; second += 15 {
			span := instance.At(at(second).UnixMilli())
			rows, err := table{tx, 1}.Around(span)
			if err != nil {
				return err
			}
			got = append(got, rows)
			kept := tx.newest
			tx.newest = map[int64]newestRow{}
			if rows, err = (table{tx, 1}).Around(span); err != nil {
				return err
			}
			want = append(want, rows)
			tx.newest = kept
		}
		return nil
	}}))
	require.Equal(t, want, got)
}
