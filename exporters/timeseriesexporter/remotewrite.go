package timeseriesexporter

import (
	"math"

	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"
)

var remoteWriteHeaders = map[string]string{
	"Content-Type":                      "application/x-protobuf",
	"Content-Encoding":                  "snappy",
	"X-Prometheus-Remote-Write-Version": "0.1.0",
	"User-Agent":                        "qos-collector",
}

// Field numbers of the messages of Prometheus remote write 1.0 (prompb/remote.proto, types.proto).
const (
	requestTimeSeries = 1

	timeSeriesLabels    = 1
	timeSeriesSamples   = 2
	timeSeriesExemplars = 3

	labelNameField, labelValueField  = 1, 2
	sampleValue, sampleTimestamp     = 1, 2
	exemplarLabels                   = 1
	exemplarValue, exemplarTimestamp = 2, 3
)

// writeRequest writes samples as a write request, compressed: a time series for each.
func writeRequest(samples []sample) []byte {
	var request, one, part []byte
	for i := range samples {
		s := &samples[i]
		one = one[:0]
		for _, l := range s.labels {
			part = appendPair(part[:0], l.Name, l.Value)
			one = appendBytes(one, timeSeriesLabels, part)
		}
		part = appendValue(part[:0], sampleValue, s.value, sampleTimestamp, s.atMs)
		one = appendBytes(one, timeSeriesSamples, part)
		if x := s.exemplar; x != nil {
			part = appendBytes(part[:0], exemplarLabels, appendPair(nil, "trace_id", x.trace))
			part = appendValue(part, exemplarValue, x.value, exemplarTimestamp, x.atMs)
			one = appendBytes(one, timeSeriesExemplars, part)
		}
		request = appendBytes(request, requestTimeSeries, one)
	}
	return snappy.Encode(nil, request)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendPair(b []byte, name, value string) []byte {
	b = protowire.AppendString(protowire.AppendTag(b, labelNameField, protowire.BytesType), name)
	return protowire.AppendString(protowire.AppendTag(b, labelValueField, protowire.BytesType), value)
}

func appendValue(b []byte, valueField protowire.Number, v float64, timeField protowire.Number, atMs int64) []byte {
	b = protowire.AppendFixed64(protowire.AppendTag(b, valueField, protowire.Fixed64Type), math.Float64bits(v))
	return protowire.AppendVarint(protowire.AppendTag(b, timeField, protowire.VarintType), uint64(atMs))
}
