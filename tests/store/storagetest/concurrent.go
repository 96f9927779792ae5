package storagetest

import "testing"

// ConcurrentEngine is an engine whose concurrency is tested. Settings, Notices and Accounts return an empty store each.
type ConcurrentEngine struct {
	UsersEngine
	Settings func(t *testing.T) SettingsStore
	Notices  func(t *testing.T) NoticesStore
	Accounts func(t *testing.T) AccountsStore
}

// RunConcurrent tests goroutines, and processes if the engine allows them, that use one store concurrently. All
// other tests except RunFollow call the store from one goroutine: they need no race detector, which makes SQLite 20
// times slower.
func RunConcurrent(t *testing.T, e ConcurrentEngine) {
	t.Helper()
	for name, test := range map[string]func(*usersFixture){
		"append":                 func(f *usersFixture) { testConcurrent(&f.fixture) },
		"append the same frame":  func(f *usersFixture) { testSameFrame(&f.fixture) },
		"pack":                   func(f *usersFixture) { testPackConcurrent(&packFixture{fixture: f.fixture, s: f.s}) },
		"erase while written to": testEraseWhileWritten,
		"erase digests":          testEraseDigests,
		"hours while written":    testHoursWhileWritten,
	} {
		t.Run(name, func(t *testing.T) { test(e.fixture(t)) })
	}
	for name, test := range map[string]func(*settingsFixture){
		"settings":           testSettingsConcurrent,
		"settings one maker": testSettingOneMaker,
		"settings poller":    testSettingsPoller,
	} {
		t.Run(name, func(t *testing.T) {
			s := e.Settings(t)
			test(&settingsFixture{t: t, s: s, store: s})
		})
	}
	t.Run("points", func(t *testing.T) { testPointsConcurrent(t, e.Notices(t)) })
	t.Run("audit", func(t *testing.T) { testAuditConcurrent(t, e.Accounts(t)) })
}

// fixture opens an empty store.
func (e UsersEngine) fixture(t *testing.T) *usersFixture {
	t.Helper()
	f := &usersFixture{engine: e, s: e.Open(t)}
	f.t, f.w, f.r = t, f.s, f.s
	return f
}
