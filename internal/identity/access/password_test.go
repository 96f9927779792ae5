package access

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/serve/throttle"
)

// spec: DASH-03
func TestPasswords(t *testing.T) {
	p, err := NewPasswords()
	require.NoError(t, err)
	check := func(password, hash string) bool {
		t.Helper()
		ok, err := p.Check(t.Context(), Applicant{Class: 1}, password, hash)
		require.NoError(t, err)
		return ok
	}
	hash, err := p.Hash(t.Context(), Applicant{Class: 1}, "correct horse caf\u00e9")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"), hash)
	require.NotContains(t, hash, "horse")
	require.True(t, check("correct horse caf\u00e9", hash))
	require.True(t, check("correct horse cafe\u0301", hash), "the same characters, typed on another keyboard")
	require.False(t, check("correct horse cafe", hash))
	require.False(t, check("", hash))
	require.False(t, check(strings.Repeat("x", 1<<20), hash))
	require.False(t, check("correct horse caf\u00e9", ""), "an unknown user")
	again, err := p.Hash(t.Context(), Applicant{Class: 1}, "correct horse caf\u00e9")
	require.NoError(t, err)
	require.NotEqual(t, hash, again)
}

// The memory of hashes is bounded: the rest waits, and beyond that is refused. A flood from new addresses fills one
// queue only, and one owner of many addresses not even that.
//
// spec: DASH-03
func TestPasswordsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewPasswords()
		require.NoError(t, err)
		l, owner := NewLockout(t0), netip.MustParseAddr("2001:db8:7::")
		ctx, cancel := context.WithCancel(t.Context())
		refused, ended := 0, make(chan error)
		try := func(a Applicant) {
			go func() {
				_, err := p.enter(ctx, a)
				ended <- err
			}()
			synctest.Wait()
			select {
			case err := <-ended:
				if errors.Is(err, throttle.ErrFull) {
					refused++
				}
			default:
			}
		}
		for n := range 200 { // one network of a host each, of one /48
			address := owner.As16()
			address[6], address[7] = byte(n>>8), byte(n)
			try(l.Applicant(Source{User: "ada", Network: netip.PrefixFrom(netip.AddrFrom16(address), 64)}))
		}
		require.Equal(t, unknownWaiting/2, int(p.unknown.Waiting()), "one owner has half of the queue")
		require.Equal(t, 200-1-unknownWaiting/2, refused)
		refused = 0
		try(l.Applicant(Source{User: "ada", Network: netip.MustParsePrefix("192.0.2.1/32")}))
		require.Zero(t, refused, "another network waits")
		for n := range 200 { // a flood from as many owners
			try(l.Applicant(Source{User: "ada", Network: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), 32)}))
		}
		require.Equal(t, unknownWaiting, int(p.unknown.Waiting()))
		require.Positive(t, refused)

		leave, err := p.enter(ctx, l.Applicant(Source{User: "ada", Device: "x"}))
		require.NoError(t, err, "a known device does not wait")
		ok, err := p.Check(ctx, l.Applicant(Source{User: "bob", Device: "y"}), "x", "")
		require.NoError(t, err)
		require.False(t, ok)
		leave()
		refused = 0
		for n := range 200 { // one user, who signed in on as many devices
			try(l.Applicant(Source{User: "eve", Device: string(rune('a' + n))}))
		}
		require.Positive(t, refused)
		refused = 0
		try(l.Applicant(Source{User: "ada", Device: "x"}))
		require.Zero(t, refused, "another user is not refused")
		waited := p.unknown.Waiting() + p.known.Waiting()
		cancel()
		for range waited {
			require.ErrorIs(t, <-ended, context.Canceled)
		}
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
