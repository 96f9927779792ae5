package readapi

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/storage"
)

// placed is a row and its place in a listing.
type placed[T any] struct {
	row T
	at  storage.Cursor
}

// listings merges pages of several listings, each of which has the newest rows first, into one page. The zero value has none.
type listings[T any] struct {
	limit  int          // of rows
	weigh  func(*T) int // what a row counts of most; nil: nothing
	most   int          // the page ends before the row with which it would weigh more, unless that is its first
	merged []placed[T]
	next   storage.Cursor // where the page continues; zero: nowhere
	damage error          // storage.ErrDamaged of one: it lists what can be read
}

// add takes what a store answered: rows, their places, where the listing continues, and its error. It returns the error
// unless it is storage.ErrDamaged.
func (l *listings[T]) add(rows []T, cursors []storage.Cursor, next storage.Cursor, err error) error {
	if errors.Is(err, storage.ErrDamaged) {
		l.damage = err
	} else if err != nil {
		return err
	}
	for i := range rows {
		l.merged = append(l.merged, placed[T]{rows[i], cursors[i]})
	}
	if next != (storage.Cursor{}) && (l.next == storage.Cursor{} || next.Compare(l.next) < 0) {
		l.next = next
	}
	slices.SortFunc(l.merged, func(a, b placed[T]) int { return a.at.Compare(b.at) })
	l.merged = slices.CompactFunc(l.merged, func(a, b placed[T]) bool { return a.at == b.at })
	l.cut()
	return nil
}

// cut drops the rows that the page has no room for, and those behind the place where one of the listings was not read yet.
func (l *listings[T]) cut() {
	limit := min(l.limit, maxLimit)
	if limit <= 0 {
		limit = defaultLimit
	}
	weight := 0
	for i := range l.merged {
		if l.next != (storage.Cursor{}) && l.merged[i].at.Compare(l.next) > 0 {
			l.keep(i)
			return
		}
		if l.weigh != nil {
			weight += l.weigh(&l.merged[i].row)
		}
		if i == limit || i > 0 && weight > l.most {
			l.next = l.merged[i-1].at
			l.keep(i)
			return
		}
	}
}

func (l *listings[T]) keep(rows int) {
	clear(l.merged[rows:]) // what is dropped is free
	l.merged = l.merged[:rows]
}

// page returns the rows, each once, their places, and where the page continues.
func (l *listings[T]) page() (rows []T, cursors []storage.Cursor, next storage.Cursor) {
	for i := range l.merged {
		rows, cursors = append(rows, l.merged[i].row), append(cursors, l.merged[i].at)
	}
	return rows, cursors, l.next
}

// damaged reports whether a listing lacks what the store cannot read, which the log says; any other error is returned.
func (a *API) damaged(ctx context.Context, what string, err error) (bool, error) {
	if !errors.Is(err, storage.ErrDamaged) {
		return false, err
	}
	a.telemetry.QosdashboardStoreErrors.Add(ctx, 1)
	a.log.Error("Some "+what+" cannot be read", zap.Error(err))
	return true, nil
}
