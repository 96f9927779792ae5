package readapi

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/storage"
)

// A conference that several queries find is listed once.
func TestListingsMerge(t *testing.T) {
	at := func(key int64) storage.Cursor { return storage.Cursor{Start: time.UnixMilli(key), Key: key} }
	var all listings[string]
	require.NoError(t, all.add([]string{"c", "a"}, []storage.Cursor{at(3), at(1)}, storage.Cursor{}, nil))
	damage := fmt.Errorf("a row: %w", storage.ErrDamaged)
	require.NoError(t, all.add([]string{"c", "b", "a"}, []storage.Cursor{at(3), at(2), at(1)}, storage.Cursor{}, damage))
	require.Equal(t, damage, all.damage)
	require.Equal(t, context.Canceled, all.add(nil, nil, storage.Cursor{}, context.Canceled))
	rows, cursors, next := all.page()
	require.Equal(t, []string{"c", "b", "a"}, rows)
	require.Equal(t, []storage.Cursor{at(3), at(2), at(1)}, cursors)
	require.Zero(t, next)
	require.NoError(t, all.add(nil, nil, at(2), storage.ErrDamaged), "a page that lacks all its rows")
	rows, _, next = all.page()
	require.Equal(t, []string{"c", "b"}, rows, "what is behind it comes with the next page")
	require.Equal(t, at(2), next)
}

// Pages of listings that end where they like, merged into pages with bounds, have every row once, in order.
func TestListingsHaveEveryRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 10
		type row struct{ key, weight int }
		weight := func(r *row) int { return r.weight }
		weights := rapid.SliceOfN(rapid.IntRange(0, most+2), 1, 40).Draw(t, "weights")
		in := make([][]row, rapid.IntRange(1, 3).Draw(t, "listings"))
		for key, weight := range slices.Backward(weights) {
			for n := range in {
				if key%len(in) == n || rapid.Bool().Draw(t, "in it too") {
					in[n] = append(in[n], row{key, weight})
				}
			}
		}
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		var got []row
		for before := (storage.Cursor{Start: time.UnixMilli(1000)}); before != (storage.Cursor{}); {
			all := listings[row]{limit: limit, weigh: weight, most: most}
			for _, rows := range in {
				begin := slices.IndexFunc(rows, func(r row) bool { return int64(r.key) < before.Start.UnixMilli() })
				if begin < 0 {
					continue
				}
				end := min(len(rows), begin+rapid.IntRange(1, limit).Draw(t, "page"))
				var cursors []storage.Cursor
				for _, r := range rows[begin:end] {
					cursors = append(cursors, storage.Cursor{Start: time.UnixMilli(int64(r.key)), Key: int64(r.key)})
				}
				var next storage.Cursor
				if end < len(rows) {
					next = cursors[len(cursors)-1]
				}
				require.NoError(t, all.add(slices.Clone(rows[begin:end]), cursors, next, nil))
			}
			rows, cursors, next := all.page()
			require.Len(t, cursors, len(rows))
			require.LessOrEqual(t, len(rows), limit)
			total := 0
			for _, r := range rows {
				total += r.weight
			}
			require.True(t, total <= most || len(rows) == 1, total)
			got, before = append(got, rows...), next
		}
		var want []row
		for key, weight := range slices.Backward(weights) {
			want = append(want, row{key, weight})
		}
		require.Equal(t, want, got)
	})
}
