package delivery

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

// TestDuplicateSends sends the same frames over two connections of one session at once,
// and each POST twice at the same moment.
//
// spec: SRV-03
func TestDuplicateSends(t *testing.T) {
	t.Parallel()
	r := newRun(t, 3*time.Second)
	r.add(4, harness.Habits{Twins: true})
	r.load(nil)
	a := r.settled()
	a.balance(t, r.balance())
	require.NotZero(t, a.present)
}

// TestClientsThatNeverReadAcks floods the collector and reads nothing, until the buffers
// between them are full. Then the client comes back and listens.
//
// spec: SRV-03
func TestClientsThatNeverReadAcks(t *testing.T) {
	t.Parallel()
	r := newRun(t, 3*time.Second)
	r.add(2, harness.Habits{Deaf: 2})
	r.load(nil)
	a := r.settled()
	a.balance(t, r.balance())
}

// TestResumeWithLessThanIsAcknowledged resumes as a client does that has lost its newest
// acks: what it sends again is counted, not stored.
//
// spec: SRV-03
func TestResumeWithLessThanIsAcknowledged(t *testing.T) {
	t.Parallel()
	r := newRun(t, 3*time.Second)
	r.add(3, harness.Habits{Claim: func(dice *rand.Rand, acked uint64) uint64 {
		return acked - min(acked, dice.Uint64N(200))
	}})
	r.load(nil)
	a := r.settled()
	a.balance(t, r.balance())
	require.NotZero(t, a.present)
}

// TestClocksThatStep moves a client's clock by an hour and by a day, back and forth, in
// mid-session. Times that cannot be are set to the arrival (docs/protocol.md, section 5);
// no frame is lost for it, and none is stored twice because it came with another time.
//
// spec: SRV-03
func TestClocksThatStep(t *testing.T) {
	t.Parallel()
	r := newRun(t, 3*time.Second)
	for i := range 4 {
		dice := rand.New(rand.NewPCG(uint64(r.seed), uint64(100+i)))
		var offset time.Duration
		r.add(1, harness.Habits{Now: func() time.Time {
			if dice.IntN(100) == 0 {
				offset = []time.Duration{0, time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour}[dice.IntN(5)]
			}
			return time.Now().Add(offset)
		}})
	}
	began := time.Now()
	r.load(nil)
	a := r.settled()
	a.balance(t, r.balance())
	moved := 0
	for _, at := range harness.ReadTimes(t, r.store) {
		require.WithinRange(t, at, began.Add(-25*time.Hour), time.Now().Add(time.Minute))
		if at.Before(began.Add(-time.Minute)) {
			moved++
		}
	}
	require.NotZero(t, moved, "a clock that went back within bounds is believed")
}
