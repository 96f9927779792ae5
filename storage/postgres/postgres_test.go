package postgres

import (
	"testing"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// spec: SRV-03, PRIV-02, DASH-02, AUTH-03, OUT-03, DASH-03
func TestConcurrent(t *testing.T) {
	storagetest.RunConcurrent(t, storagetest.ConcurrentEngine{
		UsersEngine: usersEngine(func(t *testing.T) *Store { t.Helper(); return temp(t) }),
		Settings:    emptySettings, Notices: emptyNotices, Accounts: emptyAccounts,
	})
}

func TestConformance(t *testing.T) {
	t.Parallel() // as other long ones are: test and server wait for each other
	storagetest.Run(t, func(t *testing.T) (storage.Writer, storage.Reader) {
		t.Helper()
		s := temp(t)
		return s, s
	})
}
