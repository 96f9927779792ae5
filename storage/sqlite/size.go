package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/qosrtc/qos/storage"
)

// Size returns the number of bytes in use: all pages of the file except free ones, which SQLite reuses.
func (s *Store) Size(ctx context.Context) (bytes int64, err error) {
	const used = `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`
	if err = s.read.QueryRowContext(ctx, used).Scan(&bytes); err != nil {
		return 0, s.wrap("size", err)
	}
	return bytes, nil
}

// Oldest returns the end of the conference that ended first. It returns storage.ErrNotFound if there is none.
func (s *Store) Oldest(ctx context.Context) (time.Time, error) {
	var end sql.NullInt64
	if err := s.read.QueryRowContext(ctx, `SELECT min(end_ms) FROM conference`).Scan(&end); err != nil {
		return time.Time{}, s.wrap("oldest", err)
	}
	if !end.Valid {
		return time.Time{}, storage.ErrNotFound
	}
	return time.UnixMilli(end.Int64), nil
}
