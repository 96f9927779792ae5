package delivery

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// lockStore makes the store's next commit wait until release is called, as a backup does.
func (s *script) lockStore() (release func()) {
	s.t.Helper()
	at := url.URL{Scheme: "file", Path: filepath.Join(s.r.store, "qos.sqlite3"), RawQuery: "_pragma=busy_timeout(5000)&_txlock=immediate"}
	db, err := sql.Open("sqlite", at.String())
	require.NoError(s.t, err)
	tx, err := db.BeginTx(s.t.Context(), nil)
	require.NoError(s.t, err)
	return func() {
		require.NoError(s.t, tx.Rollback())
		require.NoError(s.t, db.Close())
	}
}

// TestAStoreThatIsSlow holds up commits without failing them. The acks wait for the store, then the client measures less
// often, and so does one that connects. Each frame is stored once, although the clients send them twice.
//
// spec: SRV-03, SRV-04
func TestAStoreThatIsSlow(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	w, welcome := s.greet(0)
	require.Equal(t, 10_000, welcome.StatsIntervalMs)
	acked, slowed := uint64(0), 0
	for seq := range uint64(2) {
		release := s.lockStore()
		require.True(t, w.Send(s.log(seq+1)))
		harness.Pause(t.Context(), 3*time.Second)
		require.Empty(t, w.Heard(), "the store has not committed")
		release()
		for acked <= seq || seq == 1 && slowed == 0 {
			switch m := s.next(w).(type) {
			case *protocol.Ack:
				acked = m.Seq
			case *protocol.SlowDown:
				require.Equal(t, protocol.SlowDown{StatsIntervalMs: 20_000}, *m)
				slowed++
			default:
				require.Fail(t, "neither ack nor slow-down", "%T: %+v", m, m)
			}
		}
		require.Equal(t, seq+1, acked)
	}
	require.Equal(t, 1, slowed)

	again, welcome := s.greet(0)
	require.Equal(t, 20_000, welcome.StatsIntervalMs)
	require.True(t, again.Send(s.log(1), s.log(2)))
	s.acked(again, 2)
	require.Zero(t, s.r.collector.Metrics().Sum(framesDeferred))
	require.InDelta(t, 2, s.r.collector.Metrics().Sum(storeNew), 0)
	require.InDelta(t, 2, s.r.collector.Metrics().Sum(storeDuplicates), 0)
	s.stored(nil, 1, 2)
}
