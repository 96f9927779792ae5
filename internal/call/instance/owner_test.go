package instance_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/instance"
)

const hour = int64(3_600_000)

// TestOwner: the nearest conference owns an annotation, up to 30 s before its start and up to
// 24 h after its end, each border to the millisecond.
//
// spec: CONF-01, CONF-02
func TestOwner(t *testing.T) {
	f := func(want int, ms int64, spans ...instance.Span) {
		t.Helper()
		require.Equal(t, want, instance.Owner(spans, ms))
	}
	f(-1, 5)
	one := span(100*hour, 101*hour)
	f(0, 100*hour, one)
	f(0, 100*hour-30_000, one)
	f(-1, 100*hour-30_001, one)
	f(0, 125*hour, one)
	f(-1, 125*hour+1, one)

	// Twice the gap or less apart: the middle, which is the earlier one's, is the border.
	a, b := span(0, 100_000), span(140_001, 150_000)
	f(0, 120_000, a, b)
	f(1, 120_001, a, b)
	f(1, 120_000, b, a)
	f(0, 130_000, a, span(160_000, 160_000))
	f(1, 130_001, a, span(160_000, 160_000))

	// Further apart the later one begins 30 s before its start, however near the earlier one is not.
	c := span(100_000+10*hour, 100_000+11*hour)
	f(0, 100_000+10*hour-30_001, a, c)
	f(1, 100_000+10*hour-30_000, a, c)
	f(1, 100_000+35*hour, a, c)
	f(-1, 100_000+35*hour+1, a, c)

	// More than a day apart there is a time that nobody owns.
	d := span(100_000+30*hour, 100_000+30*hour)
	f(0, 100_000+24*hour, a, d)
	f(-1, 100_001+24*hour, a, d)
	f(-1, 100_000+30*hour-30_001, a, d)
	f(1, 100_000+30*hour-30_000, a, d)
}

// apart draws conferences of one ID: more than the gap apart, in order.
func apart(t *rapid.T) (spans []instance.Span) {
	at := rapid.Int64Range(0, 100_000).Draw(t, "first")
	for range rapid.IntRange(0, 5).Draw(t, "conferences") {
		s := span(at, at+rapid.Int64Range(0, 3*hour).Draw(t, "length"))
		spans = append(spans, s)
		silence := rapid.OneOf(rapid.Int64Range(1, 40_000), rapid.Int64Range(1, 2*hour), rapid.Int64Range(20*hour, 30*hour)).Draw(t, "silence")
		at = s.End + instance.Gap + silence
	}
	return spans
}

// moments are times at which something may be decided otherwise.
func moments(t *rapid.T, spans []instance.Span) []int64 {
	out := []int64{rapid.Int64Range(0, 200*hour).Draw(t, "moment")}
	for i, s := range spans {
		out = append(out, s.Start-instance.Gap, s.Start, s.End, s.End+instance.Gap, s.End+instance.Reach)
		if i > 0 {
			out = append(out, (spans[i-1].End+s.Start)/2)
		}
	}
	return out
}

// owner is the rule word for word, slow and plain.
func owner(spans []instance.Span, ms int64) int {
	best, least := -1, int64(0)
	for i, s := range spans {
		far := int64(0)
		if ms < s.Start {
			far = s.Start - ms
		}
		if ms > s.End {
			far = ms - s.End
		}
		candidate := s.Start-30_000 <= ms && ms <= s.End+24*hour
		if candidate && (best < 0 || far < least) {
			best, least = i, far
		}
	}
	return best
}

// TestOwnerAndAnnotationsAgree: of any conferences and moments, Owner is the rule, and the
// interval of each conference holds just the moments that it owns.
//
// spec: CONF-01, CONF-02
func TestOwnerAndAnnotationsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spans := apart(t)
		for _, at := range moments(t, spans) {
			for ms := at - 2; ms <= at+2; ms++ {
				want := owner(spans, ms)
				require.Equal(t, want, instance.Owner(spans, ms), "%d of %v", ms, spans)
				for i := range spans {
					require.Equal(t, i == want, within(annotations(spans, i), ms), "%d in %d of %v", ms, i, spans)
				}
			}
		}
	})
}

// TestOwnerOfSorted is Owner, also of spans that overlap.
//
// spec: CONF-01
func TestOwnerOfSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spans []instance.Span
		for range rapid.IntRange(0, 8).Draw(t, "spans") {
			at := rapid.Int64Range(0, 300_000).Draw(t, "start")
			s := span(at, at+rapid.Int64Range(0, 100_000).Draw(t, "length"))
			if n := len(spans); n > 0 {
				s.Start += spans[n-1].Start + 1
				s.End = max(s.End+spans[n-1].Start+1, spans[n-1].End+1)
			}
			spans = append(spans, s)
		}
		for _, ms := range moments(t, spans) {
			for _, at := range []int64{ms - 1, ms, ms + 1} {
				got := instance.OwnerOfSorted(len(spans), func(i int) instance.Span { return spans[i] }, at)
				require.Equal(t, instance.Owner(spans, at), got, "%d of %v", at, spans)
			}
		}
	})
}

func within(s instance.Span, ms int64) bool { return s.Start <= ms && ms <= s.End }

func annotations(spans []instance.Span, i int) instance.Span {
	var previous, next *instance.Span
	if i > 0 {
		previous = &spans[i-1]
	}
	if i+1 < len(spans) {
		next = &spans[i+1]
	}
	return instance.Annotations(previous, spans[i], next)
}

// TestGrowthTakesNothingAway: a conference that grows owns what it owned, and no annotation
// that had an owner is without one.
//
// spec: CONF-02
func TestGrowthTakesNothingAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spans := apart(t)
		grown := span(0, 0)
		grown.Start = rapid.Int64Range(0, 100*hour).Draw(t, "start")
		grown.End = grown.Start + rapid.Int64Range(0, hour).Draw(t, "length")
		merged, absorbed := instance.Merge(spans, grown)
		part := map[int]bool{}
		after := []instance.Span{merged}
		for _, i := range absorbed {
			part[i] = true
		}
		for i, s := range spans {
			if !part[i] {
				after = append(after, s)
			}
		}
		for _, ms := range moments(t, append(spans, grown)) {
			before, now := instance.Owner(spans, ms), instance.Owner(after, ms)
			if before < 0 {
				continue
			}
			require.GreaterOrEqual(t, now, 0)
			require.True(t, now == 0 || after[now] == spans[before], "it changes to the one that grew, or not at all")
			require.False(t, part[before] && now != 0, "the one that grew keeps it")
		}
	})
}
