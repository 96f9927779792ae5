package eventlog

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

func TestText(t *testing.T) {
	attrs := pcommon.NewMap()
	attrs.PutStr("text", "a")
	attrs.PutInt("number", 1)
	require.Equal(t, "a", Text(attrs, "text"))
	require.Empty(t, Text(attrs, "number"))
	require.Empty(t, Text(attrs, "missing"))
}

func TestInteger(t *testing.T) {
	f := func(put func(pcommon.Value), want int64, ok bool) {
		t.Helper()
		attrs := pcommon.NewMap()
		put(attrs.PutEmpty("n"))
		got, has := Integer(attrs, "n")
		require.Equal(t, want, got)
		require.Equal(t, ok, has)
	}
	double := func(d float64) func(pcommon.Value) { return func(v pcommon.Value) { v.SetDouble(d) } }
	f(func(v pcommon.Value) { v.SetInt(math.MaxInt64) }, math.MaxInt64, true)
	f(double(7), 7, true)
	f(double(-7), -7, true)
	f(double(1<<53), 1<<53, true)
	f(double(1<<54), 0, false)
	f(double(7.5), 0, false)
	f(double(math.NaN()), 0, false)
	f(double(math.Inf(1)), 0, false)
	f(func(v pcommon.Value) { v.SetStr("7") }, 0, false)
	f(func(pcommon.Value) {}, 0, false)
	_, ok := Integer(pcommon.NewMap(), "missing")
	require.False(t, ok)
}
