package readapi

import (
	"fmt"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

func tailOf(c *call, from float64) string {
	return "/api/conference/tail?" + url.Values{
		"app": {c.AppID}, "id": {c.ConferenceID}, "at": {strconv.FormatInt(c.Start.UnixMilli(), 10)}, "from": {strconv.FormatInt(seconds(from).UnixMilli(), 10)},
	}.Encode()
}

// gotTail is an answer of /api/conference/tail as a client reads it.
type gotTail struct {
	From                int64
	Conference          conferenceRow
	Streams             []map[string]any
	Measures            []measure
	Others              int
	Incomplete, Damaged bool
}

// TestTail: a tail has the measurements from a time on, as the whole conference has them, and counts all other records.
//
// spec: DASH-05
func TestTail(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	base := start(t, m, nil)
	f := func(from float64, times []any, others int) {
		t.Helper()
		var g gotTail
		getJSON(t, base+tailOf(c, from), &g)
		require.Equal(t, seconds(from).UnixMilli(), g.From)
		require.Equal(t, "stand up/1", g.Conference.ID)
		require.Equal(t, others, g.Others)
		video := stream1(t, got{Streams: g.Streams}, 7)
		require.Equal(t, times, video["t"])
		whole := stream1(t, ask(t, base, c), 7)
		for _, name := range []string{"latest", "label", "codec", "recordsPerPoint"} {
			require.Equal(t, whole[name], video[name], name)
		}
		require.NotEmpty(t, g.Measures)
	}
	f(10, []any{float64(seconds(10).UnixMilli()), float64(seconds(15).UnixMilli())}, 5)
	f(15, []any{float64(seconds(15).UnixMilli())}, 5)
	f(0, []any{float64(seconds(5).UnixMilli()), float64(seconds(10).UnixMilli()), float64(seconds(15).UnixMilli())}, 7)

	var g gotTail
	getJSON(t, base+tailOf(c, 60), &g)
	require.Empty(t, g.Streams)
	require.Zero(t, g.Others)
}

// TestTailNames: a tail has no text that an application wrote, and no real name.
//
// spec: DASH-03
func TestTailNames(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	c.stats(alice, seconds(30), "outbound-rtp", "video", map[string]any{"ssrc": int64(21), "rid": "Robert Roe"})
	_, body, _ := get(t, start(t, m, nil)+tailOf(c, 0))
	require.Contains(t, body, "b-17")
	require.NotContains(t, body, "Carol C")
	require.NotContains(t, body, "Robert Roe", "a stream's RID")
	require.NotContains(t, body, "hello")
}

func TestTailBounds(t *testing.T) {
	m := &memory{}
	c := m.newCall("large", t0)
	c.join(alice, "alice", "alice", nil)
	for i := range maxStreams + 1 {
		c.stats(alice, seconds(1), "inbound-rtp", "audio", map[string]any{"ssrc": int64(i + 1)})
	}
	base := start(t, m, nil)
	var g gotTail
	getJSON(t, base+tailOf(c, 0), &g)
	require.True(t, g.Incomplete)
	require.Len(t, g.Streams, maxStreams)

	c.records = nil
	for i := range maxTail + 1 {
		c.stats(alice, seconds(float64(i)), "inbound-rtp", "audio", map[string]any{"ssrc": int64(1)})
	}
	g = gotTail{}
	getJSON(t, base+tailOf(c, 0), &g)
	require.True(t, g.Incomplete)
	g = gotTail{}
	getJSON(t, base+tailOf(c, 1), &g)
	require.False(t, g.Incomplete, "as many as there may be")
}

func TestTailBadInput(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	base := start(t, m, nil)
	f := func(path string, status int, want string) {
		t.Helper()
		got, body, _ := get(t, base+path)
		require.Equal(t, status, got, body)
		require.Contains(t, body, want)
	}
	whole := tailOf(c, 0)
	f("/api/conference/tail?app=demo&id=x&at=1", 400, `"field":"from"`)
	f(whole+"&from=2", 400, `"field":"from"`)
	f("/api/conference/tail?app=demo&id=none&at=5&from=1", 404, "no conference")
	m.damaged = fmt.Errorf("a chunk: %w", storage.ErrDamaged)
	f(whole, 200, `"damaged":true`)
	m.err = storage.ErrDamaged
	f(whole, 500, "could not be read")
}
