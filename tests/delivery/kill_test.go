package delivery

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// TestKillsAtRandomMoments kills the collector under load, again and again, and starts it
// anew: before it listens, while it reads its store, while it commits. Counters die with a
// process, so the clients and the store are balanced.
//
// spec: SRV-03
func TestKillsAtRandomMoments(t *testing.T) {
	t.Parallel()
	kills := testenv.Pick(3, 25)
	r := newRun(t, time.Hour) // until all kills are done
	r.add(3, harness.Habits{})
	r.loadUntil(func(context.Context) {
		dice := rand.New(rand.NewPCG(uint64(r.seed), 1))
		for range kills {
			if dice.IntN(4) > 0 {
				r.collector.AwaitHealthy()
			}
			harness.Pause(t.Context(), time.Duration(dice.IntN(300))*time.Millisecond)
			r.collector.Kill()
			r.collector.Launch()
		}
		r.collector.AwaitHealthy()
	})
	r.balance()
}

// TestGracefulRestarts stops and starts the collector under load. What it took it has
// acknowledged or not, and both come out right.
//
// spec: SRV-03
func TestGracefulRestarts(t *testing.T) {
	t.Parallel()
	r := newRun(t, 3*time.Second)
	r.add(3, harness.Habits{})
	r.load(func(ctx context.Context) {
		dice := rand.New(rand.NewPCG(uint64(r.seed), 2))
		for ctx.Err() == nil {
			harness.Pause(ctx, time.Duration(200+dice.IntN(400))*time.Millisecond)
			r.collector.Stop()
			r.collector.Start()
		}
	})
	r.balance()
}
