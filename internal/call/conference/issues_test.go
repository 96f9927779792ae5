package conference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/detect"
)

// spec: CONF-03
func TestNoKindOfIssueCrowdsOutOthers(t *testing.T) {
	f := func(counts, listed map[detect.Kind]int) {
		t.Helper()
		var issues []Issue
		want := map[string]int{}
		for _, kind := range detect.Kinds {
			for i := range counts[kind] {
				issues = append(issues, Issue{Kind: string(kind), Value: float64(-i)})
			}
			if counts[kind] > 0 {
				want[string(kind)] = counts[kind]
			}
		}
		var s Summary
		s.listIssues(issues)
		require.Equal(t, want, s.IssueCounts)
		have, values := map[detect.Kind]int{}, map[detect.Kind]float64{}
		for _, issue := range s.Issues {
			kind := detect.Kind(issue.Kind)
			require.Equal(t, values[kind], issue.Value, "the worst of each kind, in order")
			have[kind]++
			values[kind]--
		}
		require.Equal(t, listed, have)
	}
	f(nil, map[detect.Kind]int{})
	f(map[detect.Kind]int{detect.HighJitter: 3}, map[detect.Kind]int{detect.HighJitter: 3})
	f(map[detect.Kind]int{detect.HighJitter: 300}, map[detect.Kind]int{detect.HighJitter: 100})
	f(map[detect.Kind]int{detect.HighPacketLoss: 9000, detect.FrozenVideo: 60, detect.LateJoin: 2},
		map[detect.Kind]int{detect.HighPacketLoss: 49, detect.FrozenVideo: 49, detect.LateJoin: 2})
}

func TestIntersect(t *testing.T) {
	f := func(a, b, want []detect.Span) {
		t.Helper()
		require.Equal(t, want, intersect(a, b))
		require.Equal(t, want, intersect(b, a))
	}
	f(nil, []detect.Span{{FromMs: 1, ToMs: 2}}, nil)
	f([]detect.Span{{FromMs: 0, ToMs: 5}, {FromMs: 7, ToMs: 9}}, []detect.Span{{FromMs: 3, ToMs: 8}},
		[]detect.Span{{FromMs: 3, ToMs: 5}, {FromMs: 7, ToMs: 8}})
	f([]detect.Span{{FromMs: 0, ToMs: 5}}, []detect.Span{{FromMs: 5, ToMs: 8}}, nil)
}
