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
	texts = []string{"", "7", "\xff\xfe", "\xff\x00\"\\\n{}", strings.Repeat("x", 300), strings.Repeat("é", 3000), `{"setupMs":1e308,"ssrc":1e999}`, "null"}
	words = []string{
		"inbound-rtp", "outbound-rtp", "audio", "video", "opus", "VP8", "h", "success", "fabricSetup", "userIDChange",
		"019a9f3c-7b1a-7c3e-9f10-000000000001", "app",
	}
	wholes  = []int64{-1, 0, 1, 2, 3, 4, 5, 7, math.MaxInt64, math.MinInt64, 1 << 40, 1 << 53, math.MaxUint32 + 1}
	doubles = []float64{
		-1, 0, 0.5, 7, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 1e-300, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64,
	}
)

// Draw gives an attribute a value of any type.
func Draw(t *rapid.T, v pcommon.Value) {
	switch rapid.IntRange(0, 9).Draw(t, "type") {
	case 0:
		v.SetBool(true)
	case 1:
		v.SetStr(rapid.SampledFrom(texts).Draw(t, "text"))
	case 2:
		v.SetEmptyBytes().FromRaw([]byte{0xff, 0})
	case 3:
		v.SetEmptyMap().PutInt("userName", 7)
	case 4:
		v.SetEmptySlice().AppendEmpty().SetEmptyMap().PutEmpty("a")
	case 5: // a null
	case 6:
		v.SetStr(rapid.SampledFrom(words).Draw(t, "word"))
	case 7:
		v.SetInt(rapid.SampledFrom(wholes).Draw(t, "int"))
	default:
		v.SetDouble(rapid.SampledFrom(doubles).Draw(t, "double"))
	}
}
