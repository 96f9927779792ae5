//go:build !fuzz

package readapi

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// events reads a stream.
type events struct {
	t    *testing.T
	body io.ReadCloser
	scan *bufio.Scanner
}

func readEvents(t *testing.T, body io.ReadCloser) *events {
	t.Helper()
	return &events{t, body, bufio.NewScanner(body)}
}

// open follows the read API at base and reads what comes before the first change.
func openEvents(t *testing.T, base, query string) *events {
	t.Helper()
	res := do(t, base+"/api/live"+query, func(*http.Request) {})
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"))
	e := readEvents(t, res.Body)
	require.Equal(t, "retry: 3000", e.next())
	require.Equal(t, "event: catchup|data: {}", e.next())
	return e
}

// next returns the lines of a block, or "" at the end of the stream.
func (e *events) next() string {
	e.t.Helper()
	var lines []string
	for e.scan.Scan() {
		if e.scan.Text() == "" {
			return strings.Join(lines, "|")
		}
		lines = append(lines, e.scan.Text())
	}
	return ""
}

func appendStats(t *testing.T, store *sqlite.Store, app, conference string, seq uint64, at time.Time) {
	t.Helper()
	_, err := store.Append(t.Context(), []storage.Batch{{
		Session: storage.Session{ID: alice, AppID: app, UserID: "alice", UserAlias: "alice"},
		Records: []storage.Record{{
			Seq: seq, ConferenceID: conference, ConferenceAt: at, Fabric: 1, Name: semconv.EventStats, At: at, ObservedAt: at, Activity: true,
			Attributes: map[string]any{semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", semconv.QualityMOS: 4.1, eventtest.Stats("ssrc"): int64(7)},
		}},
	}})
	require.NoError(t, err)
}

// A commit is reported to its followers, and can be read then.
//
// spec: DASH-05
func TestLive(t *testing.T) {
	store := newSQLite(t)
	base := startOn(t, reading{&memory{}, store}, nil)
	all := openEvents(t, base, "")
	one := openEvents(t, base, "?app=demo&conference=stand+up/1")
	appendStats(t, store, "demo", "another", 1, t0)
	appendStats(t, store, "other", "stand up/1", 1, t0)
	appendStats(t, store, "demo", "stand up/1", 2, t0.Add(5*time.Second))

	const change = `event: change|data: {"app":"demo","conference":"stand up/1","fromAt":1763702165000,"toAt":1763702165000,"records":1,"summary":false}`
	require.Equal(t, change, one.next())
	require.Equal(t, strings.ReplaceAll(strings.ReplaceAll(change, "stand up/1", "another"), "65000", "60000"), all.next())
	require.Equal(t, strings.ReplaceAll(strings.ReplaceAll(change, "demo", "other"), "65000", "60000"), all.next())
	require.Equal(t, change, all.next())
	var d detail
	getJSON(t, base+"/api/conference?app=demo&id=stand+up/1&at=1763702165000", &d)
	require.Equal(t, "demo", d.Conference.App)

	require.NoError(t, store.PutSummary(t.Context(), storage.Summary{
		AppID: "demo", ConferenceID: "stand up/1", Start: t0, End: t0.Add(5 * time.Second), Revision: 1, Outcome: "success", Document: []byte("{}"),
	}))
	require.Equal(t, `event: change|data: {"app":"demo","conference":"stand up/1","fromAt":1763702160000,"toAt":1763702165000,"records":0,"summary":true}`, one.next())
}

// Names are data: they end no event and begin none.
func TestLiveNames(t *testing.T) {
	store := newSQLite(t)
	e := openEvents(t, startOn(t, reading{&memory{}, store}, nil), "?app=demo")
	appendStats(t, store, "demo", "a\n\nevent: catchup\r\ndata: {}\u2028</script>", 1, t0)
	require.Equal(t, `event: change|data: {"app":"demo","conference":"a\n\nevent: catchup\r\ndata: {}\u2028\u003c/script\u003e",`+
		`"fromAt":1763702160000,"toAt":1763702160000,"records":1,"summary":false}`, e.next())
}

func TestLiveRefuses(t *testing.T) {
	base := start(t, &memory{}, nil)
	status, body, _ := get(t, base+"/api/live?conference="+strings.Repeat("x", 257))
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "conference is 257 bytes")
	res := do(t, base+"/api/live", func(r *http.Request) { r.Method = http.MethodPost })
	require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode)
	res = do(t, base+"/api/live", func(r *http.Request) { r.Method = http.MethodHead })
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
}

// More streams than there is room for are refused with a word when to come again, and a
// stream that ends makes room.
func TestLiveBound(t *testing.T) {
	base := start(t, &memory{}, nil)
	var open []*events
	for range maxLive {
		open = append(open, openEvents(t, base, ""))
	}
	status, body, header := get(t, base+"/api/live")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "30", header.Get("Retry-After"))
	require.Contains(t, body, "Too many pages")
	var list listing
	getJSON(t, base+"/api/conferences", &list) // all else is answered

	require.NoError(t, open[0].body.Close())
	require.Eventually(t, func() bool {
		res := do(t, base+"/api/live", func(*http.Request) {})
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, 10*time.Second, 10*time.Millisecond)
}

