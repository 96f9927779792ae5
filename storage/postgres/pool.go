package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/qosrtc/qos/storage/internal/group"
)

const (
	connectTimeout = 10 * time.Second
	// pingTimeout bounds the check of an idle connection.
	pingTimeout = 5 * time.Second
)

// pool holds the connections for everything but the writer. They are opened on demand.
type pool struct {
	*pgxpool.Pool
	closed atomic.Bool
}

func newPool(config *pgxpool.Config, size int) (*pool, error) {
	config = config.Copy()
	config.MaxConns = int32(size)
	config.PingTimeout = pingTimeout
	conns, err := pgxpool.NewWithConfig(context.Background(), config)
	return &pool{Pool: conns}, err
}

// withConn runs f with a connection. If the connection was lost, it runs f again, so f must be safe
// to repeat. A connection that the server closed while it was idle fails at its next use; the other
// connections of the pool were probably closed too, so all are replaced.
func (p *pool) withConn(ctx context.Context, f func(*pgx.Conn) error) error {
	broken, err := p.tryOnce(ctx, f)
	if !broken || !retryable(err) || ctx.Err() != nil {
		return err
	}
	p.Reset()
	_, err = p.tryOnce(ctx, f)
	return err
}

func (p *pool) tryOnce(ctx context.Context, f func(*pgx.Conn) error) (broken bool, err error) {
	conn, err := p.Acquire(ctx)
	if err != nil {
		if p.closed.Load() {
			err = group.ErrClosed
		}
		return false, err
	}
	defer conn.Release() // closes it where f left a transaction
	err = f(conn.Conn())
	return err != nil && conn.Conn().IsClosed(), err
}

// close waits until all connections are released and closes them.
func (p *pool) close() {
	p.closed.Store(true)
	p.Close()
}

// parse parses a dsn. It hides the errors of the parser, which may contain a password.
func parse(dsn string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("open store: the dsn is no PostgreSQL connection string (a URL or key=value pairs)")
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	return config, nil
}

// databaseName returns the name of the database for errors.
func databaseName(c *pgx.ConnConfig) string {
	return fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)
}
