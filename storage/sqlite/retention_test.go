package sqlite

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// TestRetentionLeavesNoBytes: the file of a store has no byte of a deleted conference, whether it was packed or not: not
// in pages that are free, nor beside what remains of a page. The log has no such page after it was folded and emptied.
//
// spec: SRV-05
func TestRetentionLeavesNoBytes(t *testing.T) {
	const name = "Zuleika Dobson"
	for _, packed := range []bool{false, true} {
		s := temp(t)
		for n := range 40 {
			b := statsFrame(n, 1, noon)
			b.Session.UserID = name
			b.Records[0].Attributes["qos.log.text"] = name + " was here"
			_, err := s.Append(t.Context(), []storage.Batch{b})
			require.NoError(t, err)
		}
		_, err := s.Append(t.Context(), []storage.Batch{statsFrame(41, 1, noon.Add(48*time.Hour))}) // one that remains
		require.NoError(t, err)
		require.NoError(t, s.PutSummary(t.Context(), storage.Summary{
			AppID: "app", ConferenceID: "conference 0", Start: noon, End: noon, Revision: 1, Document: []byte(`{"user":"` + name + `"}`),
		}))
		fold := func() (found int) {
			var busy, pages, moved int
			require.NoError(t, s.folding.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved))
			require.Zero(t, busy)
			file, err := os.ReadFile(s.path)
			require.NoError(t, err)
			return bytes.Count(file, []byte(name))
		}
		require.Positive(t, fold())
		if packed {
			_, err = s.Pack(t.Context(), noon.Add(24*time.Hour))
			require.NoError(t, err)
		}
		_, err = s.DeleteBefore(t.Context(), noon.Add(24*time.Hour))
		require.NoError(t, err)
		require.Zero(t, fold(), "packed: %v", packed)
	}
}
