//go:build fuzz

package accessextension

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/qosrtc/qos/storage"
)

// memory is a store for the fuzzer, which would instrument the engines for minutes.
type memory struct {
	engine
	mu       sync.Mutex
	revision int64
	settings map[[2]string]storage.Setting
	logins   map[string]storage.Login
}

func newStore(testing.TB) engine {
	return &memory{settings: map[[2]string]storage.Setting{}, logins: map[string]storage.Login{}}
}

// newPostgres is for tests that the fuzzer does not run.
func newPostgres(t *testing.T) (one, two engine) { t.Helper(); return newStore(t), newStore(t) }

// SettingsPage implements storage.Settings for a caller that needs to know whether there are any.
func (m *memory) SettingsPage(_ context.Context, kind, _ string, _ int) (page []storage.Setting, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.settings {
		if s.Kind == kind {
			page = append(page, s)
		}
	}
	return page, nil
}

// Setting implements storage.Settings.
func (m *memory) Setting(_ context.Context, kind, id string) (storage.Setting, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.settings[[2]string{kind, id}]
	if !ok {
		return s, storage.ErrNoSetting
	}
	return s, nil
}

// PutSetting implements storage.Settings.
func (m *memory) PutSetting(_ context.Context, s storage.Setting) (int64, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{s.Kind, s.ID}
	if m.settings[key].Revision != s.Revision {
		return 0, storage.ErrConflict
	}
	m.revision++
	s.Revision = m.revision
	m.settings[key] = s
	return s.Revision, nil
}

// DeleteSetting implements storage.Settings.
func (m *memory) DeleteSetting(_ context.Context, kind, id string, revision int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.settings[[2]string{kind, id}].Revision != revision {
		return storage.ErrConflict
	}
	delete(m.settings, [2]string{kind, id})
	return nil
}

// AddLogin implements storage.Accounts.
func (m *memory) AddLogin(_ context.Context, l storage.Login, _ int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.logins[string(l.ID)] = l
	return l.Check()
}

// Login implements storage.Accounts.
func (m *memory) Login(_ context.Context, id []byte) (storage.Login, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.logins[string(id)]
	if !ok {
		return l, storage.ErrNoLogin
	}
	return l, nil
}

// SeeLogin implements storage.Accounts.
func (*memory) SeeLogin(context.Context, []byte, time.Time) error { return nil }

// DeleteLogin implements storage.Accounts.
func (m *memory) DeleteLogin(_ context.Context, id []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.logins, string(id))
	return nil
}

// AddAudit implements storage.Accounts. No entry is kept.
func (*memory) AddAudit(_ context.Context, entries []storage.AuditEntry) error {
	for i := range entries {
		if err := entries[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// ForgetLogins implements storage.Accounts.
func (*memory) ForgetLogins(context.Context, time.Time, time.Time) error { return nil }

// ForgetAudit implements storage.Accounts.
func (*memory) ForgetAudit(context.Context, time.Time, int64) error { return nil }
