package qoswssreceiver

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/qosrtc/qos/internal/metrics/zeros"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// Results of a handshake request, beside the codes of refusals.
const (
	resultGranted    = "granted"
	resultChallenged = "challenged"
)

// outcomeAnswered is the outcome of a configuration request that was not refused.
const outcomeAnswered = "answered"

// recordZeros records the first data points of the counters, for each value that metadata.yaml lists.
func recordZeros(ctx context.Context, metrics *metadata.TelemetryBuilder) {
	zeros.Record(
		ctx, metrics.ReceiverQoswssAcks, metrics.ReceiverQoswssAuditLinesDropped, metrics.ReceiverQoswssColumnsUnknown,
		metrics.ReceiverQoswssFramesReceived, metrics.ReceiverQoswssFramesAccepted, metrics.ReceiverQoswssFramesDeferred,
		metrics.ReceiverQoswssFramesDuplicate, metrics.ReceiverQoswssFramesSkipped, metrics.ReceiverQoswssReceivedBytes,
		metrics.ReceiverQoswssUserIdsDropped,
	)
	metrics.ReceiverQoswssConnections.Add(ctx, 0)
	codes := protocol.Codes()
	zeros.RecordEach(ctx, metrics.ReceiverQoswssFramesRefused, "code", codes...)
	zeros.RecordEach(ctx, metrics.ReceiverQoswssConnectionsClosed, "code", codes...)
	zeros.RecordEach(ctx, metrics.ReceiverQoswssConnectionsClosed, "code", endProtocol, endIdle, endWrite)
	zeros.RecordEach(ctx, metrics.ReceiverQoswssRequestsRefused, "status", refusalStatuses(codes)...)
	zeros.RecordEach(ctx, metrics.ReceiverQoswssConfigurationRequests, "outcome", append(slices.Clone(codes), outcomeAnswered)...)
	zeros.RecordEach(ctx, metrics.ReceiverQoswssAuthRequests, "result", append(codes, resultGranted, resultChallenged)...)
}

// refusalStatuses returns the statuses of refused requests: those of codes, of a HEAD of ws, and of compressed bodies.
func refusalStatuses(codes []protocol.Code) []string {
	statuses := []string{strconv.Itoa(http.StatusMethodNotAllowed), strconv.Itoa(http.StatusUnsupportedMediaType)}
	for _, code := range codes {
		statuses = append(statuses, strconv.Itoa(code.HTTPStatus()))
	}
	return statuses
}
