package auth

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// An AppID that does not exist costs what an existing one does, until too many are tried at once. The others cost
// nothing and take as long; their answers are the same.
//
// spec: AUTH-01, SRV-04
func TestInventedNamesCostNothingWhenTheyAreMany(t *testing.T) {
	a, _ := testAuthenticator(t)
	es, hs := newOriginServer(t).es256(t, esHeader, claim(nil)), hs256([]byte("s"), claim(nil))
	handshake := func(id string) (failed []*protocol.Error) {
		final := newClient(t, a, id, "wrong").first(page, time.Now())
		_, _, refusal := a.ScramFinal(final, page, time.Now())
		failed = append(failed, refusal)
		for _, token := range []string{es, hs, "a.b.c"} {
			_, _, refusal := a.JWT(&protocol.JWTRequest{AppID: id, UserID: alice, JWT: token}, page, time.Now())
			failed = append(failed, refusal)
		}
		return failed
	}
	took := map[string]time.Duration{kindScram: time.Second, AlgorithmES256: 10 * time.Second, AlgorithmHS256: 100 * time.Second}
	synctest.Test(t, func(t *testing.T) {
		f := func(id string, want time.Duration) {
			t.Helper()
			for kind, d := range took {
				a.invented.took[kind].Store(int64(d))
			}
			began := time.Now()
			for _, refusal := range handshake(id) {
				require.Equal(t, refused(protocol.CodeAuthFailed), refusal)
			}
			require.Equal(t, want, time.Since(began))
		}
		f("unknown", 0) // the clock of the bubble does not run while there is work
		for kind := range took {
			require.Zero(t, a.invented.took[kind].Load(), "measured")
		}
		require.Empty(t, a.invented.slots)

		for range cap(a.invented.slots) {
			a.invented.slots <- struct{}{}
		}
		f("unknown", 111*time.Second)
		f("123", 0)
		f("none", 0)
		for range cap(a.invented.slots) {
			<-a.invented.slots
		}
	})
}
