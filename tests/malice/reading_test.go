package malice

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// A crowd is what is read: a conference of many users, many conferences with all users of an office, among them one
// who is in each, and one user who sent as many texts as an answer can have, and others about no conference.
type crowd struct {
	start             time.Time
	users             int // of the largest conference
	meetings, members int
}

const everywhere = "eve" // the user who is in each meeting

// session is a user of the crowd with what applications and browsers say of users.
func (c *crowd) session(number int, name string) storage.Session {
	details := map[string]string{}
	for n := range 14 {
		details[fmt.Sprintf("qos.detail.%d", n)] = fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64) of %d-%d", number, n)
	}
	return storage.Session{ID: fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", number), AppID: attacker, UserID: name + ".real", UserAlias: name, Details: details}
}

// fill writes the crowd's conferences into a store.
func (c *crowd) fill(t *testing.T, directory string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(directory, "qos.sqlite3"), sqlite.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var batches []storage.Batch
	put := func(b storage.Batch) {
		if batches = append(batches, b); len(batches) == 1000 {
			_, err := s.Append(t.Context(), batches)
			require.NoError(t, err)
			batches = nil
		}
	}
	number := 0
	join := func(conference, user string, from int, frames []storage.Batch) {
		number++
		for i := from; i < len(frames); i += 2 {
			b := storage.Batch{Session: c.session(number, user)}
			for _, r := range frames[i].Records {
				r.ConferenceID = conference
				b.Records = append(b.Records, r)
			}
			put(b)
		}
	}
	frames := storagetest.Call(2, 3, c.start)
	for n := range c.users {
		join("all hands", fmt.Sprint("user", n), n%2, frames)
	}
	for m := range c.meetings {
		frames := storagetest.Call(2, 1, c.start.Add(time.Duration(m)*time.Minute))
		for n := range c.members - 1 {
			join(fmt.Sprint("meeting", m), fmt.Sprintf("user%d-%d", m, n), 0, frames)
		}
		join(fmt.Sprint("meeting", m), everywhere, 0, frames)
	}
	c.write(frames[0].Records[0], put)
	_, err = s.Append(t.Context(), batches)
	require.NoError(t, err)
	// Without summaries the collector would make them meanwhile.
	c.summarise(t, s, "all hands", c.start, c.users)
	c.summarise(t, s, "texts", c.start, 1)
	for m := range c.meetings {
		c.summarise(t, s, fmt.Sprint("meeting", m), c.start.Add(time.Duration(m)*time.Minute), c.members)
	}
}

// write puts the texts of one user, of a conference that has an activity, and of users about no conference.
func (c *crowd) write(activity storage.Record, put func(storage.Batch)) {
	failed := map[string]any{semconv.ErrorFunction: "createOffer", semconv.ErrorLocalSDP: strings.Repeat("a=candidate\r\n", 4000)}
	event := map[string]any{semconv.EventName: "custom", semconv.EventData: `[{"a":1}` + strings.Repeat(`,{"a":1}`, 500) + `]`}
	record := func(seq int, conference, name string, attributes map[string]any) storage.Record {
		at := c.start.Add(time.Duration(seq) * time.Millisecond)
		return storage.Record{Seq: uint64(seq), ConferenceID: conference, ConferenceAt: c.start, Fabric: 1, Name: name, At: at, ObservedAt: at, Attributes: attributes}
	}
	activity.ConferenceID = "texts"
	chatty := c.session(1<<20, "chatty")
	put(storage.Batch{Session: chatty, Records: []storage.Record{activity}})
	for n := range 6000 {
		r := record(100+n, "texts", semconv.EventEvent, event)
		if n < 1000 {
			r = record(100+n, "texts", semconv.EventError, failed)
		}
		put(storage.Batch{Session: chatty, Records: []storage.Record{r}})
	}
	for n := range 100 {
		var lost []storage.Record
		for seq := range 20 {
			lost = append(lost, record(1+seq, "nobody's", semconv.EventError, failed))
		}
		put(storage.Batch{Session: c.session(2<<20+n, "lost"), Records: lost})
	}
}

