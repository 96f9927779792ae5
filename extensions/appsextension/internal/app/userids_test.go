package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
