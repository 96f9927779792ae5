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

// routes returns the handler of the endpoints of docs/protocol.md, section 1.
func (r *wssReceiver) routes() http.Handler {
	mux := http.NewServeMux()
	prefix := r.cfg.PathPrefix
	mux.Handle("GET "+prefix+"/ws", r.shared.refuseQuery(r.sockets.ServeHTTP)) // WebSockets have their own limits
	answer := func(pattern string, endpoint http.Handler) { mux.Handle(pattern, r.shared.limitRequests(endpoint)) }
	answer("POST "+prefix+"/auth", r.shared.refuseQuery(r.shared.serveAuth))
	answer("POST "+prefix+"/frames", r.shared.refuseQuery(r.shared.serveFrames))
	answer("POST "+prefix+"/configuration", r.shared.refuseQuery(r.shared.serveConfiguration))
	for _, file := range r.library {
		answer("GET "+prefix+"/"+file.name, file)
	}
	return crossOrigin(r.shared.drainBody(requireCanonical(mux)))
}

// maxDrainBytes bounds the bytes of a refused body that are read, so that a client that sends all
// of it before it reads receives the answer.
const maxDrainBytes = 32 << 20

// drainBody reads the rest of a body after the endpoint: closing a connection with unread data would
// reset it, and the client would lose the answer. ReadTimeout bounds the time; the bytes are charged to the address.
func (d *shared) drainBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		waits := r.Header.Get("Expect") != "" // for 100 Continue, which it did not get
		if r.Body != http.NoBody && r.Method != http.MethodGet && !waits {
			if n, _ := io.CopyN(io.Discard, r.Body, maxDrainBytes); n > 0 {
				d.throttles.payFor(int(n), d.throttles.network(r), time.Now())
			}
		}
	})
}

// requireCanonical answers other forms of a path with 404: the mux would redirect, and so repeat the
// requested path.
func requireCanonical(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; p != path.Clean(p) && p != path.Clean(p)+"/" {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crossOrigin lets pages of any origin read the answers, refusals too. No endpoint depends on a
// cookie; the origin is compared with the list of the application when the AppID is known.
func crossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		allowReading(w)
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

// refuseQuery refuses requests with a query. No endpoint has parameters, and a token in a query
// would be in the logs of every proxy on the path: a client that sends one must fail.
func (d *shared) refuseQuery(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next(w, r)
			return
		}
		e := &protocol.Error{Code: protocol.CodeMalformed, Message: "no query is taken here; a token must never stand in a URL"}
		d.writeRefusal(w, e.Code.HTTPStatus(), refusal{Error: e})
	})
}

// originOf returns the origin of a request. Several headers, which no browser sends, make an origin
// that is on no list.
func originOf(r *http.Request) string { return strings.Join(r.Header.Values("Origin"), ", ") }

func allowReading(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// writeServerError answers a request that the server refuses before any endpoint. The server's own
// text is not used: it may repeat the request.
func (d *shared) writeServerError(w http.ResponseWriter, _ *http.Request, _ string, status int) {
	allowReading(w)
	e := &protocol.Error{Code: protocol.CodeMalformed, Message: "the server refuses this request"}
	switch status {
	case http.StatusUnauthorized:
		e.Code = protocol.CodeAuthFailed
	case http.StatusBadRequest: // from the decompressor
		status = http.StatusUnsupportedMediaType
		e.Field, e.Message = "Content-Encoding", "Content-Encoding must be absent: compressed bodies are refused"
	}
	d.writeRefusal(w, status, refusal{Error: e})
}

// refuse answers a POST with an error (docs/protocol.md, section 3.4).
func (d *shared) refuse(w http.ResponseWriter, e *protocol.Error) {
	d.writeRefusal(w, e.Code.HTTPStatus(), d.newRefusal(e, false))
}

// writeRefusal answers a request with an error, and counts it. It is the only function that refuses requests.
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

// writeAnswer answers an accepted POST.
func writeAnswer(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(body)
}
