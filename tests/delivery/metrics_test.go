package delivery

import (
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

func newAccount(m harness.Metrics) account {
	frames := func(what string) float64 { return m.Sum("otelcol_receiver_qoswss_frames_" + what + "") }
	return account{
		received: frames("received"), accepted: frames("accepted"), duplicate: frames("duplicate"),
		refused: frames("refused"), deferred: frames("deferred"), skipped: frames("skipped"),
		handedOn: m.Sum("otelcol_receiver_accepted_log_records"),
		turnedAway: m.Sum("otelcol_receiver_refused_log_records") +
			m.Sum("otelcol_receiver_failed_log_records"),
		written: m.Sum("otelcol_qosstore_new"), present: m.Sum("otelcol_qosstore_duplicates"),
		dropped: m.Sum("otelcol_qosstore_skipped"),
	}
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
		r := newRun(t, 3*time.Second)
		r.add(4, harness.Habits{Twins: true, Deaf: 4})
		r.load(nil)
		a := r.settled()
		a.balance(t, r.balance())
		require.NotZero(t, a.present, "what was sent again on another connection")
		require.NotZero(t, a.duplicate, "what was sent again on the same connection")
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
