package frames

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

var update = flag.Bool("update", false, "add names to names.txt")

// known are the names of records and of their attributes that qos itself writes.
func known() (out []string) {
	stored := []string{
		semconv.EventStats, semconv.EventEvent, semconv.EventError, semconv.EventFeedback, semconv.EventSDP, semconv.EventLog, semconv.EventSkip,
	}
	out = append(out, stored...)
	for k := range protocol.NumMeasures {
		out = append(out, semconv.Measure(k))
	}
	for k := range quality.NumInputs {
		out = append(out, semconv.QualityInputPrefix+k.String())
	}
	for _, a := range semconv.Attributes {
		if (a.On == "scope" || a.On == "every record" || slices.Contains(stored, a.On)) && !strings.HasSuffix(a.Name, ">") {
			out = append(out, a.Name)
		}
	}
	return out
}

// TestNamesAreComplete: what qos writes has numbers, each one of its own.
func TestNamesAreComplete(t *testing.T) {
	missing := slices.DeleteFunc(known(), func(name string) bool { return NameNumber(name) != 0 })
	if *update && len(missing) > 0 {
		require.NoError(t, os.WriteFile("names.txt", []byte(nameLines+strings.Join(missing, "\n")+"\n"), 0o600))
		return
	}
	require.Empty(t, missing, "add them with -update")
	seen := map[string]bool{}
	for i, name := range names {
		require.False(t, seen[name], "%s stands twice", name)
		seen[name] = true
		require.Equal(t, uint64(i+1), NameNumber(name))
		got, ok := NameOf(uint64(i + 1))
		require.True(t, ok)
		require.Equal(t, name, got)
	}
}

// TestReleasedNamesStay: stored bodies hold the numbers, so the list's beginning never changes.
func TestReleasedNamesStay(t *testing.T) {
	const released, sum = 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // none is released yet
	require.GreaterOrEqual(t, len(names), released)
	have := sha256.Sum256([]byte(strings.Join(names[:released], "\n")))
	require.Equal(t, sum, hex.EncodeToString(have[:]))
}

// A name beyond the list is damage that the error names by its number, in a record's name and
// in an attribute's.
func TestNameOfANewerVersion(t *testing.T) {
	newer := uint64(len(names) + 1)
	for _, body := range [][]byte{
		{bodyVersion, byte(newer&0x7f | 0x80), byte(newer >> 7), 0, 0},
		{bodyVersion, 1, 0, 1, byte((newer<<typeBits|typeTrue)&0x7f | 0x80), byte(newer << typeBits >> 7)},
	} {
		d := decoder{buf: body}
		_, _, err := d.decode(1)
		require.ErrorIs(t, err, storage.ErrDamaged)
		require.ErrorContains(t, err, "a newer version")
	}
	_, ok := NameOf(0)
	require.False(t, ok)
}
