package qoswssreceiver

import (
	"io"
	"net/http"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// maxRequests bounds the requests of an address that are answered at the same time. Each takes some 20 kB until its
// client has read the answer, at most the write timeout: over HTTP/2 a client can send many requests and read no answer.
const maxRequests = 1024

// copyBytes is the number of bytes of a file that are written at once.
const copyBytes = 4 << 10

// limitRequests answers at most maxRequests of an address at the same time. There is no limit if the address is not
// known: all clients may seem to be one.
func (d *shared) limitRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if network := d.throttles.network(r); network != 0 {
			if !d.requests.enter(network, maxRequests) {
				d.refuse(w, &protocol.Error{Code: protocol.CodeOverloaded, Message: "too many requests of this address are under way", RetryAfter: time.Second})
				return
			}
			defer d.requests.leave(network)
		}
		next.ServeHTTP(pieceWriter{w}, r)
	})
}

// pieceWriter is a ResponseWriter to which files are copied with a small buffer.
type pieceWriter struct{ http.ResponseWriter }

// ReadFrom implements io.ReaderFrom.
func (w pieceWriter) ReadFrom(r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w.ResponseWriter}, r, make([]byte, copyBytes))
}

// Unwrap is for http.ResponseController.
func (w pieceWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
