package readapi

import (
	"cmp"
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

// listings are pages of several listings, each of which has the newest rows first. The zero value has none.
type listings[T any] struct {
	all    []placed[T]
	more   bool  // one of them continues
	damage error // storage.ErrDamaged of one: it lists what can be read
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
		l.all = append(l.all, placed[T]{rows[i], cursors[i]})
	}
	l.more = l.more || next != (storage.Cursor{})
	return nil
}

// newest returns the newest rows, each once, and where to continue: as many as the store returns for a limit.
func (l *listings[T]) newest(limit int) (rows []T, cursors []storage.Cursor, next storage.Cursor) {
	if limit = min(limit, maxLimit); limit <= 0 {
		limit = defaultLimit
	}
	slices.SortFunc(l.all, func(a, b placed[T]) int {
		return cmp.Or(b.at.Start.Compare(a.at.Start), cmp.Compare(b.at.Key, a.at.Key))
	})
	l.all = slices.CompactFunc(l.all, func(a, b placed[T]) bool { return a.at == b.at })
	all, more := l.all, l.more
	if len(all) > limit {
		all, more = all[:limit], true
	}
	for i := range all {
		rows, cursors = append(rows, all[i].row), append(cursors, all[i].at)
	}
	if more && len(all) > 0 {
		next = all[len(all)-1].at
	}
	return rows, cursors, next
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
