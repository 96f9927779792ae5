package group

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	linger = 4 * time.Millisecond
	commit = 10 * time.Millisecond
)

// record runs a queue whose commits take a while, and returns how to queue a job and the sizes of the groups so far.
func record(t *testing.T) (do func(job int) error, groups func() []int) {
	t.Helper()
	var sizes []int
	q := Start(func(jobs []int) error {
		sizes = append(sizes, len(jobs))
		time.Sleep(commit)
		return nil
	}, func(error) bool { return true }, linger)
	t.Cleanup(q.Close)
	do = func(job int) error { return q.Do(t.Context(), job) }
	return do, func() []int { synctest.Wait(); return sizes }
}

func TestJobsWaitForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		do, groups := record(t)
		began := time.Now()
		go func() {
			time.Sleep(linger - 1)
			wantNil(t, do(2))
		}()
		require.NoError(t, do(1))
		require.Equal(t, linger+commit, time.Since(began))
		require.Equal(t, []int{2}, groups())
		require.NoError(t, do(3)) // alone
		require.Equal(t, 2*(linger+commit), time.Since(began))
		require.Equal(t, []int{2, 1}, groups())
	})
}

func TestJobsThatQueuedDuringACommitDoNotWaitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		do, groups := record(t)
		began := time.Now()
		go func() { wantNil(t, do(1)) }()
		time.Sleep(linger + 1)
		require.NoError(t, do(2)) // while the first is committed, for longer than linger
		require.Equal(t, linger+2*commit, time.Since(began))
		require.Equal(t, []int{1, 1}, groups())
	})
}

func TestFullGroupsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		do, groups := record(t)
		began := time.Now()
		for job := range groupJobs - 1 {
			go func() { wantNil(t, do(job)) }()
		}
		synctest.Wait()
		require.NoError(t, do(groupJobs))
		require.Equal(t, commit, time.Since(began))
		require.Equal(t, []int{groupJobs}, groups())
	})
}

func TestCloseDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		q := Start(func([]int) error { return nil }, func(error) bool { return true }, time.Hour)
		done := make(chan error, 1)
		go func() { done <- q.Do(t.Context(), 1) }()
		synctest.Wait()
		q.Close()
		require.NoError(t, <-done)
		require.Equal(t, time.Duration(0), time.Since(began))
		require.ErrorIs(t, q.Do(t.Context(), 2), ErrClosed)
	})
}

// A job that fails takes no other with it, and one that nobody waits for is left out.
func TestEachJobHasItsOwnResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad")
		var committed []int
		q := Start(func(jobs []int) error {
			if slices.Contains(jobs, 2) {
				return bad
			}
			committed = append(committed, jobs...)
			return nil
		}, func(error) bool { return true }, linger)
		defer q.Close()
		gone, leave := context.WithTimeout(t.Context(), linger/2)
		defer leave()
		results := make([]chan error, 4)
		for i := range results {
			results[i] = make(chan error, 1)
			ctx := t.Context()
			if i == 3 {
				ctx = gone
			}
			go func() { results[i] <- q.Do(ctx, i) }()
			synctest.Wait()
		}
		require.NoError(t, <-results[0])
		require.NoError(t, <-results[1])
		require.ErrorIs(t, <-results[2], bad)
		require.ErrorIs(t, <-results[3], context.DeadlineExceeded)
		require.Equal(t, []int{0, 1}, committed)
	})
}

// wantNil reports an error from any goroutine.
func wantNil(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
