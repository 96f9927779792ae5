package qoswssreceiver

import (
	"io"
	"net/http"
	"time"

	"github.com/qosrtc/qos/internal/budget"
	"github.com/qosrtc/qos/protocol"
)

// requestBytes is what a request takes while it is answered: its goroutine, headers and buffers. A client that opens many
// streams of HTTP/2 and reads none makes the server hold as much for each.
const requestBytes = 24 << 10

// copyBytes is how much of a file is written at once.
const copyBytes = 4 << 10

// charged answers a request only if the strangers of its address have room for it.
func (d *shared) charged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		account := d.strangerOf(d.may.network(r))
		defer account.Close()
		if account.Take(requestBytes) != budget.None {
			d.refuse(w, &protocol.Error{Code: protocol.CodeOverloaded, Message: "there is no room for more requests now", RetryAfter: time.Second})
			return
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
