package pseudonym_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/pseudonym"
)

func secret(b byte) []byte { return bytes.Repeat([]byte{b}, pseudonym.KeyBytes) }

// spec: PRIV-02
func TestID(t *testing.T) {
	k := pseudonym.New("shop", secret(1))
	ann := k.ID("ann")
	require.Len(t, ann, pseudonym.Length)
	require.True(t, pseudonym.Is(ann))
	require.Equal(t, ann, pseudonym.New("shop", secret(1)).ID("ann"), "stable")
	different := map[string]bool{
		ann: true, k.ID("Ann"): true, k.ID("ann "): true, k.ID("bob"): true,
		pseudonym.New("shop2", secret(1)).ID("ann"): true, pseudonym.New("shop", secret(2)).ID("ann"): true,
	}
	require.Len(t, different, 6)
	require.Empty(t, k.ID(""))
}

// The pseudonym is HMAC-SHA-256 by a key of the application, in 130 bits: documented, so that others can compute
// it.
//
// spec: PRIV-02
func TestIDIsDocumented(t *testing.T) {
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	sum := base32.StdEncoding.EncodeToString(mac(mac(secret(7), "qos 1 users of shop"), "ann@example.org"))
	require.Equal(t, "u_"+strings.ToLower(sum[:26]), pseudonym.New("shop", secret(7)).ID("ann@example.org"))
}

// An older key finds what it made, and makes nothing.
func TestAll(t *testing.T) {
	older, both := pseudonym.New("shop", secret(1)), pseudonym.New("shop", secret(2), secret(1))
	require.Equal(t, []string{both.ID("ann"), older.ID("ann")}, both.All("ann"))
	require.NotEqual(t, both.ID("ann"), older.ID("ann"))
	require.Empty(t, both.All(""))
	require.Empty(t, (*pseudonym.Keys)(nil).All("ann"))
}

func TestEqual(t *testing.T) {
	none := (*pseudonym.Keys)(nil)
	k := pseudonym.New("shop", secret(1))
	require.True(t, none.Equal(nil))
	require.False(t, none.Equal(k))
	require.False(t, k.Equal(nil))
	require.True(t, k.Equal(pseudonym.New("shop", secret(1))))
	require.False(t, k.Equal(pseudonym.New("shop", secret(2))))
	require.False(t, k.Equal(pseudonym.New("shop", secret(1), secret(2))))
	require.True(t, reflect.DeepEqual(k, pseudonym.New("shop", secret(1))), "as the receiver compares applications")
}

func TestIs(t *testing.T) {
	for _, text := range []string{"", "u_", "ann", "u_abc", "U_abcdefghijklmnopqrstuvwxyz", "u_abcdefghijklmnopqrstuvwxy1", "u_abcdefghijklmnopqrstuvwxyza"} {
		require.False(t, pseudonym.Is(text), text)
	}
	require.True(t, pseudonym.Is("u_abcdefghijklmnopqrstuvwxyz"))
}

func BenchmarkID(b *testing.B) {
	k := pseudonym.New("shop", secret(1))
	b.ReportAllocs()
	for b.Loop() {
		k.ID("ann@example.org")
	}
}
