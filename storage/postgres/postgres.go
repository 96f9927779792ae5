package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/group"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

const (
	defaultConnections = 8
	defaultDays        = 400
	// patience bounds one operation of the server, except those of retention.
	patience = 30 * time.Second
)

// MaxHashPartitions is the maximum of Options.HashPartitions. A listing locks each partition and its
// indexes: 64 use 1,100 of the 6,400 locks that a server has by default.
const MaxHashPartitions = 64

// Options are the settings of a store. The zero value is ready to use.
type Options struct {
	// MaxConnections bounds the connections of this store: one writes, one listens after the first
	// Follow, the others read. 0 means 8. The minimum is 2, or 3 with Follow.
	MaxConnections int
	// Days is the number of past days for which sessions get a partition of their day. 0 means
	// 400; it should not be less than the retention.
	Days int
	// HashPartitions is the number of partitions, by a hash of AppID and conferenceID, of the tables of
	// conferences, those of each day included. 0 means none, the maximum is MaxHashPartitions. It has an
	// effect only when Open creates the tables.
	HashPartitions int
	// Linger is how long a write may wait for others that share its transaction. 0: it does not wait.
	Linger time.Duration

	patience, notifyPause, checkInterval time.Duration // 0: the constants; tests set others
}

// Store is a store in a PostgreSQL database.
type Store struct {
	settings
	notices
	accounts
	users
	precalls
	lists
	hours
	name     string // of the database, in errors
	number   int32  // random number of this collector
	options  Options
	config   *pgx.ConnConfig
	read     *pool
	writer   *writer
	queue    *group.Queue[*job]
	notifier *notifier
	listener *listener
	once     sync.Once
}

var (
	_ storage.Writer    = (*Store)(nil)
	_ storage.Reader    = (*Store)(nil)
	_ storage.Follower  = (*Store)(nil)
	_ storage.Settings  = (*Store)(nil)
	_ storage.Notices   = (*Store)(nil)
	_ storage.Accounts  = (*Store)(nil)
	_ storage.Users     = (*Store)(nil)
	_ storage.HourMaker = (*Store)(nil)
)

// Open opens the store in the database at dsn (a URL or key=value pairs), creates its tables if
// there are none and applies missing migrations. The caller must call Close.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	if o.HashPartitions < 0 || o.HashPartitions > MaxHashPartitions {
		return nil, fmt.Errorf("open store: HashPartitions must be 0 to %d (got %d)", MaxHashPartitions, o.HashPartitions)
	}
	o.setDefaults()
	read, err := newPool(config, max(1, o.MaxConnections-2))
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{
		name: databaseName(config.ConnConfig), options: o, config: config.ConnConfig,
		read: read, number: rand.Int32(), //nolint:gosec // not a secret
	}
	s.settings, s.lists = sqlstore.NewSettings(s.database(), storage.MaxSettings), sqlstore.NewLists(s.database())
	s.notices = sqlstore.NewNotices(s.database())
	s.accounts = sqlstore.NewAccounts(s.database())
	s.users = sqlstore.NewUsers(s.database(), s.erasing())
	s.precalls = sqlstore.NewPreCalls(s.database(), s.writePreCalls)
	s.hours = sqlstore.NewHours(s.database(), s.hourWriter())
	if err := s.read.withConn(ctx, func(conn *pgx.Conn) error { return migrate(ctx, conn, o.HashPartitions) }); err != nil {
		s.read.close()
		return nil, s.wrap("open", err)
	}
	s.listener = newListener(s.config, o.checkInterval)
	s.notifier = startNotifier(read, o.notifyPause)
	s.writer = newWriter(s)
	s.queue = group.Start(s.writer.commit, splittable, o.Linger)
	return s, nil
}

func (o *Options) setDefaults() {
	o.MaxConnections = cmp.Or(o.MaxConnections, defaultConnections)
	o.Days = cmp.Or(max(0, o.Days), defaultDays)
	o.patience = cmp.Or(o.patience, patience)
	o.notifyPause = cmp.Or(o.notifyPause, notifyPause)
	o.checkInterval = cmp.Or(o.checkInterval, checkInterval)
}

// Close waits for accepted writes and closes the connections. It may be
// called more than once. Later writes and reads fail.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.queue.Close()
		s.notifier.close()
		s.listener.close()
		s.writer.close()
		s.read.close()
	})
	return nil
}

// Codes of the server.
const (
	diskFull = "53100"
	readOnly = "25006" // read_only_sql_transaction
)

// wrap adds the name of the database, which has no password, and the operation to err.
func (s *Store) wrap(operation string, err error) error {
	hint := ""
	switch code(err) {
	case diskFull:
		hint = "the server has no space left: "
	case readOnly:
		hint = "the server is read-only, perhaps a standby: "
	case "53300": // too_many_connections
		hint = "the server allows no more connections: "
	case "42501": // insufficient_privilege
		hint = "the user may not do this: "
	}
	if errors.Is(err, context.DeadlineExceeded) {
		hint = "the server did not answer in time: "
	}
	return fmt.Errorf("store %s: %s: %s%w", s.name, operation, hint, err)
}

// dayOf returns the day of a time in ms, counted from the epoch.
func dayOf(ms int64) int64 { return ms / (24 * time.Hour).Milliseconds() }
