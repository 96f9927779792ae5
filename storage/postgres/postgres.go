package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/group"
)

const (
	defaultConnections = 8
	defaultDays        = 400
)

// Options are the settings of a store. The zero value is ready to use.
type Options struct {
	// MaxConnections bounds the connections of this store: one writes, the others read. 0
	// means 8, the least is 2.
	MaxConnections int
	// Days is for how many days in the past sessions get a partition of their day. 0 means
	// 400; it should not be less than the retention.
	Days int
}

// Store is a store in a PostgreSQL database.
type Store struct {
	name    string // of the database, in errors
	options Options
	config  *pgx.ConnConfig
	read    *pool
	writer  *writer
	queue   *group.Queue[*job]
	words   *frames.Dictionary
	learnt  wordMark
	once    sync.Once
}

var (
	_ storage.Writer = (*Store)(nil)
	_ storage.Reader = (*Store)(nil)
)

// Open opens the store in the database that dsn names (a URL or key=value pairs) and makes
// its tables where there are none. It brings an older schema up to date. Close must be
// called.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = defaultConnections
	}
	if o.Days <= 0 {
		o.Days = defaultDays
	}
	read, err := newPool(config, max(1, o.MaxConnections-1))
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{
		name: databaseName(config.ConnConfig), options: o, config: config.ConnConfig,
		words: frames.NewDictionary(), read: read,
	}
	err = s.read.with(ctx, func(conn *pgx.Conn) error {
		if err := migrate(ctx, conn); err != nil {
			return err
		}
		return s.loadWords(ctx, conn)
	})
	if err != nil {
		s.read.close()
		return nil, s.wrap("open", err)
	}
	s.writer = newWriter(s)
	s.queue = group.Start(s.writer.commit, splits)
	return s, nil
}

// Close waits for the writes that were accepted and closes the connections. It may be
// called more than once; writes and reads after it fail.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.queue.Close()
		s.writer.close()
		s.read.close()
	})
	return nil
}

// wrap names the database and the operation, never the password.
func (s *Store) wrap(operation string, err error) error {
	hint := ""
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "53100": // disk_full
			hint = "the server has no space left: "
		case "53300": // too_many_connections
			hint = "the server allows no more connections: "
		case "42501": // insufficient_privilege
			hint = "the user may not do this: "
		}
	}
	return fmt.Errorf("store %s: %s: %s%w", s.name, operation, hint, err)
}

// dayOf returns the day of a time in ms.
func dayOf(ms int64) int64 { return ms / (24 * time.Hour).Milliseconds() }
