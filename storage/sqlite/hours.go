package sqlite

import (
	"context"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// hourWriter is what this engine adds for the columns of hours. Its write transactions are serial, so no other one is
// writing when a mark is committed.
func (s *Store) hourWriter() sqlstore.HourWriter {
	return sqlstore.HourWriter{Write: s.change, Settle: func(context.Context) error { return nil }}
}
