package qoswssreceiver

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/serverlog"
	"github.com/qosrtc/qos/protocol"
)

// routes are the doors of docs/protocol.md, section 1.
func (r *wssReceiver) routes() http.Handler {
	mux := http.NewServeMux()
	prefix := r.cfg.PathPrefix
	mux.Handle("POST "+prefix+"/auth", bare(r.door.serveAuth))
	mux.Handle("POST "+prefix+"/frames", bare(r.door.serveFrames))
	mux.Handle("GET "+prefix+"/ws", bare(r.sockets.ServeHTTP))
	for _, file := range r.library {
		mux.Handle("GET "+prefix+"/"+file.name, file)
	}
	return crossOrigin(mux)
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

// bare refuses requests with a query. The doors take none, and a token that somebody puts
// there would stand in the logs of all that is on the way: it must never come to work.
func bare(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next(w, r)
			return
		}
		e := &protocol.Error{Code: protocol.CodeMalformed, Message: "no query is taken here; a token must never stand in a URL"}
		writeRefusal(w, e.Code.HTTPStatus(), refusal{Error: e})
	})
}

// originOf is the origin that a request comes from. Who sends several, as no browser does,
// comes from none that is on any list.
func originOf(r *http.Request) string { return strings.Join(r.Header.Values("Origin"), ", ") }

func readable(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// writeServerError answers what the server itself refuses, before any door.
func writeServerError(w http.ResponseWriter, _ *http.Request, message string, status int) {
	readable(w)
	code := protocol.CodeMalformed
	if status == http.StatusUnauthorized {
		code = protocol.CodeAuthFailed
	}
	writeRefusal(w, status, refusal{Error: &protocol.Error{Code: code, Message: message}})
}

// serverLog takes what net/http logs by itself, without the addresses of peers.
type serverLog struct{ log *zap.Logger }

// Write takes one line.
func (l serverLog) Write(line []byte) (int, error) {
	l.log.Warn(serverlog.Line(line))
	return len(line), nil
}

// refuse answers a POST with a refusal (docs/protocol.md, section 3.4).
func (d *door) refuse(w http.ResponseWriter, e *protocol.Error) {
	writeRefusal(w, e.Code.HTTPStatus(), d.refusal(e, false))
}

func writeRefusal(w http.ResponseWriter, status int, r refusal) {
	if r.after > 0 {
		seconds := int64((r.after + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(protocol.AppendError(nil, r.Error, r.retry, r.after.Milliseconds()))
}

// readBody reads a POST body of at most MaxFrameBytes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *protocol.Error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, protocol.MaxFrameBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &tooLarge):
		return nil, &protocol.Error{Code: protocol.CodeFrameTooLarge, Limit: protocol.MaxFrameBytes, Message: "a body has at most 65536 bytes"}
	}
	return nil, &protocol.Error{Code: protocol.CodeThrottled, Message: "the body did not come whole and in time"}
}

// writeAnswer answers a POST that was taken.
func writeAnswer(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(body)
}
