package readapi

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// TestTrace: the trace ID of an exemplar opens its conference, and that of two with one ID which was at
// the time.
//
// spec: OUT-01
func TestTrace(t *testing.T) {
	m := &memory{}
	for i := range 450 { // more than two pages
		m.calls = append(m.calls, &call{Conference: storage.Conference{AppID: "demo", ConferenceID: fmt.Sprint("c", i), Start: t0, End: t0.Add(time.Minute)}})
	}
	m.calls = append(m.calls, &call{Conference: storage.Conference{AppID: "demo", ConferenceID: "c7", Start: t0.Add(time.Hour), End: t0.Add(2 * time.Hour)}})
	base := start(t, m, nil)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(trace, query string) (status int, location string) {
		resp, err := client.Get(base + "/trace/" + trace + query)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode, resp.Header.Get("Location")
	}
	trace := fmt.Sprintf("%x", semconv.TraceID("demo", "c7"))
	at := func(d time.Duration) string { return fmt.Sprint("?at=", t0.Add(d).UnixMilli()) }
	opened := func(start time.Time) string {
		return fmt.Sprintf("/conference?app=demo&at=%d&id=c7", start.UnixMilli())
	}
	found := func(query string, start time.Time) {
		t.Helper()
		status, location := ask(trace, query)
		require.Equal(t, http.StatusFound, status)
		require.Equal(t, opened(start), location)
	}
	found(at(time.Second), t0)
	found(at(90*time.Minute), t0.Add(time.Hour))
	found(at(2*time.Hour+20*time.Second)+"&app=demo", t0.Add(time.Hour))
	for query, want := range map[string]int{
		at(30 * time.Minute): http.StatusNotFound, at(time.Second) + "&app=next": http.StatusNotFound,
		"": http.StatusBadRequest, "?at=x": http.StatusBadRequest, "?at=-1": http.StatusBadRequest,
	} {
		status, _ := ask(trace, query)
		require.Equal(t, want, status, query)
	}
	for _, bad := range []string{"x", trace[:31], trace + "00", "%00", trace[:31] + "g"} {
		status, _ := ask(bad, at(0))
		require.Equal(t, http.StatusBadRequest, status, bad)
	}
	m.err = errors.New("away")
	status, _ := ask(trace, at(0))
	require.Equal(t, http.StatusServiceUnavailable, status)
}
