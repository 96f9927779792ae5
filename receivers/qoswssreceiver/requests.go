package qoswssreceiver

import (
	"io"
	"net/http"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// maxRequests is how many requests of an address are answered at the same time. Each takes some 20 kB, for as long as its
// client does not read the answer and up to the write timeout: HTTP/2 lets a client ask for many at once and read none.
const maxRequests = 1024

// copyBytes is how much of a file is written at once.
const copyBytes = 4 << 10

// few answers at most maxRequests of an address at the same time. Where the address is not known there is no limit: all
// clients may seem to be one.
func (d *shared) few(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if network := d.may.network(r); network != 0 {
			if !d.requests.enter(network, maxRequests) {
				d.refuse(w, &protocol.Error{Code: protocol.CodeOverloaded, Message: "too many requests of this address are under way", RetryAfter: time.Second})
				return
			}
			defer d.requests.leave(network)
		}
		next.ServeHTTP(inPieces{w}, r)
	})
}

// inPieces is a ResponseWriter to which files are copied with a small buffer.
type inPieces struct{ http.ResponseWriter }

// ReadFrom implements io.ReaderFrom.
func (w inPieces) ReadFrom(r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w.ResponseWriter}, r, make([]byte, copyBytes))
}

// Unwrap is for http.ResponseController.
func (w inPieces) Unwrap() http.ResponseWriter { return w.ResponseWriter }
