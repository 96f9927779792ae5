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
	// pingTimeout bounds the question whether a connection that was idle is still there.
	pingTimeout = 5 * time.Second
)

// pool is the connections for all but the writer, made when they are needed.
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

// with runs f with a connection, once more where the connection proves lost: f must bear
// that. A connection that the server ended while it was idle says so at its next use, and
// then the others of the pool are likely to have gone with it.
func (p *pool) with(ctx context.Context, f func(*pgx.Conn) error) error {
	lost, err := p.once(ctx, f)
	if !lost || !again(err) || ctx.Err() != nil {
		return err
	}
	p.Reset()
	_, err = p.once(ctx, f)
	return err
}

func (p *pool) once(ctx context.Context, f func(*pgx.Conn) error) (lost bool, err error) {
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

// close waits for those who have a connection and closes all.
func (p *pool) close() {
	p.closed.Store(true)
	p.Close()
}

// parse reads a dsn. The errors of the parser may hold parts of it, and a password with
// them.
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

// databaseName names the database in errors.
func databaseName(c *pgx.ConnConfig) string {
	return fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)
}
