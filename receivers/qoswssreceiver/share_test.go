package qoswssreceiver

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A user has at most one full batch in the pipeline, or one call that is larger. Calls enter in their order, and those of
// other users at once.
//
// spec: SRV-04
func TestAUserHasAShareOfThePipeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shares
		var entered []string
		start := func(ctx context.Context, name string, messages int) (leave chan struct{}) {
			leave = make(chan struct{})
			go func() {
				give := s.enter(ctx, 1, messages)
				entered = append(entered, name)
				<-leave
				give()
			}()
			synctest.Wait()
			return leave
		}
		half := start(t.Context(), "half", maxBatchMessages/2)
		rest := start(t.Context(), "rest", maxBatchMessages/2)
		large := start(t.Context(), "large", 100*maxBatchMessages)
		ctx, cancel := context.WithCancel(t.Context())
		gone := start(ctx, "gone", 2)
		small := start(t.Context(), "small", 1)
		require.Equal(t, []string{"half", "rest"}, entered)
		s.enter(t.Context(), 2, maxBatchMessages)()
		f := func(leave chan struct{}, want ...string) {
			t.Helper()
			entered = nil
			close(leave)
			synctest.Wait()
			require.Equal(t, want, entered)
		}
		f(half)
		f(rest, "large")
		cancel()
		synctest.Wait()
		require.Equal(t, []string{"large", "gone"}, entered, "the receiver stops: nothing waits")
		f(gone)
		f(large, "small")
		f(small)
		require.Empty(t, s.users)
	})
}

// Where the address is not known, a name may be that of many: nobody waits.
//
// spec: SRV-04
func TestUsersWithoutAnAddressHaveNoShare(t *testing.T) {
	c := startCollector(t)
	s := welcomedAs(t, c.receiver.shared, testAppID, "alice", testSession, func([]byte) {})
	t.Cleanup(s.close)
	s.batchMessages = maxBatchMessages
	defer s.enter()()
	s.enter()()
	require.Empty(t, c.receiver.shared.shares.users)
	s.network = 7
	leave := s.enter()
	require.Len(t, c.receiver.shared.shares.users, 1)
	leave()
	require.Empty(t, c.receiver.shared.shares.users)
}
