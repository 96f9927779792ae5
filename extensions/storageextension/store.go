package storageextension

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/storageextension/internal/metadata"
	"github.com/qosrtc/qos/internal/serve/periodic"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/storage/sqlite"
)

// fileName is the store's file in the directory. SQLite puts others beside it.
const fileName = "qos.sqlite3"

// store is the extension. Others ask the host for it and use Writer, Reader,
// Follower, Settings, Notices, Remover, Accounts and Users.
type store struct {
	cfg       *Config
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	db        engine
	tasks     []*periodic.Task
}

// engine is what a package below storage offers.
type engine interface {
	storage.Writer
	storage.Reader
	storage.Follower
	storage.Settings
	storage.Notices
	storage.Accounts
	storage.Users
	keeper
	Following() (followers int, overflows int64)
	Close() error
}

var _ extension.Extension = (*store)(nil)

// linger is how long frames wait for those of other connections. They then share a commit.
const linger = 4 * time.Millisecond

// Start opens the store.
func (s *store) Start(ctx context.Context, _ component.Host) error {
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	s.db = db
	s.keep(db)
	s.erase(db)
	return s.observe(db)
}

// open opens the store where the configuration says. It returns a nil interface with an
// error, not a nil inside one.
func (s *store) open(ctx context.Context) (engine, error) {
	if s.cfg.Postgres != nil {
		db, err := postgres.Open(ctx, string(s.cfg.Postgres.DSN), postgres.Options{
			MaxConnections: s.cfg.Postgres.MaxConnections, Days: partitionDays(s.cfg.Retention),
			HashPartitions: s.cfg.Postgres.HashPartitions, Linger: linger,
		})
		if err != nil {
			return nil, err
		}
		return db, nil
	}
	if err := os.MkdirAll(s.cfg.Directory, 0o700); err != nil {
		return nil, fmt.Errorf("directory: %w", err)
	}
	db, err := sqlite.Open(ctx, filepath.Join(s.cfg.Directory, fileName), sqlite.Options{
		Synchronous: sqlite.Synchronous(s.cfg.Synchronous), Linger: linger,
	})
	if err != nil {
		return nil, err
	}
	return db, nil
}

// partitionDays is for how many days partitions are made: as long as sessions are kept,
// and a day for those that began before midnight. 0 leaves it to the engine.
func partitionDays(retention time.Duration) int {
	if retention == 0 {
		return 0
	}
	return int(retention/(24*time.Hour)) + 2
}

// Shutdown stops the housekeeping and closes the store, which waits for writes under way.
func (s *store) Shutdown(context.Context) error {
	for _, t := range s.tasks {
		t.Stop()
	}
	s.telemetry.Shutdown()
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

// Writer returns the store's writing side, nil before Start.
func (s *store) Writer() storage.Writer {
	if s.db == nil {
		return nil
	}
	return s.db
}

// Reader returns the store's reading side, nil before Start.
func (s *store) Reader() storage.Reader {
	if s.db == nil {
		return nil
	}
	return s.db
}

// Follower returns the store's live side, nil before Start.
func (s *store) Follower() storage.Follower {
	if s.db == nil {
		return nil
	}
	return s.db
}

// Settings returns the store's settings, nil before Start.
func (s *store) Settings() storage.Settings {
	if s.db == nil {
		return nil
	}
	return s.db
}

// Notices returns the store's points and notices, nil before Start.
func (s *store) Notices() storage.Notices {
	if s.db == nil {
		return nil
	}
	return s.db
}

// Remover returns the store's deleting side, nil before Start.
func (s *store) Remover() storage.Remover {
	if s.db == nil {
		return nil
	}
	return s.db
}

// Accounts returns the store's logins and audit entries, nil before Start.
func (s *store) Accounts() storage.Accounts {
	if s.db == nil {
		return nil
	}
	return s.db
}

// Shared reports whether other processes may write to the store.
func (s *store) Shared() bool { return s.cfg.Postgres != nil }

// Users returns the store's exports and erasures of users, nil before Start.
func (s *store) Users() storage.Users {
	if s.db == nil {
		return nil
	}
	return s.db
}
