package protocol

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The short way and the long way read what strconv reads, to the last bit.
func TestNumbersAreExact(t *testing.T) {
	f := func(t require.TestingT, text string) {
		want, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		var s scanner
		s.reset([]byte(text))
		got := s.number()
		require.Nil(t, s.err, text)
		require.Equal(t, len(text), s.pos, text)
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), text)
	}
	for _, text := range []string{"0", "-0", "0.1", "999999999999999", "9007199254740993", "0.30000000000000004", "1e22", "1E-22", "4.9e-324", "123456789012345678901234567890"} {
		f(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		f(t, rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "number"))
	})
	rapid.Check(t, func(t *rapid.T) {
		f(t, strconv.FormatFloat(rapid.Float64Range(-1e12, 1e12).Draw(t, "number"), 'f', rapid.IntRange(-1, 6).Draw(t, "decimals"), 64))
	})
}
