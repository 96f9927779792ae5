package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// watchedMeasurements is how many are looked at, beside the first.
const watchedMeasurements = 4

// object is a report, a track or a row.
type object map[string]any

// number is a figure of an object; NaN where it is unknown.
func (o object) number(name string) float64 {
	if v, ok := o[name].(float64); ok {
		return v
	}
	return math.NaN()
}

// watched is the page's account (testdata/stats.js).
type watched struct {
	Told []struct {
		Stats struct {
			ConnectionState, FabricState, ConferenceURL, ConferenceID string
			MediaStreamTracks                                         []object
			Streams                                                   map[string]object
		}
		Reading int
	}
	Readings [][]object
	Sent     []string
	SSRC     float64
	Host     struct{ SDP string }
	Local    string // the description of the near end
	Remote   string
}

// TestFigures holds every figure that the application is told, and every row on the wire,
// against the reports that the library got, in a call that loses a tenth of its packets.
//
// spec: STAT-02, STAT-03, STAT-04, STAT-05, STAT-06, STAT-08
func TestFigures(t *testing.T) {
	need(t)
	c := newCollector(t)
	pages := startStatsPages(t)
	c.origins = []string{pages}
	c.start()
	for _, kind := range []string{chromium, firefox} {
		t.Run(kind, func(t *testing.T) {
			account := watchCall(t, c, pages, kind)
			account.checkView(t, kind)
			account.checkRows(t)
			account.checkSetup(t)
			account.checkPrivacy(t)
		})
	}
}

func watchCall(t *testing.T, c *collector, pages, kind string) *watched {
	t.Helper()
	b := startBrowser(t, kind)
	p := openPage(t, b, "figures", pages+"/stats.html")
	r := startRelay(t, lossFraction)
	p.run(fmt.Sprintf("void watch(%q, %q, {urls: %q, username: %q, credential: %q}).catch((e) => { watched.failed = `${e} ${e.stack}`; })",
		c.receiver+"/", "figures in "+kind, r.url, relayUser, relaySecret))
	p.until(60*time.Second, fmt.Sprintf("watched.failed || watched.told.filter(({stats}) => stats.mediaStreamTracks.length > 6).length > %d", watchedMeasurements))
	var failed string
	p.get("watched.failed", &failed)
	require.Empty(t, failed)
	var account watched
	p.get(`({told: watched.told, readings: watched.readings, sent: watched.sent, ssrc: watched.ssrc, host: watched.host,
		local: watched.call.near.localDescription.sdp, remote: watched.call.near.remoteDescription.sdp})`, &account)
	return &account
}

// interval is what a measurement was made of.
type interval struct {
	before, after []object
}

func (w *watched) interval(n int) interval {
	return interval{w.Readings[w.Told[n-1].Reading], w.Readings[w.Told[n].Reading]}
}

func report(reports []object, statsType string, ssrc float64) object {
	for _, one := range reports {
		if one["type"] == statsType && one.number("ssrc") == ssrc {
			return one
		}
	}
	return nil
}

// rose is how much a counter of a stream rose.
func (i interval) rose(statsType string, ssrc float64, counter string) float64 {
	return report(i.after, statsType, ssrc).number(counter) - report(i.before, statsType, ssrc).number(counter)
}

// full are the measurements that have both a whole interval and all streams.
func (w *watched) full() []int {
	var all []int
	for n := 1; n < len(w.Told); n++ {
		if len(w.Told[n].Stats.MediaStreamTracks) > 6 && len(w.Told[n-1].Stats.MediaStreamTracks) > 6 {
			all = append(all, n)
		}
	}
	return all
}

