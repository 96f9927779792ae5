package readapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/identity/access"
)

// queried returns the paths of calls that take parameters in their query, but for the stream of changes, which does
// not end.
func queried() (paths []string) {
	for _, r := range access.Routes {
		method, path, _ := strings.Cut(r.Pattern, " ")
		if r.Need == access.Calls && method == http.MethodGet && !strings.ContainsAny(path, "{") && path != "/api/live" && path != "/mcp" {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// fuzzed is a read API without a listener, on a store with a few calls.
func fuzzed(tb testing.TB) func(path, query string) *httptest.ResponseRecorder {
	tb.Helper()
	m := &memory{at: noon}
	m.digested("demo", "a", noon.Add(-time.Hour), digest.Digest{Outcome: "dropped", Participants: 1, Members: one("berlin", "1.0", "firefox", "144")})
	m.digested("demo", "b", noon.Add(-2*time.Hour), digest.Digest{Outcome: "success", MOS: 4, Participants: 1, Members: one("oslo", "1.0", "firefox", "144")})
	a, handler := New(settings(tb, m)), &access.Mux{}
	a.Register(handler)
	tb.Cleanup(a.Close)
	return func(path, query string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		handler.ServeHTTP(deadlines{w}, r)
		return w
	}
}

// deadlines is a recorder of which an export can prolong the deadline.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetWriteDeadline(time.Time) error { return nil }

// checkAnswer: whatever a query has, it is answered, or refused with the name of the parameter.
func checkAnswer(tb testing.TB, w *httptest.ResponseRecorder, path, query string) {
	tb.Helper()
	body := w.Body.String()
	switch w.Code {
	case http.StatusOK, http.StatusFound, http.StatusSeeOther, http.StatusPermanentRedirect, http.StatusNotFound:
	case http.StatusBadRequest:
		var refused answer
		require.NoError(tb, json.Unmarshal([]byte(body), &refused), "%s?%s: %s", path, query, body)
		require.NotEmpty(tb, refused.Error.Field, "%s?%s: %s", path, query, body)
	default:
		tb.Fatalf("%s?%s: status %d: %s", path, query, w.Code, body)
	}
	// TestOpenAPI parses the description of the API, which is long.
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && body != string(openAPI) {
		require.True(tb, json.Valid([]byte(body)), "%s?%s", path, query)
	}
}

// hostile are values that no parameter expects, and some that one does.
func hostile() []string {
	return []string{
		"", " ", "0", "1", "-1", "5", "99999999999999999999", "1e999", "NaN", "-Inf", "0x10", "null", "true", "failed", "success", "excellent", "browsers",
		"a:b", "siteID:berlin", "siteID:", ":", "demo", "\x00", "\xff\xfe", "<script>alert(1)</script>", "' OR 1=1 --", "%", "../../etc/passwd", "\u202eevil",
		"会議", strings.Repeat("x", 300), strings.Repeat("9", 5000), "1773057600000",
	}
}

// TestHostileParameters gives each parameter of each route each hostile value, alone, and beside valid ones.
//
// spec: DASH-01
func TestHostileParameters(t *testing.T) {
	t.Parallel()
	ask := fuzzed(t)
	names := []string{"step", "since"} // of no route
	for _, d := range parameterTable {
		names = append(names, d.name)
	}
	valid := url.Values{"app": {"demo"}, "id": {"a"}, "at": {"1773054000000"}, "from": {"1773000000000"}, "to": {"1773057600000"}, "by": {"browsers"}, "user": {"ada"}}
	for _, path := range queried() {
		for _, name := range names {
			for _, value := range hostile() {
				alone := url.Values{name: {value}}.Encode()
				checkAnswer(t, ask(path, alone), path, alone)
				beside := url.Values{}
				maps.Copy(beside, valid)
				beside.Set(name, value)
				checkAnswer(t, ask(path, beside.Encode()), path, beside.Encode())
				beside.Add(name, "twice")
				beside.Set(prefixBaseline+name, value)
				checkAnswer(t, ask(path, beside.Encode()), path, beside.Encode())
			}
		}
		for _, query := range []string{"%", "%zz=1", "a=%", ";", "&&&", "=", "from=1&from=2", strings.Repeat("a&", 20_000)} {
			checkAnswer(t, ask(path, query), path, query)
		}
	}
}

func FuzzRequests(f *testing.F) {
	ask, paths := fuzzed(f), queried()
	for i := range paths {
		f.Add(i, "app=demo&id=a&at=1773054000000&from=1773000000000&to=1773057600000&fact=siteID:berlin&outcome=failed&scoreTo=2.5")
	}
	f.Fuzz(func(t *testing.T, route int, query string) {
		path := paths[uint(route)%uint(len(paths))]
		checkAnswer(t, ask(path, query), path, query)
	})
}
