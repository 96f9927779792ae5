package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/group"
)

const connectTimeout = 10 * time.Second

// pool is a bounded number of connections, made when they are needed. A lost one is
// replaced by the next caller.
type pool struct {
	config *pgx.ConnConfig
	slots  chan *pgx.Conn // nil: a connection that may be made
	size   int
	closed chan struct{}
}

func newPool(config *pgx.ConnConfig, size int) *pool {
	p := &pool{config: config, slots: make(chan *pgx.Conn, size), size: size, closed: make(chan struct{})}
	for range size {
		p.slots <- nil
	}
	return p
}

// with runs f with a connection, once more where the connection proves lost: f must bear
// that.
func (p *pool) with(ctx context.Context, f func(*pgx.Conn) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var conn *pgx.Conn
	select {
	case <-p.closed:
		return group.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case conn = <-p.slots:
	}
	defer func() { p.slots <- conn }()
	used := conn != nil
	if conn, err = alive(ctx, p.config, conn); err != nil {
		return err
	}
	// A connection that the server ended while it was idle says so at its next use.
	if err = f(conn); err != nil && used && conn.IsClosed() && again(err) && ctx.Err() == nil {
		if conn, err = alive(ctx, p.config, conn); err != nil {
			return err
		}
		err = f(conn)
	}
	if conn.PgConn().TxStatus() != 'I' { // f left a transaction
		_ = conn.Close(context.Background())
	}
	return err
}

// alive returns conn, or a new connection where there is none or it was lost.
func alive(ctx context.Context, config *pgx.ConnConfig, conn *pgx.Conn) (*pgx.Conn, error) {
	if conn != nil && !conn.IsClosed() {
		return conn, nil
	}
	return pgx.ConnectConfig(ctx, config)
}

// close waits for those who have a connection and closes all.
func (p *pool) close() {
	close(p.closed)
	for range p.size {
		if conn := <-p.slots; conn != nil {
			_ = conn.Close(context.Background())
		}
	}
}
