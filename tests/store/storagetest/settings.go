package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// SettingsStore is an engine that stores settings.
type SettingsStore struct {
	storage.Settings
	// Reopen returns the same store, as after a restart.
	Reopen func(t *testing.T) storage.Settings
	// Beside opens the same store as another process; nil if only one process
	// may open it.
	Beside func(t *testing.T) storage.Settings
	// Limit is the maximum number of settings of a kind: storage.MaxSettings would be slow to
	// reach.
	Limit int
}

// RunSettings tests an engine's settings. open returns an empty store.
func RunSettings(t *testing.T, open func(t *testing.T) SettingsStore) {
	t.Helper()
	for name, test := range map[string]func(*settingsFixture){
		"values":          testSettingValues,
		"compare and set": testSettingCompareAndSet,
		"delete":          testSettingDelete,
		"since":           testSettingsSince,
		"pages":           testSettingsPages,
		"bounds":          testSettingBounds,
		"full":            testSettingsFull,
		"restart":         testSettingsRestart,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			test(&settingsFixture{t: t, s: s, store: s})
		})
	}
}

type settingsFixture struct {
	t     *testing.T
	s     storage.Settings
	store SettingsStore
}

const kind = "test"

func setting(id string, revision int64, body string) storage.Setting {
	return storage.Setting{Kind: kind, ID: id, Revision: revision, ChangedAt: epoch, Body: []byte(body)}
}

// put writes a setting and returns the stored one.
func (f *settingsFixture) put(s storage.Setting) storage.Setting {
	f.t.Helper()
	revision, err := f.s.PutSetting(f.t.Context(), s)
	require.NoError(f.t, err)
	s.Revision = revision
	return s
}

func (f *settingsFixture) revision() int64 {
	f.t.Helper()
	revision, err := f.s.SettingsRevision(f.t.Context())
	require.NoError(f.t, err)
	return revision
}

func (f *settingsFixture) since(revision int64) storage.SettingsChanges {
	f.t.Helper()
	changes, err := f.s.SettingsSince(f.t.Context(), kind, revision)
	require.NoError(f.t, err)
	return changes
}

func testSettingValues(f *settingsFixture) {
	t := f.t
	require.Zero(t, f.revision())
	require.Equal(t, storage.SettingsChanges{}, f.since(0))
	_, err := f.s.Setting(t.Context(), kind, "a")
	require.ErrorIs(t, err, storage.ErrNoSetting)

	odd := setting("a\x00b\xff/\u00fc", 0, "\x00\xff{}")
	odd.ChangedAt = time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC)
	for _, s := range []storage.Setting{setting("a", 0, "1"), odd, setting("A", 0, "other case")} {
		stored := f.put(s)
		require.Equal(t, f.revision(), stored.Revision)
		got, err := f.s.Setting(t.Context(), kind, s.ID)
		require.NoError(t, err)
		require.Equal(t, stored, got)
	}
	_, err = f.s.Setting(t.Context(), "another kind", "a")
	require.ErrorIs(t, err, storage.ErrNoSetting)
}

func testSettingCompareAndSet(f *settingsFixture) {
	t := f.t
	first := f.put(setting("a", 0, "1"))
	for _, wrong := range []int64{0, first.Revision + 1, first.Revision - 1} {
		_, err := f.s.PutSetting(t.Context(), setting("a", wrong, "2"))
		require.ErrorIs(t, err, storage.ErrConflict)
	}
	_, err := f.s.PutSetting(t.Context(), setting("b", first.Revision, "2"))
	require.ErrorIs(t, err, storage.ErrConflict, "there is none")
	require.Equal(t, first.Revision, f.revision(), "what was refused is no write")

	second := f.put(setting("a", first.Revision, "2"))
	require.Greater(t, second.Revision, first.Revision)
	_, err = f.s.PutSetting(t.Context(), setting("a", first.Revision, "3"))
	require.ErrorIs(t, err, storage.ErrConflict)
	got, err := f.s.Setting(t.Context(), kind, "a")
	require.NoError(t, err)
	require.Equal(t, second, got)
}

