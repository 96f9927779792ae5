package visible

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// Wherever they are in an ID, blanks and characters that cannot be seen are found: all of Unicode is tried.
//
// spec: AUTH-05
func TestID(t *testing.T) {
	for _, good := range []string{"", "shop", "shop-1.eu_2", "обувь", "靴屋", "क्षेत्र", "a/b?c#d%20", "🛒"} {
		require.True(t, ID(good), good)
		require.True(t, Name(good), good)
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		hidden := unicode.In(r, unicode.C, unicode.Z, unicode.White_Space, unicode.Bidi_Control, unicode.Join_Control, unicode.Variation_Selector)
		if !hidden {
			continue
		}
		for _, text := range []string{string(r), "shop" + string(r), string(r) + "shop", "sh" + string(r) + "op"} {
			if surrogate := 0xd800 <= r && r < 0xe000; ID(text) != surrogate { // which is written as U+FFFD
				require.Failf(t, "ID", "%U in %q", r, text)
			}
			if unicode.In(r, unicode.Cc, unicode.Bidi_Control) {
				require.False(t, Name(text), "%U", r)
			}
		}
	}
	for _, r := range "\u034f\u115f\u1160\u17b4\u2800\u3164\uffa0\u180b" {
		require.False(t, ID("shop"+string(r)), "%U", r)
	}
	require.False(t, ID("a\xff"))
	require.False(t, Name("a\xff"))
}

func TestName(t *testing.T) {
	for _, good := range []string{"The shop", "می\u200cخواهم", "👩\u200d👧", strings.Repeat("n", 300)} {
		require.True(t, Name(good), good)
	}
	for _, bad := range []string{"a\x00b", "a\nb", "a\u2028b", "a\u202eb", "\u2066a", "a\u200e", "a\u061c"} {
		require.False(t, Name(bad), "%q", bad)
	}
}
