package vault

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newVault(t *testing.T, keys ...byte) *Vault {
	t.Helper()
	var masters [][]byte
	for _, key := range keys {
		masters = append(masters, bytes.Repeat([]byte{key}, 32))
	}
	v, err := New(masters...)
	require.NoError(t, err)
	return v
}

// spec: AUTH-05
func TestSealAndOpen(t *testing.T) {
	v := newVault(t, 1)
	for _, secret := range [][]byte{{}, []byte("s"), bytes.Repeat([]byte("long"), 1000)} {
		sealed := v.Seal("p", secret)
		require.NotEqual(t, sealed, v.Seal("p", secret), "never the same twice")
		got, newest, err := v.Open("p", sealed)
		require.NoError(t, err)
		require.True(t, newest)
		require.Equal(t, string(secret), string(got))
	}
}

// A key that rolled opens what it sealed and seals no more.
func TestRoll(t *testing.T) {
	sealed := newVault(t, 1).Seal("p", []byte("s"))
	rolled := newVault(t, 2, 1)
	got, newest, err := rolled.Open("p", sealed)
	require.NoError(t, err)
	require.False(t, newest)
	require.Equal(t, "s", string(got))
	_, _, err = newVault(t, 1).Open("p", rolled.Seal("p", []byte("s")))
	require.ErrorIs(t, err, ErrSeal)
	_, _, err = newVault(t, 2).Open("p", sealed)
	require.ErrorIs(t, err, ErrSeal)
}

func TestBrokenSeals(t *testing.T) {
	v := newVault(t, 1)
	sealed := v.Seal("app\x00key", []byte("secret"))
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	require.NoError(t, err)
	for i := range raw {
		changed := bytes.Clone(raw)
		changed[i] ^= 1
		_, _, err := v.Open("app\x00key", base64.RawURLEncoding.EncodeToString(changed))
		require.ErrorIs(t, err, ErrSeal)
	}
	for _, text := range []string{"", "AAAA", "not base64!", sealed[:20], sealed + "AAAA"} {
		_, _, err := v.Open("app\x00key", text)
		require.ErrorIs(t, err, ErrSeal)
	}
	_, _, err = v.Open("other\x00key", sealed)
	require.ErrorIs(t, err, ErrSeal, "a secret cannot be moved")
	_, err = New()
	require.Error(t, err)
}