// summarise puts a summary with some 5 kB for each user.
func (c *crowd) summarise(t *testing.T, s *sqlite.Store, conference string, start time.Time, users int) {
	t.Helper()
	people := make([]map[string]any, users)
	for n := range people {
		streams := make([]map[string]any, 20)
		for i := range streams {
			streams[i] = map[string]any{"ssrc": i, "mediaType": "video", "direction": "inbound", "mos": 4.25, "lossFraction": 0.0125, "bitrateKbps": 1250.5, "jitterMs": 12.5, "rttMs": 30.25, "intervals": 3}
		}
		people[n] = map[string]any{"session": c.session(n, "").ID, "user": fmt.Sprint("user", n), "streams": streams}
	}
	document, err := json.Marshal(map[string]any{"participants": people})
	require.NoError(t, err)
	require.NoError(t, s.PutSummary(t.Context(), storage.Summary{
		AppID: attacker, ConferenceID: conference, Start: start, End: start.Add(30 * time.Second), Revision: 1, Outcome: "success", Participants: users, Document: document,
	}))
}

// A question is a request of a reader.
type question struct{ method, address, body string }

// questions are those of each route that is documented and of each tool for language models, with answers as large as
// the crowd makes them.
func (c *crowd) questions(t *testing.T, dashboard string) map[string]question {
	t.Helper()
	out := map[string]question{}
	c.routes(t, dashboard, out)
	c.tools(t, dashboard, out)
	return out
}

// routes adds the questions of the read API.
func (c *crowd) routes(t *testing.T, dashboard string, out map[string]question) {
	t.Helper()
	ms := func(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) }
	within := url.Values{"app": {attacker}, "from": {ms(c.start.Add(-time.Hour))}, "to": {ms(c.start.Add(5 * time.Hour))}}
	with := func(more ...string) url.Values {
		q := maps.Clone(within)
		for i := 0; i < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		return q
	}
	one := url.Values{"app": {attacker}, "id": {"all hands"}, "at": {ms(c.start.Add(time.Second))}}
	tail := maps.Clone(one)
	tail.Set("from", ms(c.start))
	queries := map[string]url.Values{
		"/api/conference": one, "/api/conference/text": one, "/api/conference/tail": tail,
		"/api/conferences": with("limit", "200"), "/api/conferences.csv": within, "/api/conferences.json": within,
		"/api/user":     with("user", everywhere, "limit", "150"),
		"/api/contrast": within, "/api/overview": within, "/api/trend": with("by", "browsers"),
		"/api/precalls": with("limit", "200"), "/api/precalls/providers": within, "/api/unattached": with("limit", "200"),
		"/api/openapi.json": nil, "/api/live": nil,
	}
	resp, err := http.Get(dashboard + "/api/openapi.json")
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	var document struct{ Paths map[string]any }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&document))
	for path := range document.Paths {
		require.Contains(t, queries, path, "a new route: add the request with its largest answer")
		out[path] = question{http.MethodGet, dashboard + path + "?" + queries[path].Encode(), ""}
	}
	texts := url.Values{"app": {attacker}, "id": {"texts"}, "at": one["at"]}
	out["/api/conference of texts"] = question{http.MethodGet, dashboard + "/api/conference?" + texts.Encode(), ""}
	delete(out, "/api/live") // it streams changes, and never ends
}

