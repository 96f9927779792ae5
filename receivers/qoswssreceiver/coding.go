package qoswssreceiver

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
)

// coding is a content coding (RFC 9110, section 8.4.1).
type coding string

const (
	codingIdentity coding = "identity"
	codingGzip     coding = "gzip"
	codingBrotli   coding = "br"
)

// codings are those of the library's files, the smallest first.
var codings = []coding{codingBrotli, codingGzip, codingIdentity}

// preferredCoding returns the coding that an Accept-Encoding prefers, the smallest of several equal ones;
// ok is false if none is acceptable (RFC 9110, section 12.5.3).
func preferredCoding(header string) (best coding, ok bool) {
	weights := weightsOf(header)
	highest := 0.0
	for _, c := range codings {
		weight, listed := weights[c]
		if !listed {
			weight, listed = weights["*"]
		}
		if !listed && c == codingIdentity {
			weight = 0.0005 // acceptable, and less than any weight in a header
		}
		if weight > highest {
			best, highest = c, weight
		}
	}
	return best, highest > 0
}

// weightsOf parses an Accept-Encoding. An invalid weight counts as 0.
func weightsOf(header string) map[coding]float64 {
	weights := make(map[coding]float64)
	for item := range strings.SplitSeq(header, ",") {
		name, parameter, weighted := strings.Cut(item, ";")
		weight := 1.0
		if weighted {
			weight = weightOf(parameter)
		}
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			weights[coding(name)] = weight
		}
	}
	return weights
}

func weightOf(parameter string) float64 {
	name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
	weight, err := strconv.ParseFloat(value, 64)
	if err != nil || !strings.EqualFold(name, "q") || !(weight >= 0 && weight <= 1) {
		return 0
	}
	return weight
}

// encode returns plain in a coding, nil after an error.
func (c coding) encode(plain []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch c {
	case codingBrotli:
		w = brotli.NewWriterLevel(&out, brotli.BestCompression)
	case codingGzip:
		w, _ = gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	default:
		return plain
	}
	_, err := w.Write(plain)
	if errors.Join(err, w.Close()) != nil {
		return nil
	}
	return out.Bytes()
}
