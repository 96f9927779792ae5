package sqlite

import (
	"context"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// hourWriter returns the functions of this engine that the columns of hours need. Write transactions are serial, so
// none is active when a mark is committed.
func (s *Store) hourWriter() sqlstore.HourWriter {
	return sqlstore.HourWriter{Write: s.change, Settle: func(context.Context) error { return nil }}
}