func testSettingDelete(f *settingsFixture) {
	t := f.t
	require.ErrorIs(t, f.s.DeleteSetting(t.Context(), kind, "a", 1), storage.ErrNoSetting)
	a, b := f.put(setting("a", 0, "1")), f.put(setting("b", 0, "1"))
	require.ErrorIs(t, f.s.DeleteSetting(t.Context(), kind, "a", b.Revision), storage.ErrConflict)
	require.ErrorIs(t, f.s.DeleteSetting(t.Context(), "another kind", "a", a.Revision), storage.ErrNoSetting)
	require.NoError(t, f.s.DeleteSetting(t.Context(), kind, "a", a.Revision))
	require.Greater(t, f.revision(), b.Revision, "a deletion is a write")
	_, err := f.s.Setting(t.Context(), kind, "a")
	require.ErrorIs(t, err, storage.ErrNoSetting)
	_, err = f.s.PutSetting(t.Context(), setting("a", a.Revision, "2"))
	require.ErrorIs(t, err, storage.ErrConflict, "who changes it must hear that it is gone")
	require.Greater(t, f.put(setting("a", 0, "3")).Revision, b.Revision+1)
}

func testSettingsSince(f *settingsFixture) {
	t := f.t
	a, b := f.put(setting("a", 0, "1")), f.put(setting("b", 0, "1"))
	f.put(storage.Setting{Kind: "another kind", ID: "c", Body: []byte("1")})
	require.Equal(t, storage.SettingsChanges{Revision: f.revision(), Changed: []storage.Setting{a, b}, Total: 2}, f.since(0))
	seen := f.revision()
	require.Equal(t, storage.SettingsChanges{Revision: seen, Total: 2}, f.since(seen))
	c := f.put(setting("A", 0, "1"))
	a = f.put(setting("a", a.Revision, "2"))
	require.Equal(t, storage.SettingsChanges{Revision: f.revision(), Changed: []storage.Setting{c, a}, Total: 3}, f.since(seen))
	seen = f.revision()
	require.NoError(t, f.s.DeleteSetting(t.Context(), kind, "a", a.Revision))
	require.Equal(t, storage.SettingsChanges{Revision: seen + 1, Total: 2}, f.since(seen))
}

func testSettingsPages(f *settingsFixture) {
	t := f.t
	want := []string{"\x00", "A", "a", "a\x00", "aa", "b", "\xff"}
	for _, id := range slices.Backward(want) {
		f.put(setting(id, 0, id))
	}
	f.put(storage.Setting{Kind: "another kind", ID: "c", Body: []byte("1")})
	var got []string
	for after := ""; ; after = got[len(got)-1] {
		page, err := f.s.SettingsPage(t.Context(), kind, after, 3)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), 3)
		if len(page) == 0 {
			break
		}
		for _, s := range page {
			require.Equal(t, s.ID, string(s.Body))
			got = append(got, s.ID)
		}
	}
	require.Equal(t, want, got)
	page, err := f.s.SettingsPage(t.Context(), kind, "", 0)
	require.NoError(t, err)
	require.Len(t, page, len(want))
}

func testSettingBounds(f *settingsFixture) {
	t := f.t
	for name, spoil := range map[string]func(*storage.Setting){
		"no kind":   func(s *storage.Setting) { s.Kind = "" },
		"long kind": func(s *storage.Setting) { s.Kind = strings.Repeat("k", storage.MaxSettingKindBytes+1) },
		"no id":     func(s *storage.Setting) { s.ID = "" },
		"long id":   func(s *storage.Setting) { s.ID = strings.Repeat("i", storage.MaxIDBytes+1) },
		"no body":   func(s *storage.Setting) { s.Body = nil },
		"long body": func(s *storage.Setting) { s.Body = make([]byte, storage.MaxSettingBodyBytes+1) },
		"revision":  func(s *storage.Setting) { s.Revision = -1 },
	} {
		s := setting("a", 0, "1")
		spoil(&s)
		_, err := f.s.PutSetting(t.Context(), s)
		require.ErrorIs(t, err, storage.ErrInvalid, name)
	}
	require.Zero(t, f.revision())
	largest := storage.Setting{
		Kind: strings.Repeat("k", storage.MaxSettingKindBytes), ID: strings.Repeat("i", storage.MaxIDBytes),
		ChangedAt: epoch, Body: bytes.Repeat([]byte{0xff}, storage.MaxSettingBodyBytes),
	}
	largest = f.put(largest)
	got, err := f.s.Setting(t.Context(), largest.Kind, largest.ID)
	require.NoError(t, err)
	require.Equal(t, largest, got)
}

