package qoswssreceiver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/throttle"
)

// flooders is how many clients at once ask for the flooded application.
const flooders = 64

// signedFor makes a POST with a third-party token, and registers its key unless it is to
// be refused: then it costs the most, a verification that finds nothing.
func signedFor(b *testing.B, c *collector, appID string, register bool) string {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(b, err)
	token, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"appID": appID, "userID": "alice", "keyID": "k"}).SignedString(key)
	require.NoError(b, err)
	if register {
		apps := c.receiver.shared.apps.(*testApps)
		apps.mu.Lock()
		apps.apps[appID] = auth.App{ID: appID, Keys: []auth.VerificationKey{{ID: "k", Algorithm: auth.AlgorithmES256, Public: &key.PublicKey}}}
		apps.mu.Unlock()
	}
	body, err := json.Marshal(map[string]string{"type": "jwt", "appID": appID, "userID": "alice", "jwt": token})
	require.NoError(b, err)
	return string(body)
}

// BenchmarkAnotherAppIsFlooded measures a handshake of one application alone, and while
// another one is flooded from ever new addresses: with the gate, and without one for
// comparison. proof is what the gate is before, http the whole with its clients, which
// share the cores with the server here.
func BenchmarkAnotherAppIsFlooded(b *testing.B) {
	b.Run("proof", func(b *testing.B) { flooded(b, (*collector).proofs) })
	b.Run("http", func(b *testing.B) { flooded(b, (*collector).posts) })
}

// asker returns what makes one handshake and reports whether it was granted.
type asker func(c *collector, body string, origin throttle.Key) func() bool

func flooded(b *testing.B, by asker) {
	b.Helper()
	for b.Loop() {
		gated := floodOnce(b, by, defaultThrottle().ProofsAtOnce)
		open := floodOnce(b, by, 1<<16)
		b.ReportMetric(us(gated.alone.mean), "alone-µs")
		b.ReportMetric(us(gated.flooded.mean), "flooded-µs")
		b.ReportMetric(ratio(gated.flooded.mean, gated.alone.mean), "flooded/alone")
		b.ReportMetric(ratio(gated.flooded.p50, gated.alone.p50), "p50-flooded/alone")
		b.ReportMetric(ratio(gated.flooded.p99, gated.alone.p99), "p99-flooded/alone")
		b.ReportMetric(ratio(open.flooded.mean, open.alone.mean), "without-gate/alone")
		b.ReportMetric(ratio(open.flooded.p50, open.alone.p50), "p50-without-gate/alone")
		b.ReportMetric(gated.perSecond, "flood/s")
		b.ReportMetric(0, "ns/op")
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// flood is one measurement.
type flood struct {
	alone, flooded latency
	perSecond      float64 // handshakes that were answered to the flood
}

func floodOnce(b *testing.B, by asker, places int) flood {
	b.Helper()
	var result flood
	c, _ := throttledCollector(b, func(cfg *Config) {
		cfg.Throttle.ProofsAtOnce = places
		cfg.Throttle.Handshakes = endpointRates{PerApp: perSecond(1e6, 1e6), PerAddress: perSecond(1e6, 1e6), PerUser: perSecond(1e6, 1e6)}
	})
	good, bad := signedFor(b, c, "other", true), signedFor(b, c, "flooded", false)
	ask := by(c, good, 1)
	result.alone = measure(b, ask)

	stop := make(chan struct{})
	var wg sync.WaitGroup
	var answered atomic.Int64
	for n := range flooders {
		wg.Go(func() {
			ask := by(c, bad, throttle.Key(n+2))
			for {
				select {
				case <-stop:
					return
				default:
					ask()
					answered.Add(1)
				}
			}
		})
	}
	began := time.Now()
	result.flooded = measure(b, ask)
	result.perSecond = float64(answered.Load()) / time.Since(began).Seconds()
	close(stop)
	wg.Wait()
	return result
}

// latency is how long handshakes took.
type latency struct{ mean, p50, p99 time.Duration }

// measure asks for a while. The mean, as a median does not show how long a goroutine that
// computes waits for a core now and then.
func measure(b *testing.B, ask func() bool) latency {
	b.Helper()
	var took []time.Duration
	var sum time.Duration
	for range 500 {
		began := time.Now()
		require.True(b, ask())
		took = append(took, time.Since(began))
		sum += took[len(took)-1]
	}
	slices.Sort(took)
	return latency{sum / time.Duration(len(took)), took[len(took)/2], took[len(took)*99/100]}
}

// proofs asks the endpoint itself. A flooder's address is another one each time.
func (c *collector) proofs(body string, origin throttle.Key) func() bool {
	return func() bool {
		if origin > 1 {
			origin += flooders
		}
		_, refusal := c.receiver.shared.handshake(context.Background(), []byte(body), testOrigin, origin, time.Now())
		return refusal == nil
	}
}

// posts asks over HTTP.
func (c *collector) posts(body string, origin throttle.Key) func() bool {
	via := &proxy{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	client := &http.Client{Transport: via}
	c.t.Cleanup(client.CloseIdleConnections)
	return func() bool {
		if origin > 1 {
			origin += flooders
		}
		via.client = netip.AddrFrom4([4]byte{100, byte(origin >> 16), byte(origin >> 8), byte(origin)}).String()
		resp, err := client.Post(c.url+"auth", "text/plain", strings.NewReader(body))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err == nil && resp.StatusCode == http.StatusOK
	}
}
