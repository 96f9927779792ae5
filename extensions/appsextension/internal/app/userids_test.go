package app

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/pseudonym"
)

// A user who is erased again, and was revoked up to an earlier time since, stays revoked up to the later one.
//
// spec: PRIV-02, AUTH-04
func TestEraseRevokedTwice(t *testing.T) {
	a, v := newApp(t), newVault(t, 1)
	for _, at := range []time.Time{noon, noon.Add(-time.Hour), noon.Add(time.Hour)} {
		revoked := maps.Clone(a.RevokedUsers)
		if revoked == nil {
			revoked = map[string]time.Time{}
		}
		revoked["ann"] = at
		a.RevokedUsers = revoked
		require.NoError(t, a.EraseRevoked("shop", []string{"ann"}, v))
		require.Len(t, a.RevokedUsers, 1)
		for id, left := range a.RevokedUsers {
			require.True(t, pseudonym.Is(id))
			require.False(t, left.Before(at))
			require.False(t, left.Before(noon))
		}
	}
}

// An app that hashes and has no key at all, as a damaged document, admits nobody. One that does not hash needs none.
//
// spec: PRIV-02
func TestHashingWithoutAKey(t *testing.T) {
	a, v := newApp(t), newVault(t, 1)
	require.False(t, a.Build("shop", v, noon).Auth.Disabled)
	a.UserIDs = UserIDsHash
	built := a.Build("shop", v, noon)
	require.True(t, built.Auth.Disabled)
	require.Nil(t, built.Auth.Recorded())
	a.UserIDKeys = []string{v.Seal(userIDPurpose("shop"), []byte("short"))}
	built = a.Build("shop", v, noon)
	require.True(t, built.Auth.Disabled)
	require.True(t, built.UserIDKeyUnusable)
}
