package storagetest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// AccountsStore is an engine that stores logins and audit entries.
type AccountsStore struct {
	storage.Accounts
	// Reopen returns the same store, as after a restart.
	Reopen func(t *testing.T) storage.Accounts
}

// RunAccounts tests an engine's logins and audit entries. open returns an empty store.
func RunAccounts(t *testing.T, open func(t *testing.T) AccountsStore) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, AccountsStore){
		"login values":     testLoginValues,
		"logins of a user": testLoginsOfUser,
		"most logins":      testMostLogins,
		"forget logins":    testForgetLogins,
		"bounds":           testAccountBounds,
		"audit values":     testAuditValues,
		"audit pages":      testAuditPages,
		"forget audit":     testForgetAudit,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func loginID(n byte) []byte { return bytes.Repeat([]byte{n}, storage.LoginIDBytes) }

func login(n byte, user string, created, seen float64) storage.Login {
	return storage.Login{ID: loginID(n), User: user, Generation: int64(n), Method: "password", CreatedAt: at(created), SeenAt: at(seen)}
}

func addLogins(t *testing.T, s storage.Accounts, logins ...storage.Login) {
	t.Helper()
	for _, l := range logins {
		require.NoError(t, s.AddLogin(t.Context(), l, 100))
	}
}

// present returns the numbers of the logins 1 to 9 that are stored.
func present(t *testing.T, s storage.Accounts) (found []int) {
	t.Helper()
	for n := range byte(10) {
		l, err := s.Login(t.Context(), loginID(n))
		if err == nil {
			require.Equal(t, loginID(n), l.ID)
			found = append(found, int(n))
		} else {
			require.ErrorIs(t, err, storage.ErrNoLogin)
		}
	}
	return found
}

func testLoginValues(t *testing.T, s AccountsStore) {
	t.Helper()
	want := login(1, "ada\x00\xff", 1, 2)
	want.Generation, want.Method = 1<<62, "\x00"
	addLogins(t, s, want)
	require.Error(t, s.AddLogin(t.Context(), want, 100), "an id is never used again")
	next := s.Reopen(t)
	got, err := next.Login(t.Context(), want.ID)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NoError(t, next.SeeLogin(t.Context(), want.ID, at(5)))
	require.NoError(t, next.SeeLogin(t.Context(), want.ID, at(3)), "another collector's clock")
	require.NoError(t, next.SeeLogin(t.Context(), loginID(2), at(3)))
	got, err = next.Login(t.Context(), want.ID)
	require.NoError(t, err)
	require.Equal(t, at(5), got.SeenAt)
	require.Equal(t, []int{1}, present(t, next))
}

func testLoginsOfUser(t *testing.T, s AccountsStore) {
	t.Helper()
	addLogins(t, s, login(1, "ada", 1, 1), login(2, "ada", 1, 1), login(3, "ada", 1, 1), login(4, "Ada", 1, 1), login(5, "bob", 1, 1))
	require.NoError(t, s.DeleteLogins(t.Context(), "ada", loginID(2)))
	require.Equal(t, []int{2, 4, 5}, present(t, s))
	require.NoError(t, s.DeleteLogins(t.Context(), "bob", nil))
	require.NoError(t, s.DeleteLogin(t.Context(), loginID(4)))
	require.NoError(t, s.DeleteLogin(t.Context(), loginID(4)))
	require.Equal(t, []int{2}, present(t, s))
}

func testMostLogins(t *testing.T, s AccountsStore) {
	t.Helper()
	addLogins(t, s, login(1, "ada", 1, 9), login(2, "ada", 2, 2), login(3, "ada", 3, 3), login(4, "bob", 1, 1))
	require.NoError(t, s.AddLogin(t.Context(), login(5, "ada", 4, 4), 3))
	require.Equal(t, []int{1, 3, 4, 5}, present(t, s))
	require.NoError(t, s.AddLogin(t.Context(), login(6, "ada", 4, 5), 1))
	require.Equal(t, []int{4, 6}, present(t, s))
}

func testForgetLogins(t *testing.T, s AccountsStore) {
	t.Helper()
	addLogins(t, s, login(1, "ada", 1, 100), login(2, "ada", 50, 60), login(3, "ada", 50, 100))
	require.NoError(t, s.ForgetLogins(t.Context(), at(50), at(100)))
	require.Equal(t, []int{3}, present(t, s))
}

func testAccountBounds(t *testing.T, s AccountsStore) {
	t.Helper()
	long := strings.Repeat("x", storage.MaxIDBytes+1)
	for i, change := range []func(*storage.Login){
		func(l *storage.Login) { l.ID = l.ID[1:] }, func(l *storage.Login) { l.User = "" }, func(l *storage.Login) { l.User = long },
		func(l *storage.Login) { l.Method = long },
	} {
		l := login(1, "ada", 1, 1)
		change(&l)
		require.ErrorIs(t, s.AddLogin(t.Context(), l, 9), storage.ErrInvalid, i)
	}
	require.Empty(t, present(t, s))
	for i, change := range []func(*storage.AuditEntry){
		func(e *storage.AuditEntry) { e.Action = "" }, func(e *storage.AuditEntry) { e.Action = long }, func(e *storage.AuditEntry) { e.Actor = long },
		func(e *storage.AuditEntry) { e.AppID = long }, func(e *storage.AuditEntry) { e.Target = long },
		func(e *storage.AuditEntry) { e.Body = make([]byte, storage.MaxAuditBodyBytes+1) },
	} {
		e := audit("ada", 1)
		change(&e)
		require.ErrorIs(t, s.AddAudit(t.Context(), []storage.AuditEntry{audit("ada", 1), e}), storage.ErrInvalid, i)
	}
	require.Empty(t, auditPage(t, s, storage.AuditQuery{}))
}

func audit(actor string, seconds float64) storage.AuditEntry {
	return storage.AuditEntry{At: at(seconds), Actor: actor, Action: "signIn", Body: []byte("{}")}
}

func auditPage(t *testing.T, s storage.Accounts, q storage.AuditQuery) []storage.AuditEntry {
	t.Helper()
	page, err := s.AuditPage(t.Context(), q)
	require.NoError(t, err)
	return page
}

func actors(page []storage.AuditEntry) (names []string) {
	for i := range page {
		names = append(names, page[i].Actor)
	}
	return names
}

func testAuditValues(t *testing.T, s AccountsStore) {
	t.Helper()
	want := storage.AuditEntry{
		At: at(1.5), Actor: "a\x00\xff", Action: "conference", AppID: strings.Repeat("a", storage.MaxIDBytes),
		Target: strings.Repeat("\xff", storage.MaxIDBytes), Body: bytes.Repeat([]byte{0}, storage.MaxAuditBodyBytes),
	}
	require.NoError(t, s.AddAudit(t.Context(), []storage.AuditEntry{want}))
	require.NoError(t, s.AddAudit(t.Context(), []storage.AuditEntry{{At: at(2), Action: "empty"}}))
	require.NoError(t, s.AddAudit(t.Context(), nil))
	page := auditPage(t, s.Reopen(t), storage.AuditQuery{})
	require.Len(t, page, 2)
	require.Empty(t, page[0].Body)
	want.Key = page[1].Key
	require.Positive(t, want.Key)
	require.Equal(t, want, page[1])
}

func testAuditPages(t *testing.T, s AccountsStore) {
	t.Helper()
	b := audit("b", 2)
	b.AppID, b.Action = "shop", "conference"
	require.NoError(t, s.AddAudit(t.Context(), []storage.AuditEntry{audit("a", 9), b, audit("c", 1)}))
	require.NoError(t, s.AddAudit(t.Context(), []storage.AuditEntry{audit("a", 3)}))
	all := auditPage(t, s, storage.AuditQuery{})
	require.Equal(t, []string{"a", "c", "b", "a"}, actors(all))
	require.Equal(t, []string{"a", "a"}, actors(auditPage(t, s, storage.AuditQuery{Actor: "a"})))
	require.Equal(t, []string{"b"}, actors(auditPage(t, s, storage.AuditQuery{AppID: "shop"})))
	require.Equal(t, []string{"b"}, actors(auditPage(t, s, storage.AuditQuery{Action: "conference", Actor: "b", AppID: "shop"})))
	require.Empty(t, auditPage(t, s, storage.AuditQuery{Action: "conference", Actor: "a"}))
	require.Equal(t, []string{"b"}, actors(auditPage(t, s, storage.AuditQuery{Before: all[1].Key, Limit: 1})))
	require.Empty(t, auditPage(t, s, storage.AuditQuery{Before: all[3].Key}))
}

func testForgetAudit(t *testing.T, s AccountsStore) {
	t.Helper()
	require.NoError(t, s.ForgetAudit(t.Context(), at(0), 10))
	require.NoError(t, s.AddAudit(t.Context(), []storage.AuditEntry{audit("a", 1), audit("b", 2), audit("c", 3), audit("d", 4)}))
	require.NoError(t, s.ForgetAudit(t.Context(), at(2), 10))
	require.Equal(t, []string{"d", "c", "b"}, actors(auditPage(t, s, storage.AuditQuery{})))
	last := auditPage(t, s, storage.AuditQuery{Limit: 1})[0].Key
	require.NoError(t, s.ForgetAudit(t.Context(), at(0), 2))
	require.Equal(t, []string{"d", "c"}, actors(auditPage(t, s, storage.AuditQuery{})))
	require.NoError(t, s.ForgetAudit(t.Context(), at(99), 2))
	require.NoError(t, s.AddAudit(t.Context(), []storage.AuditEntry{audit("e", 1)}))
	require.Greater(t, auditPage(t, s, storage.AuditQuery{})[0].Key, last, "a key is never used again")
}

// Concurrent writers lose no entry.
func testAuditConcurrent(t *testing.T, s AccountsStore) {
	t.Helper()
	const writers, each = 4, 20
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := s.AddAudit(t.Context(), []storage.AuditEntry{audit(fmt.Sprint(w, i), 1)}); err != nil {
					errs[w] = err
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	seen := map[string]bool{}
	var before int64
	for range writers * each {
		page := auditPage(t, s, storage.AuditQuery{Before: before, Limit: 7})
		if len(page) == 0 {
			break
		}
		for _, name := range actors(page) {
			require.False(t, seen[name])
			seen[name] = true
		}
		before = page[len(page)-1].Key
	}
	require.Len(t, seen, writers*each)
}
