package frames

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBodyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(
			rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(), rapid.Float64().AsAny(),
			rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.Int64Range(-1e9, 1e9).Draw(t, "n")) / 1e4 }).AsAny(),
		)
		names := rapid.SampledFrom([]string{"a", "b", "c", "qos.stats.jitter_ms", ""})
		records := rapid.SliceOfN(rapid.MapOfN(names, value, 0, 5), 1, 5).Draw(t, "records")
		e := encoder{}
		n, body, err := e.row("name", records)
		require.NoError(t, err)
		d := decoder{buf: body}
		name, got, err := d.decode(n)
		require.NoError(t, err)
		require.Equal(t, "name", name)
		require.Equal(t, records, got)
	})
}

// A damaged body is an error, never a panic or a loop without end.
func FuzzDecode(f *testing.F) {
	e := encoder{}
	_, body, err := e.row("qos.stats", []attributes{{"qos.stats.codec": "x", "b": 1.5, "c": int64(7)}, {"qos.stats.codec": "x", "d": 1.0 / 3}})
	require.NoError(f, err)
	f.Add(body)
	f.Fuzz(func(t *testing.T, body []byte) {
		d := decoder{buf: body}
		_, _, err := d.decode(2)
		if err != nil {
			require.ErrorIs(t, err, ErrBody)
		}
	})
}