// checkView looks at what csStatsCallback is told.
func (w *watched) checkView(t *testing.T, kind string) {
	t.Helper()
	require.GreaterOrEqual(t, len(w.full()), watchedMeasurements-1)
	var lost, reported float64
	for _, n := range w.full() {
		stats := w.Told[n].Stats
		require.Equal(t, []string{"online", "established", "figures in " + kind},
			[]string{stats.ConnectionState, stats.FabricState, stats.ConferenceID})
		require.Contains(t, stats.ConferenceURL, "/conference?")
		types := map[string]int{}
		for _, track := range stats.MediaStreamTracks {
			types[track["statsType"].(string)+" "+track["mediaType"].(string)]++
			w.checkTrack(t, w.interval(n), track)
			short := stats.Streams[fmt.Sprintf("%.0f", track.number("ssrc"))]
			switch track["statsType"] {
			case "inbound-rtp":
				require.Equal(t, "inbound-rtp", short["reportType"])
				require.Equal(t, track["fractionLoss"], short["fractionLoss"])
				require.Equal(t, track["bitrate"], short["bitrate"])
				lost += track.number("fractionLoss")
			case "outbound-rtp":
				require.Equal(t, "outbound-rtp", short["reportType"])
				require.Equal(t, track["rtt"], short["rtt"])
			case "remote-inbound-rtp":
				if f := track.number("fractionLoss"); !math.IsNaN(f) {
					reported += f
				}
			}
		}
		require.Equal(t, 1, types["inbound-rtp audio"])
		require.Equal(t, 1, types["outbound-rtp video"])
		require.Len(t, stats.Streams, 4)
	}
	require.Positive(t, lost, "the relay loses a tenth")
	require.Positive(t, reported, "the other end sees it too")
}

// checkTrack holds one element of mediaStreamTracks against its reports.
func (w *watched) checkTrack(t *testing.T, in interval, track object) {
	t.Helper()
	for _, name := range []string{
		"remoteUserID", "statsType", "ssrc", "cname", "msid", "mediaType", "usageLabel", "associatedVideoTag",
		"bitrate", "packetRate", "fractionLoss", "packetLossPercentage", "jitter", "averageJitter", "rtt", "averageRTT",
		"quality", "audioInputLevel", "audioOutputLevel",
	} {
		require.Contains(t, track, name, "unknown is null, never absent")
	}
	require.Equal(t, "grace", track["remoteUserID"])
	require.Contains(t, []any{"excellent", "fair", "bad", nil}, track["quality"])
	for _, name := range []string{"rtt", "averageRTT"} {
		require.GreaterOrEqual(t, track.number(name), 0.0, name) // Firefox measures whole ms
		require.Less(t, track.number(name), 1000.0, name)
	}
	ssrc := track.number("ssrc")
	switch track["statsType"] {
	case "inbound-rtp":
		w.checkInbound(t, in, track, ssrc)
	case "outbound-rtp":
		seconds := in.rose("outbound-rtp", ssrc, "timestamp") / 1000
		near(t, in.rose("outbound-rtp", ssrc, "bytesSent")*8/1000/seconds, track.number("bitrate"), "bitrate")
		require.NotNil(t, track["cname"])
		require.Contains(t, w.Local, fmt.Sprintf("a=ssrc:%.0f cname:%s", ssrc, track["cname"]))
		if ssrc == w.SSRC {
			require.Equal(t, []any{"camera", "screen"}, []any{track["usageLabel"], track["associatedVideoTag"]})
		}
	case "remote-inbound-rtp":
		remote := report(in.after, "remote-inbound-rtp", ssrc)
		require.InDelta(t, remote.number("jitter")*1000, track.number("jitter"), 0.06)
	}
	if f := track.number("fractionLoss"); !math.IsNaN(f) {
		require.GreaterOrEqual(t, f, 0.0)
		require.LessOrEqual(t, f, 1.0)
		require.InDelta(t, 100*f, track.number("packetLossPercentage"), 0.01)
	}
}

func (w *watched) checkInbound(t *testing.T, in interval, track object, ssrc float64) {
	t.Helper()
	seconds := in.rose("inbound-rtp", ssrc, "timestamp") / 1000
	again := in.rose("inbound-rtp", ssrc, "retransmittedPacketsReceived")
	if math.IsNaN(again) {
		again = 0
	}
	packets := in.rose("inbound-rtp", ssrc, "packetsReceived") - again
	lost := in.rose("inbound-rtp", ssrc, "packetsLost")
	near(t, in.rose("inbound-rtp", ssrc, "bytesReceived")*8/1000/seconds, track.number("bitrate"), "bitrate")
	near(t, packets/seconds, track.number("packetRate"), "packetRate")
	require.InDelta(t, max(0, lost/(lost+packets)), track.number("fractionLoss"), 0.001)
	now := report(in.after, "inbound-rtp", ssrc)
	require.InDelta(t, now.number("jitter")*1000, track.number("jitter"), 0.06)
	w.checkAverage(t, track)
	require.NotNil(t, track["cname"])
	require.Contains(t, w.Remote, fmt.Sprintf("a=ssrc:%.0f cname:%s", ssrc, track["cname"]))
	require.NotNil(t, track["msid"])
	require.Contains(t, w.Remote, fmt.Sprint(track["msid"]))
	if track["mediaType"] == "audio" {
		require.InDelta(t, now.number("audioLevel"), track.number("audioOutputLevel"), 0.0001)
	}
}

