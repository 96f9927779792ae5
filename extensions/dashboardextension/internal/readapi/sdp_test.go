package readapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// sdpCall is a call with one error, number 1 of alice, whose local SDP is in parts.
func sdpCall(m *memory, bytes int) *call {
	c := m.newCall("parts", t0)
	c.join(alice, "alice", "alice", nil)
	c.event(alice, 1, seconds(0), "fabricAdded", `{}`)
	c.record(alice, 1, seconds(1), semconv.EventError, map[string]any{
		semconv.ErrorFunction: "setRemoteDescription", semconv.ErrorName: "OverconstrainedError", semconv.ErrorMessage: "no",
		semconv.ErrorCode: "7", semconv.ErrorConstraintName: "width", semconv.ErrorStack: "at a\nat b", semconv.ErrorDetails: `{"status":500}`,
		semconv.ErrorLocalSDPBytes: int64(bytes), semconv.ErrorRemoteSDP: "v=0",
	})
	return c
}

func (c *call) part(session, field string, of uint64, offset int, text string) {
	c.record(session, 1, seconds(2), semconv.EventSDP, map[string]any{
		semconv.SDPError: int64(of), semconv.SDPField: field, semconv.SDPOffset: int64(offset), semconv.SDPText: text,
	})
}

func (c *call) errorSeq() uint64 {
	for _, r := range c.records {
		if r.Name == semconv.EventError {
			return r.Seq
		}
	}
	return 0
}

func errorOf(t *testing.T, g got) map[string]any {
	t.Helper()
	require.Len(t, g.Timeline, 2, "parts are no entries")
	require.Equal(t, "error", g.Timeline[1]["kind"])
	return g.Timeline[1]
}

// TestErrorWhole: all that is kept of an error is in its entry.
//
// spec: API-01, DASH-02
func TestErrorWhole(t *testing.T) {
	m := &memory{}
	c := sdpCall(m, 0)
	e := errorOf(t, ask(t, start(t, m, nil), c))
	require.Equal(t, []any{"OverconstrainedError", "no", "7", "width", "at a\nat b", "v=0"},
		[]any{e["name"], e["message"], e["code"], e["constraintName"], e["stack"], e["remoteSDP"]})
	require.Equal(t, map[string]any{"status": 500.0}, e["data"])
	require.NotContains(t, e, "localSDP")
}

// TestSDPInParts: whatever the order of the parts is, and however often they came, the entry has
// the SDP in one piece; bytes that are missing are named.
//
// spec: API-01, DASH-02
func TestSDPInParts(t *testing.T) {
	whole := strings.Repeat("a=candidate:1 1 udp 1 \u00e9\r\n", 700) // 18,200 bytes
	type part struct{ from, to int }
	f := func(name, want string, missing any, parts ...part) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			m := &memory{}
			c := sdpCall(m, len(whole))
			seq := c.errorSeq()
			for _, p := range parts {
				c.part(alice, "localSDP", seq, p.from, whole[p.from:p.to])
			}
			c.part(alice, "remoteSDP", seq, 0, "of the other SDP")
			c.part(alice, "localSDP", seq+100, 0, "of another error")
			e := errorOf(t, ask(t, start(t, m, nil), c))
			require.Equal(t, want, e["localSDP"])
			require.Equal(t, missing, e["localSDPMissing"])
			require.Equal(t, "v=0", e["remoteSDP"])
		})
	}
	n := len(whole)
	f("in order", whole, nil, part{0, 8000}, part{8000, 16_000}, part{16_000, n})
	f("in reverse order", whole, nil, part{16_000, n}, part{8000, 16_000}, part{0, 8000})
	f("twice", whole, nil, part{0, 8000}, part{8000, n}, part{0, 8000}, part{8000, n})
	f("overlapping", whole, nil, part{0, 9000}, part{8000, n})
	f("the middle is missing", whole[:8000]+"\n[bytes 8000 to 15999 of 18200 are missing]\n"+whole[16_000:], 8000.0, part{0, 8000}, part{16_000, n})
	f("the end is missing", whole[:8000]+"\n[bytes 8000 to 18199 of 18200 are missing]\n", 10_200.0, part{0, 8000})
	f("the beginning is missing", "\n[bytes 0 to 7999 of 18200 are missing]\n"+whole[8000:], 8000.0, part{8000, n})
	f("all are missing", "\n[bytes 0 to 18199 of 18200 are missing]\n", 18_200.0)
}

// TestTextsAreBounded: an answer holds so many bytes of each kind, whatever a client sent. Logs push no error out, and an SDP
// counts alike in one piece and in parts.
//
// spec: SRV-02
func TestTextsAreBounded(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	part := &event.Event{Session: "s", Kind: event.KindSDP, SDP: &event.SDPPart{Error: 1, Field: fieldLocalSDP, Bytes: 1 << 20, Text: text}}
	line := newTimeline(newNames(true, true))
	f := func(e *event.Event, held int) {
		t.Helper()
		leftOut := line.leftOut
		for range 20 {
			line.add(e)
		}
		require.Equal(t, 20-held, line.leftOut-leftOut)
	}
	f(&event.Event{Kind: event.KindLog, Text: text}, 8)
	f(&event.Event{Kind: event.KindEvent, Text: text}, 8)
	f(&event.Event{Kind: event.KindFeedback, Feedback: &event.Feedback{Comment: text}}, 8)
	f(&event.Event{Kind: event.KindError, Error: &event.Error{LocalSDP: text[:1<<18], RemoteSDP: text[:1<<18]}}, 20)
	f(part, 6)
	f(&event.Event{Kind: event.KindSkip, Lost: event.Lost{Stats: 1}}, 20)
	require.Len(t, line.list(), 3*8+20+20)
}

// TestSDPPartsOutOfRange: offsets that cannot be true are no fault.
//
// spec: SRV-02
func TestSDPPartsOutOfRange(t *testing.T) {
	for _, odd := range []int64{-5, -1 << 62, 1 << 62} {
		s := sdps{parts: map[sdpKey][]sdpPart{}}
		s.add(&event.Event{Session: "s", Kind: event.KindSDP, SDP: &event.SDPPart{Error: 1, Field: fieldLocalSDP, Offset: odd, Bytes: 1, Text: "x"}})
		text, missing := s.join(wholeSDP{key: sdpKey{"s", 1, fieldLocalSDP}, bytes: 7})
		require.Equal(t, "\n[bytes 0 to 6 of 7 are missing]\n", text, odd)
		require.EqualValues(t, 7, missing)
	}
}

// TestSDPPartsThatWereCut: offsets are those of the SDP as it was sent, though addresses were cut in
// the texts. An end that may have been of an address is missing.
//
// spec: PRIV-01
func TestSDPPartsThatWereCut(t *testing.T) {
	s := sdps{parts: map[sdpKey][]sdpPart{}}
	for _, part := range []event.SDPPart{
		{Offset: 26, Bytes: 4, Text: "b=b\n"},
		{Offset: 0, Bytes: 20, Text: "c=IN IP6 2001:db8::"}, // c=IN IP6 2001:db8::7
		{Offset: 20, Bytes: 5, Text: "\n"},                  // :8:9\n
	} {
		part.Error, part.Field = 1, fieldLocalSDP
		s.add(&event.Event{Session: "s", Kind: event.KindSDP, SDP: &part})
	}
	text, missing := s.join(wholeSDP{key: sdpKey{"s", 1, fieldLocalSDP}, bytes: 30})
	require.Equal(t, "c=IN IP6 2001:db8::\n\n[bytes 25 to 25 of 30 are missing]\nb=b\n", text)
	require.EqualValues(t, 1, missing)
}
