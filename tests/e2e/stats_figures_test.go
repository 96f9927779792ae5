package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/network"
)

// watchedMeasurements is how many there are at least with all streams.
const watchedMeasurements = 4

// watched is the page's account (testdata/stats.js).
type watched struct {
	Reported   []reported
	Readings   []reading
	Sent       []string
	Associated struct{ SSRC, From, Pixels float64 } // what the page said of its outbound video, from which answer on
	Host       struct{ SDP string }
	Local      string // the description of the near end
	Remote     string
}

// reported is one call of csStatsCallback, with the answer that it was made of; -1: of none.
type reported struct {
	Stats struct {
		ConnectionState, FabricState, ConferenceURL, ConferenceID string
		MediaStreamTracks                                         []object
		Streams                                                   map[string]object
	}
	Reading int
}

// associate adds what the page said about a stream.
func (w *watched) associate(i *interval, reading int) {
	if !i.inbound() && i.ssrc() == w.Associated.SSRC && float64(reading) >= w.Associated.From {
		i.associated, i.pixels = true, w.Associated.Pixels
	}
}

// TestFiguresInChromium holds every figure that the application gets, and every row on the wire,
// against the answers of getStats that the library got, in a call that loses a tenth of its
// packets. Both are of the same readings, so that nothing depends on when they were made.
//
// spec: STAT-02, STAT-03, STAT-04, STAT-05, STAT-06, STAT-08
func TestFiguresInChromium(t *testing.T) { figuresIn(t, browser.Chromium) }

// TestFiguresInFirefox does so in the other browser.
//
// spec: STAT-02, STAT-03, STAT-04, STAT-05, STAT-06, STAT-08
func TestFiguresInFirefox(t *testing.T) { figuresIn(t, browser.Firefox) }

func figuresIn(t *testing.T, kind string) {
	t.Helper()
	browser.Require(t)
	c := newCollector(t)
	pages := startStatsPages(t)
	c.origins = []string{pages}
	c.start()
	account := watchCall(t, c, pages, kind)
	account.checkMeasurements(t, kind)
	account.checkFrames(t)
	account.checkSetup(t)
	account.checkPrivacy(t)
}

func watchCall(t *testing.T, c *collector, pages, kind string) *watched {
	t.Helper()
	b := browser.Start(t, kind)
	p := openPage(t, b, "figures", pages+"/stats.html")
	r := startRelay(t, lossFraction)
	p.Run(fmt.Sprintf("void watch(%q, %q, {urls: %q, username: %q, credential: %q}).catch((e) => { watched.failed = `${e} ${e.stack}`; })",
		c.receiver+"/", "figures in "+kind, r.url, network.TURNUser, network.TURNPassword))
	p.Until(patience, fmt.Sprintf("watched.failed || watched.reported.filter(({stats}) => stats.mediaStreamTracks.length > 6).length > %d", watchedMeasurements))
	var failed string
	p.Get("watched.failed", &failed)
	require.Empty(t, failed)
	var account watched
	p.Get(`({reported: watched.reported, readings: watched.readings, sent: watched.sent, associated: watched.associated, host: watched.host,
		local: watched.call.near.localDescription.sdp, remote: watched.call.near.remoteDescription.sdp})`, &account)
	return &account
}

// checkMeasurements holds each measurement, in the callback and on the wire, against the
// answer that it was made of.
func (w *watched) checkMeasurements(t *testing.T, kind string) {
	t.Helper()
	frames := w.frames(t)
	require.GreaterOrEqual(t, len(w.Reported), len(frames))
	require.GreaterOrEqual(t, len(frames), watchedMeasurements)
	full, lost, remoteLost := 0, 0.0, 0.0
	w.replay(func(n int, want []*interval) {
		if n >= len(frames) {
			return // its frame is still to be sent
		}
		reported := w.Reported[n]
		require.Equal(t, "figures in "+kind, reported.Stats.ConferenceID)
		checkRows(t, want, frames[n])
		w.checkTracks(t, want, reported.Stats.MediaStreamTracks, reported.Stats.Streams)
		if len(reported.Stats.MediaStreamTracks) < 7 {
			return
		}
		full++
		require.Equal(t, []string{"online", "established"}, []string{reported.Stats.ConnectionState, reported.Stats.FabricState})
		require.Contains(t, reported.Stats.ConferenceURL, "/conference?")
		for _, i := range want {
			lost += first(i.own.of("packetsLost"), 0)
			remoteLost += first(i.far.of("packetsLost"), 0)
		}
	})
	require.GreaterOrEqual(t, full, watchedMeasurements)
	require.Positive(t, lost, "the relay loses a tenth")
	require.Positive(t, remoteLost, "the other end sees it too")
	t.Logf("%d measurements of %d answers, %d of all streams", len(frames), len(w.Readings), full)
	some, none := supplied(frames)
	require.Greater(t, len(some), 25, "measures that were more than 0")
	t.Logf("0 or unknown throughout, so proved by client/test/measures.test.ts: %v", none)
}

// trackKey names the stream and the end that an element of mediaStreamTracks is about.
func trackKey(track object) string {
	return fmt.Sprintf("%s %.0f", track["statsType"], track.number("ssrc"))
}

// byStream orders what a measurement consists of, which have the same order nowhere.
func byStream[T any](all []T, key func(T) string) map[string]T {
	found := map[string]T{}
	for _, one := range all {
		found[key(one)] = one
	}
	return found
}