// checkAverage: no mean is above the most that was told.
func (w *watched) checkAverage(t *testing.T, track object) {
	t.Helper()
	var most float64
	for _, told := range w.Told {
		for _, one := range told.Stats.MediaStreamTracks {
			if one["ssrc"] == track["ssrc"] && one["statsType"] == track["statsType"] {
				most = max(most, one.number("jitter"))
			}
		}
	}
	require.GreaterOrEqual(t, track.number("averageJitter"), 0.0)
	require.LessOrEqual(t, track.number("averageJitter"), most+0.051)
}

// near allows for what the page's clock and the reports' own differ by in an interval of 2 s.
func near(t *testing.T, want, got float64, what string) {
	t.Helper()
	require.InDelta(t, want, got, 0.01+0.1*want, what)
}

// row is a row of a stats frame with its names.
type namedRow struct {
	object
	frame int // its bytes
}

// rows reads what went over the wire, as a collector does.
func (w *watched) rows(t *testing.T) []namedRow {
	t.Helper()
	type columns struct {
		StatsType, MediaType string
		Names                []string
	}
	sets := map[int]columns{}
	var rows []namedRow
	for _, text := range w.Sent {
		var m struct {
			Type string
			Set  int
			columns
			Rows [][]any
		}
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		if m.Type == "columns" {
			sets[m.Set] = m.columns
		}
		for _, cells := range m.Rows {
			set := sets[int(cells[0].(float64))]
			row := object{"statsType": set.StatsType, "mediaType": set.MediaType}
			for i, name := range set.Names {
				row[name] = cells[i+1]
			}
			rows = append(rows, namedRow{row, len(text)})
		}
	}
	return rows
}

// checkRows finds the row of each measurement and holds it against its reports.
func (w *watched) checkRows(t *testing.T) {
	t.Helper()
	rows := w.rows(t)
	checked := map[string]int{}
	for _, n := range w.full() {
		in := w.interval(n)
		for _, row := range rows {
			statsType, ssrc := row.object["statsType"].(string), row.number("ssrc")
			counter := map[string]string{"inbound-rtp": "bytesReceived", "outbound-rtp": "bytesSent"}[statsType]
			if counter == "" || in.rose(statsType, ssrc, counter) != row.number("bytes") || row.number("bytes") == 0 {
				continue
			}
			w.checkRow(t, in, row.object, statsType, ssrc)
			checked[statsType+" "+row.object["mediaType"].(string)]++
		}
	}
	require.Len(t, checked, 4, "%v", checked)
	frames := []int{}
	for _, row := range rows {
		frames = append(frames, row.frame)
	}
	slices.Sort(frames)
	require.LessOrEqual(t, frames[len(frames)-1], 700, "the bytes of a frame of four streams")
	t.Logf("stats frames of four streams have up to %d bytes; %v rows looked at", frames[len(frames)-1], checked)
}

// exact are measures that are the rise of one counter.
var exact = map[string]map[string]string{
	"inbound-rtp audio": {
		"packetsLost": "packetsLost", "samples": "totalSamplesReceived", "concealedSamples": "concealedSamples",
		"silentConcealedSamples": "silentConcealedSamples", "concealmentEvents": "concealmentEvents",
	},
	"inbound-rtp video": {
		"packetsLost": "packetsLost", "frames": "framesReceived", "framesDecoded": "framesDecoded", "framesDropped": "framesDropped",
		"keyFrames": "keyFramesDecoded", "freezes": "freezeCount", "nacks": "nackCount", "plis": "pliCount",
	},
	"outbound-rtp audio": {"retransmittedPackets": "retransmittedPacketsSent"},
	"outbound-rtp video": {
		"frames": "framesSent", "framesEncoded": "framesEncoded", "keyFrames": "keyFramesEncoded", "nacks": "nackCount",
		"retransmittedBytes": "retransmittedBytesSent",
	},
}

