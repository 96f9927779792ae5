// Package gzipped compresses answers for clients that take gzip.
package gzipped

import (
	"bytes"
	"compress/gzip"
	"mime"
	"net/http"
	"strings"
)

// AcceptedBy reports whether the client of a request takes gzip.
func AcceptedBy(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, err := mime.ParseMediaType(strings.TrimSpace(coding))
		if err == nil && name == "gzip" && params["q"] != "0" {
			return true
		}
	}
	return false
}

// Bytes compresses plain at a level of compress/gzip. It returns an error for a level that does not exist.
func Bytes(plain []byte, level int) ([]byte, error) {
	var b bytes.Buffer
	zw, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	if _, err := zw.Write(plain); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