// A kind with the maximum number of settings accepts changes, but no new ones.
func testSettingsFull(f *settingsFixture) {
	t := f.t
	var last storage.Setting
	for i := range f.store.Limit {
		last = f.put(setting(strconv.Itoa(i), 0, "1"))
	}
	_, err := f.s.PutSetting(t.Context(), setting("one more", 0, "1"))
	require.ErrorIs(t, err, storage.ErrFull)
	last = f.put(last)
	f.put(storage.Setting{Kind: "another kind", ID: "a", Body: []byte("1")})
	require.NoError(t, f.s.DeleteSetting(t.Context(), kind, last.ID, last.Revision))
	f.put(setting("one more", 0, "1"))
	require.Len(t, f.since(0).Changed, f.store.Limit)
}

// Several goroutines, in two processes if the engine allows it, increment one number: no increment is lost.
func testSettingsConcurrent(f *settingsFixture) {
	t := f.t
	f.put(setting("sum", 0, "0"))
	stores := []storage.Settings{f.s}
	if f.store.Beside != nil {
		stores = append(stores, f.store.Beside(t))
	}
	const writers, times = 4, 10
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			for range times {
				if err := addOne(t, stores[n%len(stores)]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	got, err := f.s.Setting(t.Context(), kind, "sum")
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(writers*times), string(got.Body))
	require.EqualValues(t, writers*times+1, got.Revision, "each write counts once")
}

func addOne(t *testing.T, s storage.Settings) error {
	t.Helper()
	for {
		have, err := s.Setting(t.Context(), kind, "sum")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(have.Body))
		if err != nil {
			return err
		}
		_, err = s.PutSetting(t.Context(), setting("sum", have.Revision, strconv.Itoa(n+1)))
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
}

// If several goroutines create a setting concurrently, one succeeds.
func testSettingOneMaker(f *settingsFixture) {
	t := f.t
	for round := range 5 {
		made := make([]bool, 8)
		var wg sync.WaitGroup
		for n := range made {
			wg.Go(func() {
				_, err := f.s.PutSetting(t.Context(), setting(strconv.Itoa(round), 0, strconv.Itoa(n)))
				if made[n] = err == nil; err != nil && !errors.Is(err, storage.ErrConflict) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		got, err := f.s.Setting(t.Context(), kind, strconv.Itoa(round))
		require.NoError(t, err)
		winner, err := strconv.Atoi(string(got.Body))
		require.NoError(t, err)
		for n, was := range made {
			require.Equal(t, n == winner, was)
		}
	}
}

// A client that polls while others write, change and delete has the stored settings in the end: no write
// becomes visible with a revision lower than one that was read.
func testSettingsPoller(f *settingsFixture) {
	t := f.t
	var writers sync.WaitGroup
	for n := range 4 {
		writers.Go(func() {
			if err := churn(t, f.s, n); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writers.Wait()
		close(done)
	}()
	held, seen := map[string]storage.Setting{}, int64(0)
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true // and poll once more
		default:
		}
		changes := f.since(seen)
		held, seen = merge(f, held, changes), changes.Revision
	}
	all := map[string]storage.Setting{}
	for _, s := range f.since(0).Changed {
		all[s.ID] = s
	}
	require.Equal(t, all, held)
}

// merge applies changes as a client that polls does.
func merge(f *settingsFixture, held map[string]storage.Setting, c storage.SettingsChanges) map[string]storage.Setting {
	for _, s := range c.Changed {
		held[s.ID] = s
	}
	if len(held) == c.Total {
		return held
	}
	held = map[string]storage.Setting{}
	for _, s := range f.since(0).Changed {
		held[s.ID] = s
	}
	return held
}

// churn creates, changes and deletes its own settings.
func churn(t *testing.T, s storage.Settings, n int) error {
	t.Helper()
	for i := range 12 {
		id := fmt.Sprintf("%d/%d", n, i%5)
		have, err := s.Setting(t.Context(), kind, id)
		if err == nil && i%3 == 0 {
			if err := s.DeleteSetting(t.Context(), kind, id, have.Revision); err != nil {
				return err
			}
			continue
		}
		if _, err := s.PutSetting(t.Context(), setting(id, have.Revision, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return nil
}

func testSettingsRestart(f *settingsFixture) {
	t := f.t
	a := f.put(setting("a", 0, "1"))
	b := f.put(setting("b", 0, "1"))
	require.NoError(t, f.s.DeleteSetting(t.Context(), kind, "b", b.Revision))
	revision := f.revision()
	f.s = f.store.Reopen(t)
	require.Equal(t, storage.SettingsChanges{Revision: revision, Changed: []storage.Setting{a}, Total: 1}, f.since(0))
	require.Equal(t, revision+1, f.put(setting("a", a.Revision, "2")).Revision)
}
