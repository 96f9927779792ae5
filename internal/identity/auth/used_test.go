package auth

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUsedNamesAreBounded(t *testing.T) {
	const most = 1 << 10
	u := usedNames{keep: time.Minute, most: most}
	require.True(t, u.use("first", now))
	for i := range 2*most - 1 {
		require.True(t, u.use(strconv.Itoa(i), now))
	}
	require.Zero(t, u.forgottenNames())
	require.False(t, u.use("first", now), "in the older generation")
	require.True(t, u.use("one more", now))
	require.Equal(t, uint64(most), u.forgottenNames())
	require.True(t, u.use("first", now), "forgotten")
	require.LessOrEqual(t, len(u.now)+len(u.old), 2*most)
	require.True(t, u.use("young", now.Add(time.Minute)))
	require.True(t, u.use("younger", now.Add(2*time.Minute)))
	require.Equal(t, uint64(most), u.forgottenNames(), "what has expired was not forgotten")
	require.Len(t, u.old, 1)
}

func TestUsedNamesAreKeptLongEnough(t *testing.T) {
	u := usedNames{keep: time.Minute, most: 1 << 10}
	require.True(t, u.use("a", now))
	require.True(t, u.use("b", now.Add(59*time.Second)))
	require.True(t, u.use("c", now.Add(60*time.Second)), "a new generation begins")
	require.False(t, u.use("b", now.Add(119*time.Second)), "used a minute ago")
	require.True(t, u.use("d", now.Add(120*time.Second)))
	require.True(t, u.use("a", now.Add(121*time.Second)), "used two minutes ago")
}

// held counts the names of all apps, as the memory itself does.
func held(t *testing.T, u *usedByApp) (n int) {
	t.Helper()
	for _, names := range u.apps {
		n += names.size()
	}
	require.Equal(t, n, u.held)
	return n
}

// An app that uses up many names has its own forgotten, not another's.
func TestUsedNamesOfAppsDoNotCrowdEachOtherOut(t *testing.T) {
	const most = 100
	u := usedByApp{keep: time.Minute, most: most, all: 10 * most}
	require.True(t, u.use("quiet", "first", now))
	for i := range 10 * most {
		require.True(t, u.use("loud", strconv.Itoa(i), now))
	}
	require.False(t, u.use("quiet", "first", now))
	require.Positive(t, u.forgottenNames())
	require.LessOrEqual(t, held(t, &u), 2*most+1)

	require.False(t, u.use("loud", strconv.Itoa(10*most-1), now))
	held(t, &u)

	// Many apps together: the largest one pays.
	for i := range 50 {
		for j := range 30 {
			require.True(t, u.use("app "+strconv.Itoa(i), strconv.Itoa(j), now))
		}
		require.LessOrEqual(t, held(t, &u), 10*most+1)
	}
	require.False(t, u.use("quiet", "first", now), "it has one name, all others have more")

	u.giveBack("quiet", "first")
	u.giveBack("nobody", "first")
	held(t, &u)
	require.True(t, u.use("quiet", "first", now))
	before := u.forgottenNames()
	require.True(t, u.use("late", "first", now.Add(time.Hour)))
	require.Len(t, u.apps, 1, "what is over is not kept")
	require.Equal(t, 1, held(t, &u))
	require.Equal(t, before, u.forgottenNames())
}

// forgottenNames counts the names that were forgotten before their time.
func (u *usedNames) forgottenNames() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.forgotten
}
