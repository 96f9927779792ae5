package harness

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
)

func TestParseMetrics(t *testing.T) {
	m, err := ParseMetrics("# HELP a_total help\na_total{code=\"x\",b=\"c d\"} 3\na_total{code=\"y\"} 4e+00\n\nb 0.5\n")
	require.NoError(t, err)
	require.InDelta(t, 7.0, m.Sum("a_total"), 0)
	require.InDelta(t, 3.0, m.Sum("a_total", `code="x"`), 0)
	require.InDelta(t, 0.5, m.Sum("b"), 0)
	require.Zero(t, m.Sum("a"))
	_, err = ParseMetrics("a b")
	require.Error(t, err)
	_, err = ParseMetrics("a")
	require.Error(t, err)
}

// account is a client that made two frames, the first of them acknowledged, and what the
// store holds of it.
func account() (*Client, Stored) {
	c := NewClient([]string{"http://127.0.0.1:1/"}, 1, 0, Habits{})
	c.session = "its own"
	first := &Frame{From: 1, Seq: 1, Sent: 1, Acked: true, Records: []Record{{Name: semconv.EventLog, Value: "a"}, {Name: semconv.EventLog, Value: "b"}}}
	second := &Frame{From: 2, Seq: 2, Sent: 1, Records: []Record{{Name: semconv.EventLog, Value: "c"}}}
	c.last, c.frames = 2, []*Frame{first, second}
	return c, Stored{
		{c.session, 1, 0}: first.Records[:1],
		{c.session, 1, 1}: first.Records[1:],
	}
}

// TestBalanceFindsWhatIsWrong breaks a balanced account in every way.
func TestBalanceFindsWhatIsWrong(t *testing.T) {
	c, stored := account()
	sum, err := Balance([]*Client{c}, stored)
	require.NoError(t, err)
	require.Equal(t, Ledger{Made: 2, Sent: 2, Acked: 1, Open: 1, Taken: 1, Sends: 2, Records: 2}, sum)
	for name, wrong := range map[string]func(c *Client, s Stored){
		"lost":       func(c *Client, s Stored) { delete(s, Identity{c.session, 1, 1}) },
		"twice":      func(c *Client, s Stored) { s[Identity{c.session, 1, 0}] = append(c.frames[0].Records[:1:1], Record{}) },
		"changed":    func(c *Client, s Stored) { s[Identity{c.session, 1, 0}] = c.frames[0].Records[1:] },
		"invented":   func(c *Client, s Stored) { s[Identity{c.session, 3, 0}] = c.frames[0].Records[1:] },
		"past index": func(c *Client, s Stored) { s[Identity{c.session, 1, 2}] = c.frames[0].Records[1:] },
		"refused":    func(c *Client, _ Stored) { c.frames[0].Refused, c.frames[0].Records = "internal", nil },
		"nowhere":    func(c *Client, _ Stored) { c.frames[0].Records[0].None = true },
		"numbers":    func(c *Client, _ Stored) { c.last++ },
	} {
		c, stored := account()
		wrong(c, stored)
		_, err := Balance([]*Client{c}, stored)
		require.Error(t, err, name)
	}
}
