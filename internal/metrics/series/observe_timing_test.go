package series

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// frame is a frame of one session as the pipeline passes it on: four streams and the candidate pair
// of one fabric, scored.
func frame(session int, site string) plog.Logs {
	logs := plog.NewLogs()
	records := call(logs, map[string]any{
		semconv.AppID: "demo", semconv.SessionID: fmt.Sprint("018f-session-", session), semconv.UserID: fmt.Sprint("user", session),
		semconv.ApplicationVersion: "1.2.3", semconv.SiteID: site, semconv.LibraryVersion: "0.1.0", semconv.UserAgent: firefox,
	}, map[string]any{
		semconv.ConferenceID: fmt.Sprint("conference", session/2), semconv.ConferenceAt: testNow.UnixMilli(), semconv.FabricID: 1,
		semconv.FabricUsage: "multiplex", semconv.RemoteEndpointType: "peer", semconv.RemoteUserID: fmt.Sprint("user", session^1),
	})
	for i, kind := range [][2]string{{"inbound-rtp", "audio"}, {"inbound-rtp", "video"}, {"outbound-rtp", "audio"}, {"outbound-rtp", "video"}, {"candidate-pair", ""}} {
		attrs := map[string]any{
			semconv.FrameSeq: 17, semconv.FrameIndex: i, semconv.IntervalMs: 10_000.0, semconv.StatsType: kind[0],
			eventtest.Stats("rttMs"): 40.0 + float64(session%7)*20,
		}
		for _, name := range [][]string{
			{"ssrc", "bytes", "packets", "packetsLost", "samples", "concealedSamples", "audioLevel"},
			{"ssrc", "bytes", "packets", "packetsLost", "frames", "framesDecoded", "width", "height", "fps", "plis"},
			{"ssrc", "bytes", "packets", "audioLevel", "remotePacketsLost", "targetBitrateBps"},
			{"ssrc", "bytes", "packets", "frames", "framesEncoded", "width", "height", "fps", "qp", "remotePacketsLost"},
			{"bytesSent", "bytesReceived", "availableOutgoingBps"},
		}[i] {
			attrs[eventtest.Stats(name)] = 100 + i
		}
		if kind[1] != "" {
			attrs[semconv.MediaType], attrs[eventtest.Stats("codec")] = kind[1], "codec"
			attrs[semconv.QualityMOS], attrs[semconv.QualityLabel], attrs[semconv.QualityModel] = 4.1, "good", "model/1"
			attrs[eventtest.Stats([]string{"jitterMs", "jitterMs", "remoteJitterMs", "remoteJitterMs"}[i])] = 12.0
		}
		r := put(records, semconv.EventStats, attrs)
		r.SetTraceID(pcommon.TraceID(semconv.TraceID("demo", fmt.Sprint("conference", session/2))))
		r.SetSpanID(pcommon.SpanID(semconv.SpanID(fmt.Sprint("s", session), 1)))
	}
	return logs
}

// BenchmarkFrames counts frames of 5 records each, of 1,000 sessions of 20 sites in turn.
func BenchmarkFrames(b *testing.B) {
	for _, mode := range []string{Aggregate, PerConference} {
		b.Run(mode, func(b *testing.B) {
			cfg := DefaultConfig()
			cfg.Series, cfg.MaxSeries = mode, 10_000
			frames := make([]plog.Logs, 1000)
			for i := range frames {
				frames[i] = frame(i, fmt.Sprint("site", i/2%20))
			}
			a, i := New(cfg, testNow), 0
			b.ReportAllocs()
			for b.Loop() {
				a.Observe(frames[i%len(frames)], testNow)
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5, "ns/record")
		})
	}
}
