package auth

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// master is a master key of one letter.
func master(letter string) []byte { return []byte(strings.Repeat(letter, MinKeyBytes)) }

func mustKeys(t *testing.T, masters ...[]byte) *Keys {
	t.Helper()
	keys, err := NewKeys(masters...)
	require.NoError(t, err)
	return keys
}

func TestNewKeys(t *testing.T) {
	_, err := NewKeys()
	require.ErrorContains(t, err, "no key")
	_, err = NewKeys(master("a"), make([]byte, MinKeyBytes-1))
	require.ErrorContains(t, err, "31 bytes")
	a, b := testKeys(t), testKeys(t)
	require.Equal(t, a.Salt("x"), b.Salt("x"))
	require.NotEqual(t, a.Salt("x"), a.Salt("y"))
	require.NotEqual(t, a.newest().token, a.salt)
}

// A roll has three steps; at each, collectors that are one step apart understand each
// other, and what was made before is still good.
//
// spec: AUTH-02
func TestKeysRollWithoutAGap(t *testing.T) {
	kept := mustKeys(t, master("a")).SaltKey() // by a store, with its verifiers
	apps := registry{"123": newApp(mustKeys(t, master("a")), "123", []string{"secret"}, nil)}
	at := func(masters ...[]byte) *Authenticator {
		return New(mustKeys(t, masters...).WithSaltKey(kept), apps, nil)
	}
	before, listed := at(master("a")), at(master("a"), master("b"))
	turned, after := at(master("b"), master("a")), at(master("b"))
	for i, pair := range [][2]*Authenticator{{before, before}, {before, listed}, {listed, turned}, {turned, after}} {
		for _, ways := range [][2]*Authenticator{pair, {pair[1], pair[0]}} {
			c := newClient(t, ways[0], "123", "secret")
			reply, _, refusal := ways[1].ScramFinal(c.first(page, now), page, now)
			require.Nil(t, refusal, "step %d: the second POST at another collector", i)
			for _, a := range pair {
				_, refusal = a.Token(reply.Token, reply.Session, page, now)
				require.Nil(t, refusal, "step %d: the token", i)
			}
		}
	}
	old, _, refusal := login(t, before, "123", "secret", page)
	require.Nil(t, refusal)
	_, refusal = turned.Token(old.Token, old.Session, page, now)
	require.Nil(t, refusal, "the old key's token while the old key is listed")
	_, refusal = after.Token(old.Token, old.Session, page, now)
	require.Equal(t, protocol.CodeAuthFailed, refusal.Code, "and afterwards")
}

// From outside a roll changes no salt, of a known app as little as of an unknown one: else
// those that change would be the unknown ones.
//
// spec: AUTH-01
func TestSaltsStayWhileKeysRoll(t *testing.T) {
	keys := mustKeys(t, master("a"))
	rolled := mustKeys(t, master("c"), master("b")).WithSaltKey(keys.SaltKey())
	require.Equal(t, keys.Salt("unknown"), rolled.Salt("unknown"))
	require.Equal(t, keys.Salt("x"), mustKeys(t, master("b"), master("a")).Salt("x"), "salts follow the oldest key where none is kept")
	require.NotEqual(t, keys.Salt("x"), mustKeys(t, master("b")).Salt("x"))
}
