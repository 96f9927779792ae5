package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/harness"
)

// lookedAt is a conference that goes on, a participant who sends measurements, and the conference's page.
type lookedAt struct {
	*scene
	page *page
	ada  *client
	seq  int
}

const (
	liveSSRC = 77
	// drawnWithin is requirement DASH-05.
	drawnWithin = time.Second
)

// TestDrawnWithinASecond: a measurement is on the page within a second of its commit, of a short conference and of one of an
// hour and eight participants. A page that is hidden asks for nothing.
//
// spec: DASH-05
func TestDrawnWithinASecond(t *testing.T) {
	for _, kind := range browserKinds() {
		for name, length := range map[string]time.Duration{"short": 0, "an hour": time.Hour} {
			t.Run(kind+" "+name, func(t *testing.T) {
				browser.Require(t, kind)
				w := lookAt(t, kind, length)
				w.choose("ada")
				took := w.drawn(harness.Setting(t, "QOS_DRAWINGS", 9))
				slices.Sort(took)
				t.Logf("drawn after the send: median %v, p95 %v, slowest %v", took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
				require.Less(t, took[len(took)/2], drawnWithin)
				w.rests()
			})
		}
	}
}

// lookAt starts a collector whose store has eight participants of the conference for a time, and opens its page.
func lookAt(t *testing.T, kind string, length time.Duration) *lookedAt {
	t.Helper()
	w := &lookedAt{scene: &scene{collector: newCollector(t)}}
	begin := time.Now().Add(-length)
	if length > 0 {
		w.recorded(t, begin, length)
	}
	w.start()
	w.ada = w.connect("ada")
	w.ada.say(`{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","rttMs","packets","packetsLost"]}`)
	w.measures()
	browser.Eventually(t, patience, "the conference is listed", func() (bool, string) {
		rows := w.list("by hand")
		return len(rows) == 1, fmt.Sprint(rows)
	})
	at := w.list("by hand")[0].StartAt
	w.page = openPage(t, browser.Start(t, kind), "live", w.dashboard+"/conference?"+url.Values{"app": {appID}, "id": {"by hand"}, "at": {strconv.FormatInt(at, 10)}}.Encode())
	return w
}

// recorded writes measurements of eight participants, each of whom sends two streams and receives fourteen.
func (w *lookedAt) recorded(t *testing.T, begin time.Time, length time.Duration) {
	t.Helper()
	require.NoError(t, os.MkdirAll(w.store(), 0o700))
	store, err := sqlite.Open(t.Context(), filepath.Join(w.store(), "qos.sqlite3"), sqlite.Options{Synchronous: sqlite.SynchronousNormal})
	require.NoError(t, err)
	const interval = 5 * time.Second
	for n := range 8 {
		name := fmt.Sprintf("guest %d", n)
		session := storage.Session{ID: uuid.Must(uuid.NewV7()).String(), AppID: appID, UserID: name, UserAlias: name}
		var records []storage.Record
		for seq := 1; seq <= int(length/interval); seq++ {
			at := begin.Add(time.Duration(seq) * interval)
			for row := range 16 {
				records = append(records, measured(uint64(seq), row, at, begin))
			}
		}
		_, err := store.Append(t.Context(), []storage.Batch{{Session: session, Records: records}})
		require.NoError(t, err)
	}
	require.NoError(t, store.Close())
}

// measured is one stream in one interval.
func measured(seq uint64, row int, at, begin time.Time) storage.Record {
	media, statsType := "audio", "inbound-rtp"
	if row%2 == 1 {
		media = "video"
	}
	if row < 2 {
		statsType = "outbound-rtp"
	}
	attributes := map[string]any{
		semconv.StatsType: statsType, semconv.MediaType: media, semconv.IntervalMs: 5000.0,
		semconv.QualityMOS: 4 + float64((int(seq)+row)%9)/10, semconv.QualityLabel: "good",
	}
	for name, value := range map[string]any{"ssrc": int64(row + 1), "packets": int64(250), "packetsLost": int64(seq % 3), "jitterMs": 3.5, "rttMs": 40 + float64(seq%7), "bytes": int64(90_000)} {
		attributes[eventtest.Stats(name)] = value
	}
	return storage.Record{
		Seq: seq, Index: row, ConferenceID: "by hand", ConferenceAt: begin, Fabric: 1, Name: semconv.EventStats, At: at, ObservedAt: at, Activity: true, Attributes: attributes,
	}
}

// measures sends a measurement whose round-trip time is its number of seconds, and waits until the collector has it.
func (w *lookedAt) measures() (sent time.Time) {
	w.t.Helper()
	w.seq++
	sent = time.Now()
	w.ada.say(fmt.Sprintf(`{"type":"stats","seq":%d,"at":%d,"fabric":1,"intervalMs":1000,"rows":[[1,%d,%d,50,0]]}`, w.seq, sent.UnixMilli(), liveSSRC, w.rtt()))
	for w.ada.hears("ack").Seq != uint64(w.seq) {
	}
	return sent
}

func (w *lookedAt) rtt() int { return 100 + w.seq }

// choose shows the charts of a participant and opens the latest values of the stream.
func (w *lookedAt) choose(user string) {
	w.t.Helper()
	w.page.Until(patience, `document.querySelector("#main").ariaBusy === "false" && document.querySelector("#streams select[aria-label=Participant]")`)
	w.page.Run(fmt.Sprintf(`(() => {
		const select = document.querySelector("#streams select[aria-label=Participant]");
		const option = [...select.options].find((one) => one.textContent === %q);
		if (!option || select.parentElement.hidden) return;
		select.value = option.value;
		select.dispatchEvent(new Event("change"));
	})()`, user))
	w.page.Until(patience, fmt.Sprintf(`document.querySelector("[data-testid=latest][data-ssrc='%d']")`, liveSSRC))
	w.page.Run(fmt.Sprintf(`(() => {
		const latest = document.querySelector("[data-testid=latest][data-ssrc='%d']");
		latest.open = true;
		window.drawnAt = {};
		new MutationObserver(() => {
			const text = document.querySelector("[data-testid=latest][data-ssrc='%[1]d'] [data-measure=rttMs] td")?.textContent;
			if (text) drawnAt[text] ??= Date.now();
		}).observe(document.body, { subtree: true, childList: true, characterData: true });
	})()`, liveSSRC))
	w.page.Until(patience, fmt.Sprintf(`document.querySelector("[data-testid=latest][data-ssrc='%d'] [data-measure=rttMs]")`, liveSSRC))
}

// drawn sends measurements and returns how long each took from its send until the page had drawn it.
func (w *lookedAt) drawn(times int64) (took []time.Duration) {
	w.t.Helper()
	for range times {
		sent := w.measures()
		text := strconv.Quote(fmt.Sprint(w.rtt(), " ms"))
		w.page.Until(patience, "drawnAt["+text+"]")
		var at int64
		w.page.Get("drawnAt["+text+"]", &at)
		took = append(took, time.UnixMilli(at).Sub(sent))
	}
	return took
}

// rests hides the page and checks that it asks for nothing, whatever is committed, and draws what it missed once it is seen.
func (w *lookedAt) rests() {
	w.t.Helper()
	w.page.Run(`(() => {
		window.see = (seen) => {
			Object.defineProperty(document, "hidden", { configurable: true, get: () => !seen });
			document.dispatchEvent(new Event("visibilitychange"));
		};
		see(false);
	})()`)
	asked := w.asked()
	for range 3 {
		w.measures()
	}
	require.Equal(w.t, asked, w.asked(), "requests of a page that is hidden")
	w.page.Run("see(true)")
	w.page.Until(patience, "drawnAt["+strconv.Quote(fmt.Sprint(w.rtt(), " ms"))+"]")
}

// asked counts the requests of the page.
func (w *lookedAt) asked() (n int) {
	w.t.Helper()
	w.page.Get(`performance.getEntriesByType("resource").filter(({ name }) => name.includes("api/conference")).length`, &n)
	return n
}
