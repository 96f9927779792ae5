package jsonapi

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func request(method, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func problem(t *testing.T, err error) (status int, detail string) {
	t.Helper()
	var p *Problem
	require.ErrorAs(t, err, &p)
	require.Equal(t, http.StatusText(p.Status), p.Title)
	return p.Status, p.Detail
}

func TestProblemIsWrittenAsRFC9457(t *testing.T) {
	w := httptest.NewRecorder()
	p := NewProblem(http.StatusConflict, "there are %d", 3)
	p.Field, p.Limit, p.Got = "roles", "must be one", "<two>"
	p.Write(w)
	require.Equal(t, 409, w.Code)
	require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.JSONEq(t, `{"title":"Conflict","status":409,"detail":"there are 3","field":"roles","limit":"must be one","got":"<two>"}`, w.Body.String())
	require.Equal(t, "there are 3", p.Error())
}

func TestReplyIsWritten(t *testing.T) {
	w := httptest.NewRecorder()
	require.NoError(t, Reply{Status: http.StatusCreated, Body: map[string]int{"n": 1}, Revision: 7, Location: "/x"}.Write(w))
	require.Equal(t, 201, w.Code)
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}, "Etag": {`"7"`}, "Location": {"/x"}}, w.Header())
	require.Equal(t, "{\"n\":1}\n", w.Body.String())

	w = httptest.NewRecorder()
	require.NoError(t, Reply{Status: http.StatusNoContent}.Write(w))
	require.Equal(t, http.Header{"Cache-Control": {"no-store"}}, w.Header())
	require.Empty(t, w.Body.String())

	w = httptest.NewRecorder()
	require.Error(t, Reply{Status: http.StatusOK, Body: func() {}, Revision: 7}.Write(w))
	require.Equal(t, 500, w.Code)
	require.Empty(t, w.Header().Get("ETag"))
	require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
}

func TestReadBody(t *testing.T) {
	const limit = 10
	read := func(r *http.Request) ([]byte, error) { return ReadBody(httptest.NewRecorder(), r, limit) }
	for _, kind := range []string{"application/json", "application/json; charset=utf-8"} {
		body, err := read(request("PUT", `{"a":"bc"}`, "Content-Type", kind))
		require.NoError(t, err)
		require.JSONEq(t, `{"a":"bc"}`, string(body))
	}
	body, err := read(request("POST", ""))
	require.NoError(t, err)
	require.Empty(t, body)
	body, err = read(request("DELETE", "not read"))
	require.NoError(t, err)
	require.Nil(t, body)

	for name, c := range map[string]struct {
		request *http.Request
		status  int
		detail  string
	}{
		"too large":       {request("POST", "01234567890", "Content-Type", "application/json"), 413, "a body has at most 10 bytes"},
		"no Content-Type": {request("PUT", "{}"), 415, "the Content-Type of a body must be application/json"},
		"form":            {request("PUT", "{}", "Content-Type", "application/x-www-form-urlencoded"), 415, "the Content-Type of a body must be application/json"},
		"ends early":      {httptest.NewRequest(http.MethodPut, "/", iotest.ErrReader(errors.Join(io.ErrUnexpectedEOF))), 400, "the body cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.request)
			status, detail := problem(t, err)
			require.Equal(t, c.status, status)
			require.Equal(t, c.detail, detail)
		})
	}
}

func TestReadCondition(t *testing.T) {
	read := func(must bool, headers ...string) (Condition, error) {
		return ReadCondition(request("PUT", "", headers...), "the app", must)
	}
	for _, c := range []struct {
		headers []string
		want    Condition
	}{
		{[]string{"If-Match", `"12"`}, Condition{Revision: 12}},
		{[]string{"If-Match", ` "12" `}, Condition{Revision: 12}},
		{[]string{"If-None-Match", "*"}, Condition{Create: true}},
	} {
		got, err := read(true, c.headers...)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	got, err := read(false)
	require.NoError(t, err)
	require.Equal(t, Condition{}, got)

	_, err = read(true)
	status, detail := problem(t, err)
	require.Equal(t, 428, status)
	require.Equal(t, "If-Match with the ETag of the app is needed, or If-None-Match: * to make it", detail)

	for _, bad := range []string{`12`, `"12`, `12"`, `""12""`, `"0"`, `"-1"`, `"+1"`, `"012"`, `W/"12"`, `"1", "2"`, `*`, ``, `"99999999999999999999"`} {
		_, err := read(false, "If-Match", bad)
		status, detail := problem(t, err)
		require.Equal(t, 400, status, bad)
		require.Equal(t, `If-Match must be one ETag of the app, like "12"`, detail)
	}
	for _, both := range [][]string{{"If-Match", `"1"`, "If-None-Match", "*"}, {"If-Match", `"1"`, "If-Match", `"2"`}, {"If-None-Match", `"1"`}} {
		_, err := read(false, both...)
		status, _ := problem(t, err)
		require.Equal(t, 400, status, both)
	}
}

// timed is a ResponseWriter whose read deadlines are recorded.
type timed struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (t *timed) SetReadDeadline(at time.Time) error {
	t.deadlines = append(t.deadlines, at)
	return nil
}

// A client has 20 s for a body, and what follows it has no deadline.
func TestBodyHasATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		r := request("POST", "", "Content-Type", "application/json")
		r.Body = io.NopCloser(readerFunc(func([]byte) (int, error) {
			require.Equal(t, []time.Time{time.Now().Add(20 * time.Second)}, w.deadlines)
			return 0, io.EOF
		}))
		_, err := ReadBody(w, r, 10)
		require.NoError(t, err)
		require.Len(t, w.deadlines, 2)
		require.Zero(t, w.deadlines[1])
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
