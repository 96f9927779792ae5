package harness

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Check balances the account of clients with what a store holds, to zero, and returns the
// sum of the accounts:
//
//   - made = acknowledged + open, and acknowledged = taken + refused + skipped;
//   - each record of an acknowledged frame stands in the store once, its content equal;
//   - a refused frame left nothing; one that is open is there whole or not at all;
//   - there is nothing that no client made.
func Check(tb testing.TB, clients []*Client, stored Stored) Ledger {
	tb.Helper()
	sum, err := Balance(clients, stored)
	require.NoError(tb, err)
	tb.Log(sum)
	return sum
}

// Balance is Check for those who want the error.
func Balance(clients []*Client, stored Stored) (Ledger, error) {
	var sum Ledger
	var errs []error
	known := 0 // identities that clients made
	for _, c := range clients {
		l := c.Ledger()
		if l.Made != l.Acked+l.Open || l.Acked != l.Taken+l.Refused+l.Skipped {
			errs = append(errs, fmt.Errorf("session %s does not balance: %v", c.session, l))
		}
		sum.Add(l)
		for _, f := range c.frames {
			found, err := f.balance(c.session, stored)
			known += found
			errs = append(errs, err)
		}
	}
	if known != len(stored) {
		errs = append(errs, fmt.Errorf("%d identities in the store that no client made", len(stored)-known))
	}
	return sum, first(errs)
}

// first joins as many errors as somebody reads.
func first(errs []error) error {
	const most = 10
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) > most {
		errs = append(errs[:most:most], fmt.Errorf("and %d more", len(errs)-most))
	}
	return errors.Join(errs...)
}

// balance compares one frame with the store and counts what it found of it.
func (f *Frame) balance(session string, stored Stored) (found int, err error) {
	missing := 0
	for index, want := range f.Records {
		got := stored[Identity{session, f.Seq, index}]
		switch {
		case want.None && len(got) > 0 || len(got) > 1:
			return found, fmt.Errorf("%s %d/%d: %d records in the store: %v", session, f.Seq, index, len(got), got)
		case want.None:
		case len(got) == 0:
			missing++
		case got[0] != want:
			return found, fmt.Errorf("%s %d/%d: the store has %v, the client made %v", session, f.Seq, index, got[0], want)
		default:
			found++
		}
	}
	if missing > 0 && (f.Acked || found > 0) {
		return found, fmt.Errorf("%s %d: %d of %d records are missing: %s", session, f.Seq, missing, len(f.Records), f.Text)
	}
	return found, nil
}
