package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/tests/kit/freeport"
)

const columns = `{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"video","names":["ssrc","codec","bytes",` +
	`"packets","packetsLost","jitterMs","rttMs","frames","framesDecoded","framesDropped","keyFrames","width","height","fps",` +
	`"freezes","freezeMs","plis","nacks"]}`

// frame appends a measurement of five streams.
func frame(dst []byte, seq uint64, at time.Time) []byte {
	dst = append(dst, `{"type":"stats","seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = append(dst, `,"at":`...)
	dst = strconv.AppendInt(dst, at.UnixMilli(), 10)
	dst = append(dst, `,"fabric":1,"intervalMs":2000,"rows":[`...)
	for i := range 5 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `[1,%d,"VP8",402110,501,2,3.1,41.25,300,298,1,2,1280,720,29.97,0,0,1,3]`, 3735928550+i)
	}
	return append(dst, "]}"...)
}

// sample appends the same measurement as observer-js takes it: counters since the begin.
func sample(dst []byte, seq uint64, at time.Time) []byte {
	dst = fmt.Appendf(dst, `{"timestamp":%d,"inboundVideoTracks":[`, at.UnixMilli())
	for i := range 5 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"peerConnectionId":"4e0f1a3c-6a4e-4f10-9f6d-2a8e6c1b7d5f","trackId":"4e0f1a3c-6a4e-4f10-9f6d-2a8e6c1b7d6%d","ssrc":%d,`+
			`"bytesReceived":%d,"packetsReceived":%d,"packetsLost":%d,"jitter":0.0031,"roundTripTime":0.04125,"framesReceived":%d,"framesDecoded":%d,`+
			`"framesDropped":%d,"keyFramesDecoded":%d,"frameWidth":1280,"frameHeight":720,"framesPerSecond":29.97,"pliCount":%d,"nackCount":%d}`,
			i, 3735928550+i, 402110*seq, 501*seq, 2*seq, 300*seq, 298*seq, seq, 2*seq, seq, 3*seq)
	}
	return append(dst, "]}"...)
}

// announcement is the fabric of a client: two clients are in a conference.
func announcement(client int, at time.Time) string {
	return fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":"conference %d","addedAt":%d,"remoteUserID":%q,"fabricUsage":"multiplex"}`,
		client/2, at.UnixMilli(), userOf(client^1))
}

func userOf(client int) string { return fmt.Sprintf("user %d", client) }

// records are those of the pipeline that a frame becomes, which the stock receiver is sent.
func records(ctx context.Context) (plog.Logs, error) {
	var none plog.Logs
	address, err := freeport.Address()
	if err != nil {
		return none, err
	}
	sink := &consumertest.LogsSink{}
	stop, err := startQos(ctx, receiverConfig(address), sink)
	if err != nil {
		return none, err
	}
	c, err := dialQos(ctx, false, address, 0)
	if err != nil {
		return none, err
	}
	if err := c.exchange(ctx); err != nil {
		return none, err
	}
	c.close()
	if err := stop(ctx); err != nil {
		return none, err
	}
	for _, logs := range sink.AllLogs() {
		if logs.LogRecordCount() == 5 {
			return logs, nil
		}
	}
	return none, fmt.Errorf("no five records of %d batches", len(sink.AllLogs()))
}
