package series

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// TestOpenIssues: each issue is raised once and open until it ends, however often that is reported.
//
// spec: OUT-01, CONF-03
func TestOpenIssues(t *testing.T) {
	a := newAggregates(10)
	tell := func(id, state, kind string, again bool) Left {
		logs := plog.NewLogs()
		record(logs, "demo", semconv.EventIssue, map[string]any{
			semconv.IssueID: id, semconv.IssueState: state, semconv.IssueKind: kind, semconv.Duplicate: again,
		})
		return a.observe(logs)
	}
	have := func(raised, open int) {
		t.Helper()
		out := exposition(t, a)
		require.Contains(t, out, fmt.Sprintf(`qos_issues_raised_total{app="demo",kind="highPacketLoss"} %d`+"\n", raised))
		require.Contains(t, out, fmt.Sprintf(`qos_open_issues{app="demo",kind="highPacketLoss"} %d`+"\n", open))
	}
	tell("a", "raised", "highPacketLoss", false)
	have(1, 1)
	tell("a", "raised", "highPacketLoss", true) // the next component was asked again
	have(1, 1)
	tell("b", "raised", "highPacketLoss", true) // reported by the process before this one
	have(1, 2)
	tell("c", "resolved", "highPacketLoss", false) // begun in the process before this one
	have(1, 2)
	tell("a", "resolved", "highPacketLoss", false)
	tell("a", "resolved", "highPacketLoss", true)
	have(1, 1)
	tell("b", "withdrawn", "highPacketLoss", false)
	have(1, 0)
	tell("d", "raised", "x\"} 1\nqos_fake", false)
	tell("", "raised", "highJitter", false)
	tell("e", "later", "highJitter", false)
	require.NotContains(t, exposition(t, a), "qos_fake")
	require.NotContains(t, exposition(t, a), `kind="highJitter"`)

	a.issues.limit = 1
	require.Zero(t, tell("f", "raised", "highPacketLoss", false))
	require.Equal(t, Left{Untracked: 1}, tell("g", "raised", "highPacketLoss", false))
	have(3, 1)
	require.Zero(t, tell("f", "raised", "highPacketLoss", true), "it is followed")
}