// tools adds the questions of the MCP server.
func (c *crowd) tools(t *testing.T, dashboard string, out map[string]question) {
	t.Helper()
	within := map[string]any{"app": attacker, "from": c.start.Add(-time.Hour).UnixMilli(), "to": c.start.Add(5 * time.Hour).UnixMilli()}
	search := maps.Clone(within)
	search["limit"] = 50
	arguments := map[string]map[string]any{
		"search_conferences": search, "overview": within, "compare_sets": within,
		"explain_conference": {"app": attacker, "id": "all hands", "at": c.start.Add(time.Second).UnixMilli()},
	}
	ask := func(method string, parameters any) question {
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
		require.NoError(t, err)
		return question{http.MethodPost, dashboard + "/mcp", string(body)}
	}
	status, body := read(t.Context(), ask("tools/list", map[string]any{}))
	require.Equal(t, http.StatusOK, status, body)
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	require.Len(t, list.Result.Tools, len(arguments))
	for _, tool := range list.Result.Tools {
		require.Contains(t, arguments, tool.Name, "a new tool: add the request with its largest answer")
		out["/mcp "+tool.Name] = ask("tools/call", map[string]any{"name": tool.Name, "arguments": arguments[tool.Name]})
	}
}

// Readers of conferences, lists, users and exports as large as they get wait for each other, or are refused for now.
// Another application is served meanwhile, and the memory limiter has nothing to do: its limit is that of deploy/run.yaml.
//
// spec: SRV-04
func TestReadingHasAnOwner(t *testing.T) {
	t.Parallel()
	everything := &crowd{start: time.Now().Add(-6 * time.Hour).Truncate(time.Hour), users: 1000, meetings: 100, members: 100}
	dir := t.TempDir()
	everything.fill(t, dir)
	dashboard := harness.FreeAddress(t)
	c := harness.NewCollector(t, harness.Options{
		Storage: harness.SQLite(dir), FramesPerSecond: 200, Dashboard: dashboard,
		Apps: fmt.Sprintf(`{key_file: %q, storage: qosstorage, apps: [{id: %s, secrets: [%s]}]}`, dir+"/key", victim, secret),
		More: "receivers: {qoswss: {trusted_proxies: [127.0.0.1]}}\nprocessors: {conference: {memory_mib: 384}}\nextensions: {qosdashboard: {mcp: true}}\n",
	})
	c.Start()
	t.Cleanup(func() {
		if !t.Failed() {
			c.Stop()
		}
	})
	served := honest(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 5*harness.Patience)
	defer cancel()
	deferred := 0
	walked := make(chan map[string]map[int]int)
	questions := everything.questions(t, "http://"+dashboard)
	go func() {
		answers := map[string]map[int]int{}
		for path, q := range questions {
			answers[path] = readAtOnce(ctx, 24, q)
		}
		walked <- answers
	}()
	var answers map[string]map[int]int
	seq := uint64(1)
	for ; answers == nil; seq++ {
		deferred += served.accepted(t, seq, fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":"x"}`, seq, now()))
		select {
		case answers = <-walked:
		case <-time.After(50 * time.Millisecond):
		}
	}
	swamped(t)
	t.Log(seq, "frames of another application, deferred", deferred, "times, and of each route", answers)
	for path, statuses := range answers {
		require.Positive(t, statuses[http.StatusOK], path)
	}
	require.Zero(t, metric(c, "otelcol_processor_memory_limiter_refused_log_records"))
}

// readAtOnce asks a question several times at once, and counts the answers by status. 0: there is none, or no end of it.
func readAtOnce(ctx context.Context, times int, q question) map[int]int {
	statuses := make(chan int, times)
	for range times {
		go func() {
			status, _ := read(ctx, q)
			statuses <- status
		}()
	}
	count := map[int]int{}
	for range times {
		count[<-statuses]++
	}
	return count
}

// read returns the status of an answer that was read to its end, 0 for none, and the text of an answer of the MCP server. A
// tool that is refused for now has 503, as a route.
func read(ctx context.Context, q question) (status int, text string) {
	req, err := http.NewRequestWithContext(ctx, q.method, q.address, strings.NewReader(q.body))
	if err != nil {
		return 0, ""
	}
	if q.body != "" {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	if q.body == "" {
		_, err = io.Copy(io.Discard, resp.Body)
	} else {
		var body []byte
		body, err = io.ReadAll(resp.Body)
		text = string(body)
	}
	switch {
	case err != nil:
		return 0, ""
	case strings.Contains(text, `"isError":true`):
		return http.StatusServiceUnavailable, text
	}
	return resp.StatusCode, text
}
