// Package oddvalue draws values of attributes that no component of ours writes, of any type. It
// is for tests alone.
package oddvalue

import (
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"pgregory.net/rapid"
)

var (
	texts   = []string{"", "7", "\xff\xfe", "inbound-rtp", strings.Repeat("x", 300)}
	wholes  = []int64{-1, 0, 1, 7, math.MaxInt64, math.MinInt64, 1 << 53, math.MaxUint32 + 1}
	doubles = []float64{-1, 0, 0.5, 7, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 1e-300}
)

// Draw gives an attribute a value of any type.
func Draw(t *rapid.T, v pcommon.Value) {
	switch rapid.IntRange(0, 8).Draw(t, "type") {
	case 0:
		v.SetBool(true)
	case 1:
		v.SetStr(rapid.SampledFrom(texts).Draw(t, "text"))
	case 2:
		v.SetEmptyBytes().FromRaw([]byte{0xff, 0})
	case 3:
		v.SetEmptyMap().PutInt("userName", 7)
	case 4:
		v.SetEmptySlice().AppendEmpty().SetInt(1)
	case 5: // a null
	case 6:
		v.SetInt(rapid.SampledFrom(wholes).Draw(t, "int"))
	default:
		v.SetDouble(rapid.SampledFrom(doubles).Draw(t, "double"))
	}
}