// checkRows holds the rows of one measurement against the table of measures.
func checkRows(t *testing.T, want []*interval, rows []object) {
	t.Helper()
	require.Len(t, rows, len(want))
	sent := byStream(rows, func(row object) string {
		if row["statsType"] == "candidate-pair" {
			return "candidate-pair"
		}
		return fmt.Sprintf("%s %.0f", row["statsType"], row.number("ssrc"))
	})
	for _, i := range want {
		row := sent[i.key]
		require.NotNil(t, row, i.key)
		if i.statsType != "candidate-pair" {
			require.Equal(t, i.kind, row["mediaType"])
			require.InDelta(t, i.ms, row.number("intervalMs"), 100, "rows of a frame share its interval")
		}
		i.check(t, row)
	}
}

// checkTracks holds what the application gets of one measurement against the table of
// figures.
func (w *watched) checkTracks(t *testing.T, want []*interval, tracks []object, short map[string]object) {
	t.Helper()
	reported := byStream(tracks, trackKey)
	require.Len(t, reported, len(tracks))
	streams, reports := 0, 0
	for _, i := range want {
		if i.statsType == "candidate-pair" {
			continue
		}
		streams++
		reports++
		track := reported[i.key]
		require.NotNil(t, track, i.key)
		w.checkIdentity(t, i, track)
		ownFigures.check(t, i, track)
		i.checkShort(t, short[fmt.Sprintf("%.0f", i.ssrc())], track)
		if i.remote == nil {
			continue
		}
		reports++
		other := reported[fmt.Sprintf("%s %.0f", i.remote["type"], i.ssrc())]
		require.NotNil(t, other, i.key)
		w.checkIdentity(t, i, other)
		farFigures.check(t, i, other)
	}
	require.Len(t, tracks, reports)
	require.Len(t, short, streams)
}

// checkShort: streams has the same figures by SSRC.
func (i *interval) checkShort(t *testing.T, short, track object) {
	t.Helper()
	names := []string{"rtt", "bitrate", "quality"}
	if i.inbound() {
		names = []string{"fractionLoss", "bitrate", "quality"}
	}
	require.Len(t, short, len(names)+1)
	require.Equal(t, i.statsType, short["reportType"])
	for _, name := range names {
		require.Equal(t, track[name], short[name], name)
	}
}

// checkIdentity holds the names of a stream against the descriptions and what the page said.
func (w *watched) checkIdentity(t *testing.T, i *interval, track object) {
	t.Helper()
	for _, name := range []string{
		"remoteUserID", "statsType", "ssrc", "cname", "msid", "mediaType", "usageLabel", "associatedVideoTag",
		"bitrate", "packetRate", "fractionLoss", "packetLossPercentage", "jitter", "averageJitter", "rtt", "averageRTT",
		"quality", "audioInputLevel", "audioOutputLevel",
	} {
		require.Contains(t, track, name, "unknown is null, never absent")
	}
	require.Equal(t, []any{"grace", i.kind}, []any{track["remoteUserID"], track["mediaType"]})
	require.Contains(t, []any{"excellent", "fair", "bad", nil}, track["quality"])
	names := []any{nil, nil}
	if i.associated {
		names = []any{"camera", "screen"}
	}
	require.Equal(t, names[0], track["usageLabel"])
	require.Equal(t, names[1], track["associatedVideoTag"])
	description := w.Local
	if i.inbound() {
		description = w.Remote
		require.NotNil(t, track["msid"])
		require.Contains(t, description, fmt.Sprint(track["msid"]))
	}
	require.NotNil(t, track["cname"])
	require.Contains(t, description, fmt.Sprintf("a=ssrc:%.0f cname:%s", i.ssrc(), track["cname"]))
}

// frames are the rows that were sent of each measurement, with their names, as a collector
// reads them. A measurement whose streams have several intervals has several frames of one
// time.
func (w *watched) frames(t *testing.T) (measurements [][]object) {
	t.Helper()
	type columns struct {
		StatsType, MediaType string
		Names                []string
	}
	sets, seen, lastAt := map[int]columns{}, map[int]bool{}, math.NaN()
	for _, text := range w.Sent {
		var m struct {
			Type           string
			Set, Seq       int
			At, IntervalMs float64
			columns
			Rows [][]any
		}
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		if m.Type == "columns" {
			sets[m.Set] = m.columns
		}
		if m.Type != "stats" || seen[m.Seq] {
			continue // what was not acknowledged is sent again
		}
		seen[m.Seq] = true
		if m.At != lastAt || len(m.Rows) == 0 {
			measurements = append(measurements, nil)
		}
		lastAt = m.At
		rows := &measurements[len(measurements)-1]
		for _, cells := range m.Rows {
			set := sets[int(cells[0].(float64))]
			require.Len(t, cells, len(set.Names)+1)
			row := object{"statsType": set.StatsType, "mediaType": set.MediaType, "intervalMs": m.IntervalMs}
			for i, name := range set.Names {
				row[name] = cells[i+1]
			}
			*rows = append(*rows, row)
		}
	}
	return measurements
}

// checkFrames: a stats frame of four streams is small.
func (w *watched) checkFrames(t *testing.T) {
	t.Helper()
	most := 0
	for _, text := range w.Sent {
		if strings.HasPrefix(text, `{"type":"stats"`) {
			most = max(most, len(text))
		}
	}
	require.Positive(t, most)
	require.LessOrEqual(t, most, 700, "the bytes of a frame of four streams")
	t.Logf("stats frames of four streams have up to %d bytes", most)
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
