package qoswssreceiver

import (
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// routes are the endpoints of docs/protocol.md, section 1.
func (r *wssReceiver) routes() http.Handler {
	mux := http.NewServeMux()
	prefix := r.cfg.PathPrefix
	mux.Handle("GET "+prefix+"/ws", r.shared.bare(r.sockets.ServeHTTP)) // sockets have limits of their own
	answer := func(pattern string, endpoint http.Handler) { mux.Handle(pattern, r.shared.few(endpoint)) }
	answer("POST "+prefix+"/auth", r.shared.bare(r.shared.serveAuth))
	answer("POST "+prefix+"/frames", r.shared.bare(r.shared.serveFrames))
	answer("POST "+prefix+"/configuration", r.shared.bare(r.shared.serveConfiguration))
	for _, file := range r.library {
		answer("GET "+prefix+"/"+file.name, file)
	}
	return crossOrigin(r.shared.drained(canonical(mux)))
}

// maxDrainBytes is how much of a body that was refused is read, so that a client that sends
// all of it before it reads gets the answer.
const maxDrainBytes = 32 << 20

// drained reads what an endpoint has left of a body: a connection that is closed with data unread
// is reset, and the answer with it. ReadTimeout bounds the time, and the address pays for the bytes.
func (d *shared) drained(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		waits := r.Header.Get("Expect") != "" // for leave to send a body, which it did not get
		if r.Body != http.NoBody && r.Method != http.MethodGet && !waits {
			if n, _ := io.CopyN(io.Discard, r.Body, maxDrainBytes); n > 0 {
				d.may.payFor(int(n), d.may.network(r), time.Now())
			}
		}
	})
}

// canonical answers other forms of a path with 404: the mux would redirect, and so repeat
// what was asked for.
func canonical(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; p != path.Clean(p) && p != path.Clean(p)+"/" {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crossOrigin lets pages of any origin read the answers, refusals too. Nothing here
// depends on a cookie; which origin may speak for an AppID is decided where the AppID is
// known.
func crossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		readable(w)
		if r.Method == http.MethodOptions {
			h := w.Header()
			h.Set("Access-Control-Allow-Methods", "GET, POST")
			h.Set("Access-Control-Allow-Headers", "Content-Type")
			h.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bare refuses requests with a query. The endpoints take none, and a token that somebody puts
// there would stand in the logs of all that is on the way: it must never come to work.
func (d *shared) bare(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next(w, r)
			return
		}
		e := &protocol.Error{Code: protocol.CodeMalformed, Message: "no query is taken here; a token must never stand in a URL"}
		d.writeRefusal(w, e.Code.HTTPStatus(), refusal{Error: e})
	})
}

// originOf is the origin that a request comes from. Who sends several, as no browser does,
// comes from none that is on any list.
func originOf(r *http.Request) string { return strings.Join(r.Header.Values("Origin"), ", ") }

func readable(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// writeServerError answers what the server itself refuses, before any endpoint.
// Its own text may repeat what came.
func (d *shared) writeServerError(w http.ResponseWriter, _ *http.Request, _ string, status int) {
	readable(w)
	e := &protocol.Error{Code: protocol.CodeMalformed, Message: "the server refuses this request"}
	switch status {
	case http.StatusUnauthorized:
		e.Code = protocol.CodeAuthFailed
	case http.StatusBadRequest: // of the decompressor
		status = http.StatusUnsupportedMediaType
		e.Field, e.Message = "Content-Encoding", "Content-Encoding must be absent: compressed bodies are refused"
	}
	d.writeRefusal(w, status, refusal{Error: e})
}

// refuse answers a POST with a refusal (docs/protocol.md, section 3.4).
func (d *shared) refuse(w http.ResponseWriter, e *protocol.Error) {
	d.writeRefusal(w, e.Code.HTTPStatus(), d.refusal(e, false))
}

// writeRefusal answers a request, and counts it. Every refusal of a request comes here, also those before an endpoint.
func (d *shared) writeRefusal(w http.ResponseWriter, status int, r refusal) {
	count(d.metrics.ReceiverQoswssRequestsRefused, "status", strconv.Itoa(status))
	if r.after > 0 {
		seconds := int64((r.after + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(protocol.AppendError(nil, r.Error, r.retry, r.after.Milliseconds()))
}

// writeAnswer answers a POST that was taken.
func writeAnswer(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(body)
}
