package storageextension

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/storage/sqlite"
)

// Config of the storage extension.
type Config struct {
	// Directory holds the files of a store in SQLite. It is made (mode 0700) where it does
	// not exist.
	Directory string `mapstructure:"directory"`

	// Postgres names a store in PostgreSQL instead, which many collectors share.
	Postgres *postgresConfig `mapstructure:"postgres"`

	// Retention is how long after its end a conference is kept; 0 keeps all.
	Retention time.Duration `mapstructure:"retention"`

	// MaxSizeMiB is the size in MiB above which the conferences that ended first are deleted, for SQLite only; 0: no
	// limit. The conferences of the last hour are kept.
	MaxSizeMiB int64 `mapstructure:"max_size_mib"`

	// PackAfter is how long after its end a conference is packed by column, which takes a
	// fraction of the space; 0 packs none. Late data is taken all the same.
	PackAfter time.Duration `mapstructure:"pack_after"`

	// Synchronous, for SQLite, is normal (an acknowledged record survives a crash of the
	// process) or full (also a power cut).
	Synchronous string `mapstructure:"synchronous"`

	_ struct{}
}

// postgresConfig is how the database is reached.
type postgresConfig struct {
	// DSN is a URL (postgres://user:password@host/database) or key=value pairs.
	DSN configopaque.String `mapstructure:"dsn"`

	// MaxConnections bounds this collector's connections; 0 means 8.
	MaxConnections int `mapstructure:"max_connections"`

	// HashPartitions is in how many partitions, by a hash of AppID and conferenceID, a new store has
	// the tables of conferences; 0 means none. A store that exists keeps its partitions.
	HashPartitions int `mapstructure:"hash_partitions"`

	_ struct{}
}

// maxMiB bounds MaxSizeMiB.
const maxMiB = 1 << 30

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	var errs []error
	switch {
	case c.Directory == "" && c.Postgres == nil:
		errs = append(errs, errors.New("directory or postgres is required"))
	case c.Directory != "" && c.Postgres != nil:
		errs = append(errs, errors.New("directory and postgres exclude each other: a store has one place"))
	}
	if c.Retention < 0 {
		errs = append(errs, fmt.Errorf("retention must not be negative (got %s)", c.Retention))
	}
	if c.MaxSizeMiB < 0 || c.MaxSizeMiB > maxMiB {
		errs = append(errs, fmt.Errorf("max_size_mib must be from 0 to %d (got %d)", maxMiB, c.MaxSizeMiB))
	}
	if c.MaxSizeMiB > 0 && c.Postgres != nil {
		errs = append(errs, errors.New("max_size_mib needs directory: the database server decides how much it holds"))
	}
	if c.PackAfter < 0 {
		errs = append(errs, fmt.Errorf("pack_after must not be negative (got %s)", c.PackAfter))
	}
	switch sqlite.Synchronous(c.Synchronous) {
	case sqlite.SynchronousNormal, sqlite.SynchronousFull:
	default:
		errs = append(errs, fmt.Errorf("synchronous must be normal or full (got %q)", c.Synchronous))
	}
	return errors.Join(errs...)
}

// Validate implements xconfmap.Validator.
func (c *postgresConfig) Validate() error {
	var errs []error
	if c.DSN == "" {
		errs = append(errs, errors.New("dsn is required"))
	}
	if c.MaxConnections != 0 && c.MaxConnections < 2 {
		errs = append(errs, fmt.Errorf("max_connections must be at least 2, one to write and one to read (got %d)", c.MaxConnections))
	}
	if c.HashPartitions < 0 || c.HashPartitions > postgres.MaxHashPartitions {
		errs = append(errs, fmt.Errorf("hash_partitions must be 0, for none, to %d (got %d)", postgres.MaxHashPartitions, c.HashPartitions))
	}
	return errors.Join(errs...)
}
