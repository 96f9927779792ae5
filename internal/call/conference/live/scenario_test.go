package live_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestScenarios runs testdata/*.txtar against a Set with a Tick each second. Sections:
//
//	in          lines "<second> <session> <record> [words] [name=value…]"; the clock advances
//	            to each; "at=<second>" sets the record's own time, "conference=" the
//	            conferenceID, "of=<second>" the time that locates the conference, "seq=" the
//	            number, and the word "again" after the session repeats its last record
//	advance D   the clock advances by D
//	out         summaries emitted since the last out, in order: a line "summary" for each,
//	            then "path = JSON value" lines about it; empty if none were emitted
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			newScenario(t).run(archive)
		})
	}
}

type scenario struct {
	t    *testing.T
	set  *live.Set
	now  int64
	out  []conference.Summary
	seqs map[string]uint64
	last map[string]event.Event
}

func newScenario(t *testing.T) *scenario {
	t.Helper()
	return &scenario{
		t: t, now: conferencetest.Base, seqs: map[string]uint64{}, last: map[string]event.Event{},
		set: live.NewSet(live.Config{MaxConferences: 100, KeepEndedMs: 600_000, Labels: quality.DefaultBounds()}),
	}
}

func (s *scenario) run(archive *txtar.Archive) {
	for _, section := range archive.Files {
		name, arg, _ := strings.Cut(section.Name, " ")
		switch name {
		case "in":
			for line := range strings.Lines(string(section.Data)) {
				s.line(strings.Fields(line))
			}
		case "advance":
			d, err := time.ParseDuration(arg)
			require.NoError(s.t, err)
			s.advance(s.now + d.Milliseconds())
		case "out":
			s.compare(string(section.Data))
		default:
			require.Fail(s.t, "unknown section", section.Name)
		}
	}
	require.Empty(s.t, s.out, "summaries after the last out")
}

func (s *scenario) advance(to int64) {
	for next := s.now - s.now%1000 + 1000; next <= to; next += 1000 {
		s.out = append(s.out, tick(s.set, next)...)
	}
	s.now = to
}

func (s *scenario) ms(seconds string) int64 {
	v, err := strconv.ParseFloat(seconds, 64)
	require.NoError(s.t, err)
	return conferencetest.Base + int64(v*1000)
}

func (s *scenario) line(words []string) {
	if len(words) == 0 || words[0] == "#" {
		return
	}
	s.advance(max(s.now, s.ms(words[0])))
	session := words[1]
	if words[2] == "again" {
		e := s.last[session]
		require.Equal(s.t, live.Duplicate, s.set.Apply(&e, s.now))
		return
	}
	e, values := s.event(words)
	result := live.Applied.String()
	if want, ok := values["result"]; ok {
		result = want.(string)
	}
	require.Equal(s.t, result, s.set.Apply(&e, s.now).String(), "%v", words)
	s.last[session] = e
}

// event builds the record of a line: "<second> <session> <kind> [words] [name=value…]".
func (s *scenario) event(words []string) (event.Event, map[string]any) {
	session := words[1]
	s.seqs[session]++
	e := event.Event{
		RemoteType: "peer", AppID: "app", ConferenceID: "standup", Session: session, UserID: session, Alias: "a-" + session,
		Seq: s.seqs[session], Fabric: 1, Usage: "multiplex", AtMs: s.ms(words[0]), ConferenceAtMs: conferencetest.Base,
	}
	values, plain := map[string]any{}, []string{}
	for _, word := range words[2:] {
		name, value, named := strings.Cut(word, "=")
		if !named {
			plain = append(plain, word)
			continue
		}
		var v any
		if json.Unmarshal([]byte(value), &v) != nil {
			v = value
		}
		values[name] = v
	}
	s.settings(&e, values)
	s.kind(&e, plain, values)
	return e, values
}

func (s *scenario) settings(e *event.Event, values map[string]any) {
	if v, ok := values["seq"]; ok {
		e.Seq = uint64(number(v))
		s.seqs[e.Session] = max(s.seqs[e.Session], e.Seq)
	}
	if v, ok := values["user"]; ok {
		e.UserID, e.Alias = text(v), "a-"+text(v)
	}
	if v, ok := values["remote"]; ok {
		e.RemoteUser, e.RemoteAlias = text(v), "a-"+text(v)
	}
	if v, ok := values["index"]; ok {
		e.Index = int(number(v))
	}
	if v, ok := values["fabric"]; ok {
		e.Fabric = int(number(v))
	}
	if v, ok := values["remoteType"]; ok {
		e.RemoteType = text(v)
	}
	if v, ok := values["usage"]; ok {
		e.Usage = text(v)
	}
	if v, ok := values["conference"]; ok {
		e.ConferenceID, _ = v.(string)
	}
	if v, ok := values["at"]; ok {
		e.AtMs = conferencetest.Base + int64(number(v)*1000)
	}
	if v, ok := values["of"]; ok {
		e.ConferenceAtMs = conferencetest.Base + int64(number(v)*1000)
	}
}

func (s *scenario) kind(e *event.Event, plain []string, values map[string]any) {
	switch plain[0] {
	case "stats":
		e.Kind = event.KindStats
		if len(plain) > 1 {
			e.Measured = stats(plain[1:], values)
			e.Measured.Screen = e.Usage == event.Screen
		}
	case "error":
		e.Kind, e.Function = event.KindError, plain[1]
	case "log":
		e.Kind = event.KindLog
	case "feedback":
		e.Kind = event.KindFeedback
		overall := int(number(values["overall"]))
		e.Feedback = &event.Feedback{UserID: e.UserID, Alias: e.Alias, Overall: &overall}
	case "skip":
		e.Kind = event.KindSkip
		e.Lost = event.Lost{Stats: int(number(values["stats"])), Events: int(number(values["events"]))}
	default: // the name of an event; the values are its data
		e.Kind, e.Name = event.KindEvent, plain[0]
		data, err := json.Marshal(values)
		require.NoError(s.t, err)
		e.Data = event.ParseData(e.Name, data)
	}
}

func stats(plain []string, values map[string]any) *event.Measurement {
	m := &event.Measurement{
		StatsType: plain[0], IntervalMs: 10_000, SSRC: int64(number(values["ssrc"])), Codec: "opus",
		RID: text(values["rid"]), Limitation: text(values["limitation"]),
	}
	if v, ok := values["interval"]; ok {
		m.IntervalMs = number(v)
	}
	if len(plain) > 1 {
		m.MediaType = plain[1]
	}
	m.Set(protocol.PacketsLost, 0)
	for name, k := range map[string]protocol.Measure{
		"packets": protocol.Packets, "lost": protocol.PacketsLost, "bytes": protocol.Bytes, "bytesReceived": protocol.BytesReceived,
		"freezeMs": protocol.FreezeMs, "samples": protocol.Samples, "concealed": protocol.ConcealedSamples,
		"rtt": protocol.RTTMs, "jitter": protocol.JitterMs, "remoteLost": protocol.RemotePacketsLost, "remoteJitter": protocol.RemoteJitterMs,
		"level": protocol.AudioLevel, "buffer": protocol.JitterBufferDelayMs, "events": protocol.ConcealmentEvents, "fps": protocol.FPS,
		"decoded": protocol.FramesDecoded, "frames": protocol.Frames, "dropped": protocol.FramesDropped, "plis": protocol.PLIs, "cpuMs": protocol.CPULimitedMs,
		"bandwidthMs": protocol.BandwidthLimitedMs, "encodeMs": protocol.EncodeMs, "target": protocol.TargetBitrateBps,
	} {
		if v, ok := values[name]; ok {
			m.Set(k, number(v))
		}
	}
	if v, ok := values["mos"]; ok {
		m.Score = event.Score{MOS: event.Known(number(v)), Label: quality.Label(number(v), quality.DefaultBounds())}
	}
	return m
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func number(v any) float64 {
	f, _ := v.(float64)
	return f
}

// compare holds what was emitted against the lines of an out section.
func (s *scenario) compare(want string) {
	i := -1
	var document any
	for line := range strings.Lines(want) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if line == "summary" {
			i++
			require.Less(s.t, i, len(s.out), "a summary is missing at %d s: %s", (s.now-conferencetest.Base)/1000, want)
			document = s.document(s.out[i])
			continue
		}
		path, value, ok := strings.Cut(line, " = ")
		require.True(s.t, ok, line)
		got, err := json.Marshal(lookup(s.t, document, path))
		require.NoError(s.t, err)
		require.JSONEq(s.t, value, string(got), "%s in %s", path, want)
	}
	require.Len(s.t, s.out, i+1, "at %d s", (s.now-conferencetest.Base)/1000)
	s.out = nil
}

// document makes times seconds since conferencetest.Base, which is how scenarios write them.
func (s *scenario) document(summary conference.Summary) any {
	raw, err := json.Marshal(summary)
	require.NoError(s.t, err)
	var document any
	require.NoError(s.t, json.Unmarshal(raw, &document))
	return document
}

// lookup walks a path of names and indexes; "#" is a list's length, and a name that ends
// in s after a time of day ("startS", "endS") is that time in seconds since base.
func lookup(t *testing.T, document any, path string) any {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		switch d := document.(type) {
		case []any:
			if name == "#" {
				document = len(d)
				continue
			}
			i, err := strconv.Atoi(name)
			require.NoError(t, err, path)
			require.Less(t, i, len(d), path)
			document = d[i]
		case map[string]any:
			if prefix, ok := strings.CutSuffix(name, "S"); ok {
				document = (number(d[prefix+"Ms"]) - float64(conferencetest.Base)) / 1000
				continue
			}
			value, ok := d[name]
			require.True(t, ok, "no %s in %s", name, path)
			document = value
		default:
			require.Fail(t, fmt.Sprintf("%s ends at %v", path, document))
		}
	}
	return document
}
