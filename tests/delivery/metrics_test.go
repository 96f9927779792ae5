package delivery

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

// account is the collector's side of the ledger, as docs/delivery.md names its metrics.
type account struct {
	received, accepted, duplicate, refused, deferred, skipped float64 // frames, at the receiver
	handedOn, turnedAway                                      float64 // records, at the receiver
	written, present, dropped                                 float64 // records, at the store
}

// Names of the metrics.
const (
	framesReceived  = "otelcol_receiver_qoswss_frames_received"
	framesAccepted  = "otelcol_receiver_qoswss_frames_accepted"
	framesDuplicate = "otelcol_receiver_qoswss_frames_duplicate"
	framesRefused   = "otelcol_receiver_qoswss_frames_refused"
	framesDeferred  = "otelcol_receiver_qoswss_frames_deferred"
	framesSkipped   = "otelcol_receiver_qoswss_frames_skipped"
	recordsAccepted = "otelcol_receiver_accepted_log_records"
	recordsRefused  = "otelcol_receiver_refused_log_records"
	recordsFailed   = "otelcol_receiver_failed_log_records"
	storeNew        = "otelcol_qosstore_written_records"
	storeDuplicates = "otelcol_qosstore_duplicate_records"
	storeSkipped    = "otelcol_qosstore_rejected_records"
)

func newAccount(m harness.Metrics) account {
	return account{
		received: m.Sum(framesReceived), accepted: m.Sum(framesAccepted), duplicate: m.Sum(framesDuplicate),
		refused: m.Sum(framesRefused), deferred: m.Sum(framesDeferred), skipped: m.Sum(framesSkipped),
		handedOn: m.Sum(recordsAccepted), turnedAway: m.Sum(recordsRefused) + m.Sum(recordsFailed),
		written: m.Sum(storeNew), present: m.Sum(storeDuplicates),
		dropped: m.Sum(storeSkipped) - m.Sum(storeSkipped, `reason="summary"`),
	}
}

// TestTheDocumentNamesTheMetrics: what operators read is what is balanced here.
func TestTheDocumentNamesTheMetrics(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "delivery.md"))
	require.NoError(t, err)
	named := regexp.MustCompile("`(otelcol_[a-z_]*[a-z])`").FindAllStringSubmatch(string(text), -1)
	var names []string
	for _, name := range named {
		names = append(names, name[1])
	}
	require.ElementsMatch(t, []string{
		framesReceived, framesAccepted, framesDuplicate, framesRefused, framesDeferred, framesSkipped,
		recordsAccepted, recordsRefused, recordsFailed, storeNew, storeDuplicates, storeSkipped,
	}, names)
}

// balance holds the equations of docs/delivery.md against one process that lived from an
// empty store to now, and its clients' account. Nothing is under way any more.
func (a account) balance(t *testing.T, sum harness.Ledger) {
	t.Helper()
	t.Logf("%+v", a)
	require.NotZero(t, a.received)
	require.InDelta(t, a.received, a.accepted+a.duplicate+a.refused+a.deferred, 0, "frames received = accepted + duplicate + refused + deferred")
	require.InDelta(t, a.handedOn, a.written+a.present+a.dropped, 0, "records handed on = new + duplicates + skipped")
	require.InDelta(t, float64(sum.Records-sum.Nowhere), a.written, 0, "the store wrote what the clients have acknowledged")
	require.LessOrEqual(t, a.received, float64(sum.Sends), "no more arrives than is sent")
	require.GreaterOrEqual(t, a.refused, float64(sum.Refused))
	require.GreaterOrEqual(t, a.skipped, float64(sum.Skipped))
	require.GreaterOrEqual(t, a.dropped, float64(sum.Nowhere))
}

// spec: SRV-03
func TestAnOperatorBalancesWithMetricsAlone(t *testing.T) {
	t.Run("clients whose connections hold", func(t *testing.T) {
		t.Parallel()
		r := newRun(t, 2*time.Second)
		r.add(4, harness.Habits{Calm: true, PushEvery: 20 * time.Millisecond})
		r.load(nil)
		a := newAccount(r.collector.Metrics())
		sum := r.balance()
		a.balance(t, sum)
		require.InDelta(t, float64(sum.Sends), a.received, 0, "nothing was lost on the way")
		require.Zero(t, a.duplicate+a.deferred+a.present+a.turnedAway)
		require.InDelta(t, float64(sum.Refused), a.refused, 0)
		require.InDelta(t, float64(sum.Skipped), a.skipped, 0)
		require.InDelta(t, float64(sum.Nowhere), a.dropped, 0)
	})
	t.Run("clients whose connections are cut", func(t *testing.T) {
		t.Parallel()
		r := newRun(t, 0)
		r.add(4, harness.Habits{Twins: true, Deaf: 4})
		r.loadUntil(func(context.Context) { // frames were sent again on another connection, and on the same
			require.Eventually(t, func() bool {
				a := newAccount(r.collector.Metrics())
				return a.present > 0 && a.duplicate > 0
			}, harness.Patience, 50*time.Millisecond)
		})
		a := r.settled()
		a.balance(t, r.balance())
	})
}

// settled is the collector's side when no connection is left that could still bring
// something.
func (r *run) settled() (a account) {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		return r.collector.Metrics().Sum("otelcol_receiver_qoswss_connections") == 0
	}, harness.Patience, 50*time.Millisecond)
	return newAccount(r.collector.Metrics())
}
