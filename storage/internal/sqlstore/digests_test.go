package sqlstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
)

// endless is a store of conferences whose digests are as long as they can be.
type endless struct{ rows int }

type endlessRow struct{ n int }

func (r endlessRow) Scan(dest ...any) error {
	*dest[0].(*int64), *dest[1].(*int64), *dest[2].(*int64) = int64(r.n), int64(r.n), int64(r.n)
	if err := dest[3].(column).Scan("app"); err != nil {
		return err
	}
	return dest[4].(column).Scan(make([]byte, storage.MaxDigestBytes))
}

// Each implements Tx.
func (e *endless) Each(scan func(Row) error, _ string, _ ...any) error {
	for {
		e.rows++
		if err := scan(endlessRow{e.rows}); err != nil {
			return err
		}
	}
}

func (*endless) Exec(string, ...any) (int64, error)               { return 0, nil }
func (*endless) Place(string, string) (int64, bool, error)        { return 0, false, nil }
func (*endless) Days(int64, instance.Span) (days Days, err error) { return nil, nil }

// What a page holds is bounded in bytes, and its memory is used again.
func TestDigestPageIsBounded(t *testing.T) {
	p := newDigestPage(storage.DigestQuery{AppID: "app", From: time.UnixMilli(1)})
	e := &endless{}
	for page := 1; page <= 3; page++ {
		more, err := p.read(e)
		require.NoError(t, err)
		require.True(t, more)
		require.Equal(t, page*digestBytes/storage.MaxDigestBytes, e.rows)
		require.Len(t, p.rows, digestBytes/storage.MaxDigestBytes)
		require.Len(t, p.bodies, digestBytes)
		require.Len(t, p.digest(len(p.rows)-1).Body, storage.MaxDigestBytes)
	}
}