func (w *watched) checkRow(t *testing.T, in interval, row object, statsType string, ssrc float64) {
	t.Helper()
	kind := row["mediaType"].(string)
	for name, counter := range exact[statsType+" "+kind] {
		want := in.rose(statsType, ssrc, counter)
		if math.IsNaN(want) {
			require.Nil(t, row[name], "%s %s: the browser has no such counter", statsType, name)
			continue
		}
		require.InDelta(t, want, row.number(name), 0, "%s %s", statsType, name)
	}
	require.Equal(t, map[string]string{"audio": "opus", "video": "VP8"}[kind], row["codec"])
	now := report(in.after, statsType, ssrc)
	if kind != "video" {
		return
	}
	require.Equal(t, []any{now["frameWidth"], now["frameHeight"]}, []any{row["width"], row["height"]})
	frames := map[string]string{"inbound-rtp": "framesDecoded", "outbound-rtp": "framesSent"}[statsType]
	near(t, in.rose(statsType, ssrc, frames)/in.rose(statsType, ssrc, "timestamp")*1000, row.number("fps"), "fps")
	if statsType == "outbound-rtp" {
		require.Equal(t, now["qualityLimitationReason"], row["limitation"])
		return
	}
	require.InDelta(t, in.rose(statsType, ssrc, "totalFreezesDuration")*1000, row.number("freezeMs"), 0.1)
	require.GreaterOrEqual(t, row.number("freezes60s"), row.number("freezes"))
	require.LessOrEqual(t, row.number("freezes60s"), now.number("freezeCount"), "the call is younger than a minute")
}

// checkSetup looks at what is said once: the path, the streams' names, and how much it is.
func (w *watched) checkSetup(t *testing.T) {
	t.Helper()
	bytes, first := map[string]int{}, map[string]bool{}
	var setup, streams string
	for _, text := range w.Sent {
		var m struct{ Type, Event string }
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		switch {
		case m.Type == "event" && m.Event == "fabricSetup":
			setup = text
		case m.Type == "event" && m.Event == "streamAdded":
			streams += text
		}
		if m.Type != "stats" && m.Type != "error" {
			require.False(t, m.Type != "event" && first[text], "said twice: %s", text)
			first[text] = true
			bytes[strings.TrimSpace(m.Type+" "+m.Event)] += len(text)
		}
	}
	require.Contains(t, setup, `"localCandidateType":"relay"`)
	require.Contains(t, setup, `"relayProtocol":"udp"`)
	require.NotContains(t, streams, `"cname":null`)
	all := 0
	for _, n := range bytes {
		all += n
	}
	require.Less(t, all, 8000, "%v", bytes)
	t.Logf("set-up of a call of four streams: %d bytes: %v", all, bytes)
}

var candidateAddress = regexp.MustCompile(`candidate:\S+ \d+ \S+ \d+ (\S+) \d+ typ host`)

// checkPrivacy looks for addresses of this machine in all that was sent.
func (w *watched) checkPrivacy(t *testing.T) {
	t.Helper()
	hosts := candidateAddress.FindAllStringSubmatch(w.Host.SDP, -1)
	require.NotEmpty(t, hosts, w.Host.SDP)
	var reported string
	for _, text := range w.Sent {
		if strings.HasPrefix(text, `{"type":"error"`) {
			var m struct{ LocalSDP string }
			require.NoError(t, json.Unmarshal([]byte(text), &m))
			reported = m.LocalSDP
			require.Contains(t, reported, "a=candidate:")
		} else {
			require.NotRegexp(t, `\d+\.\d+\.\d+\.\d+|\.local\b`, stripKnown(text), "an address")
		}
	}
	require.NotEmpty(t, reported)
	for _, host := range hosts {
		require.NotContains(t, reported, " "+host[1]+" ")
	}
}

// stripKnown takes out what looks like an address and is none: the browser's version.
func stripKnown(text string) string {
	return regexp.MustCompile(`"userAgent":"[^"]*"`).ReplaceAllString(text, "")
}