// One visitor leaves places to others. spec: DASH-01
func TestLivePlaces(t *testing.T) {
	p := newLive(nil, nil, nil).places
	n := 0
	for p.Take("ann") {
		n++
	}
	require.Equal(t, maxLive*3/4, n)
	require.True(t, p.Take("ben"))
	p.Leave("ben")
	p.Leave("ann")
	require.True(t, p.Take("ann"))
	_, holders := p.Taken()
	require.Equal(t, 1, holders)
	for p.Take("") {
		n++
	}
	require.Equal(t, maxLive, n)
}

// A stream ends when the read API ends streams, which does not wait for the browser, and when
// the store is closed.
func TestLiveEnds(t *testing.T) {
	store := newSQLite(t)
	base, stop := serve(t, settings(t, reading{&memory{}, store}))
	e := openEvents(t, base, "")
	stop()
	require.Empty(t, e.next())
	require.NoError(t, e.scan.Err(), "an end, not a cut")

	e = openEvents(t, startOn(t, reading{&memory{}, store}, nil), "")
	require.NoError(t, store.Close())
	require.Empty(t, e.next())
}

// scripted is a follower that yields what the test sends.
type scripted chan storage.Change

func (c scripted) Follow(ctx context.Context, _ storage.Filter, yield func(storage.Change) bool) error {
	for {
		select {
		case change, ok := <-c:
			if !ok {
				return errors.New("the store is closed")
			}
			if !yield(change) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pipes is a listener for connections in memory, whose deadlines follow the test's clock.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.IPAddr{} }

// serveLive serves a stream over a pipe and returns the browser's end of it.
func serveLive(t *testing.T, f storage.Follower) (*live, net.Conn) {
	t.Helper()
	l := newLive(&API{log: zap.NewNop(), now: time.Now}, f, make(chan struct{}))
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: l, WriteTimeout: time.Second, ReadHeaderTimeout: time.Second}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(p) }()
	t.Cleanup(func() { require.NoError(t, server.Close()); <-served })
	browser, conn := net.Pipe()
	p.conns <- conn
	_, err := browser.Write([]byte("GET /api/live HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	require.NoError(t, err)
	return l, browser
}

// A quiet stream says every 15 s that it is there, however long it lasts.
func TestLiveHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, browser := serveLive(t, scripted(make(chan storage.Change)))
		res, err := http.ReadResponse(bufio.NewReader(browser), nil)
		require.NoError(t, err)
		e, began := readEvents(t, res.Body), time.Now()
		require.Equal(t, "retry: 3000", e.next())
		for range 100 {
			require.Equal(t, ": still here", e.next())
		}
		require.Equal(t, 100*heartbeat, time.Since(began))
		require.NoError(t, browser.Close())
	})
}

func taken(l *live) int {
	n, _ := l.places.Taken()
	return n
}

// A browser that takes nothing any more holds a place for 10 s, not for ever.
func TestLiveStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := make(scripted)
		l, browser := serveLive(t, changes)
		res, err := http.ReadResponse(bufio.NewReaderSize(browser, 16), nil)
		require.NoError(t, err)
		require.Equal(t, "retry: 3000", readEvents(t, res.Body).next())
		require.Equal(t, 1, taken(l))
		changes <- storage.Change{CatchUp: true} // and the browser has stopped to read
		time.Sleep(writeTimeout - time.Millisecond)
		synctest.Wait()
		require.Equal(t, 1, taken(l))
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Zero(t, taken(l))
		require.NoError(t, browser.Close())
	})
}

// A conference of which a part is damaged is shown without it, and says so.
func TestDamaged(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	base := start(t, m, nil)
	whole := ask(t, base, c)
	require.False(t, whole.Damaged)
	m.damaged = errors.Join(errors.New("/var/lib/qos: chunk 7"), storage.ErrDamaged)
	part := ask(t, base, c)
	require.True(t, part.Damaged)
	part.Damaged, part.At = false, whole.At
	require.Equal(t, whole, part, "all that can be read")
	_, body, _ := get(t, base+"/api/conference?app=demo&id=stand+up/1&at=1763702160000")
	require.NotContains(t, body, "/var/lib")

	m.err = storage.ErrDamaged
	status, _, _ := get(t, base+"/api/conference?app=demo&id=stand+up/1&at=1763702160000")
	require.Equal(t, http.StatusInternalServerError, status, "nothing can be read")
}

// The same with a real store, in whose file bytes have changed.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "qos.db")
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	for seq := range uint64(3) {
		appendStats(t, store, "demo", "stand up/1", seq+1, t0.Add(time.Duration(seq)*time.Second))
	}
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	base := startOn(t, reading{&memory{}, store}, nil)
	spoilt := func(statement string) (d got) {
		_, err = db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
		getJSON(t, base+"/api/conference?app=demo&id=stand+up/1&at=1763702160000", &d)
		return d
	}
	require.NoError(t, store.PutSummary(t.Context(), storage.Summary{
		AppID: "demo", ConferenceID: "stand up/1", Start: t0, End: t0.Add(2 * time.Second), Revision: 1, Outcome: "success", Document: []byte("{}"),
	}))
	require.False(t, spoilt(`UPDATE conference SET label = 'good'`).Damaged)
	d := spoilt(`UPDATE document SET body = substr(body, 1, length(body) - 1)`)
	require.True(t, d.Damaged)
	require.Len(t, d.Streams[0]["t"], 3)
	d = spoilt(`UPDATE frame SET body = x'ff' WHERE seq = 2`)
	require.True(t, d.Damaged)
	require.Len(t, d.Streams, 1)
	require.Len(t, d.Streams[0]["t"], 2)
}
