package access

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/throttle"
)

// spec: DASH-03
func TestPasswords(t *testing.T) {
	p, err := NewPasswords()
	require.NoError(t, err)
	check := func(password, hash string) bool {
		t.Helper()
		ok, err := p.Check(t.Context(), 1, password, hash)
		require.NoError(t, err)
		return ok
	}
	hash, err := p.Hash(t.Context(), 1, "correct horse caf\u00e9")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"), hash)
	require.NotContains(t, hash, "horse")
	require.True(t, check("correct horse caf\u00e9", hash))
	require.True(t, check("correct horse cafe\u0301", hash), "the same characters, typed on another keyboard")
	require.False(t, check("correct horse cafe", hash))
	require.False(t, check("", hash))
	require.False(t, check(strings.Repeat("x", 1<<20), hash))
	require.False(t, check("correct horse caf\u00e9", ""), "an unknown user")
	again, err := p.Hash(t.Context(), 1, "correct horse caf\u00e9")
	require.NoError(t, err)
	require.NotEqual(t, hash, again)
}

// The memory of hashes is bounded: the rest waits, and beyond that is refused.
func TestPasswordsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Passwords{gate: throttle.NewGate(2, 1)}
		require.NoError(t, p.gate.Enter(t.Context(), 1))
		require.NoError(t, p.gate.Enter(t.Context(), 2))
		waiting, cancel := context.WithCancel(t.Context())
		given := make(chan error)
		go func() {
			_, err := p.Check(waiting, 3, "x", "y")
			given <- err
		}()
		synctest.Wait()
		_, err := p.Check(t.Context(), 4, "x", "y")
		require.ErrorIs(t, err, throttle.ErrFull)
		_, err = p.Hash(t.Context(), 4, "x")
		require.ErrorIs(t, err, throttle.ErrFull)
		cancel()
		require.ErrorIs(t, <-given, context.Canceled)
	})
}

func TestPasswordRules(t *testing.T) {
	f := func(user, password, want string) {
		t.Helper()
		err := CheckPassword(user, password)
		if want == "" {
			require.NoError(t, err, password)
		} else {
			require.ErrorContains(t, err, want, password)
			require.NotContains(t, err.Error(), password)
		}
	}
	f("ada", "correct horse", "")
	f("ada", "größer als nichts", "")
	f("ada", "日本語の長いパスワードです", "")
	f("ada", "elevenchars", "password must have 12 to 128 characters (got 11)")
	f("ada", strings.Repeat("abcdefg ", 16)+"x", "password must have 12 to 128 characters (got 129)")
	f("ada", "a\x00 control character", "without control characters")
	f("ada", "not UTF-8 at all \xff", "without control characters")
	f("ada", "password1234", "common password")
	f("ada", "PASSWORD1234", "common password")
	f("ada", "aaaaaaaaaaaaa", "repeat a few characters")
	f("ada", "abcabcabcabcabc", "repeat a few characters")
	f("ada", "abcdefabcdefabcdef", "repeat a few characters")
	f("ada", "234567890123456", "repeat a few characters")
	f("ada.lovelace", "ada.lovelace1", "name")
	f("ada.lovelace", "Ada.Lovelace!!", "name")
	f("ada.lovelace", "ada.lovelace and a long rest", "")
	for range 20 {
		f("ada", NewPassword(), "")
	}
	first, second := NewPassword(), NewPassword()
	require.NotEqual(t, first, second)
	require.GreaterOrEqual(t, len(commonPasswords), 50)
	for common := range commonPasswords {
		require.GreaterOrEqual(t, len(common), MinPassword, "a shorter one is refused anyway")
		require.Equal(t, strings.ToLower(common), common)
	}
}
