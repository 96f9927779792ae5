package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/term"
)

const nextUntold = `SELECT c.key, c.place, p.app_id, p.conference_id, c.start_ms FROM conference c INDEXED BY conference_untold
	CROSS JOIN place p ON p.key = c.place WHERE c.told = 0 ORDER BY c.start_ms DESC LIMIT 1`

// tellOld makes the terms and renames of conferences that an older version wrote, the newest first: so
// many at once, in a transaction each. The next call goes on.
func (s *Store) tellOld(ctx context.Context) error {
	for records, conferences := 0, 0; records < term.OldRecords && conferences < term.OldConferences; conferences++ {
		var key, place, start int64
		var ref storage.Ref
		err := s.read.QueryRowContext(ctx, nextUntold).Scan(&key, &place, &ref.AppID, &ref.ConferenceID, &start)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		ref.At = frames.FromMs(start)
		old, err := term.OfConference(ctx, s, ref)
		if err != nil {
			return err
		}
		records += old.Records
		if err := s.writer.do(ctx, job{run: func(t *tx) error { return t.tellOld(key, place, old) }}); err != nil {
			return err
		}
	}
	return nil
}

// tellOld adds all its terms and renames to a conference that still exists and lacks them.
func (t *tx) tellOld(key, place int64, old term.Old) error {
	n, err := t.count(`UPDATE conference SET told = 1 WHERE key = ? AND place = ? AND told = 0`, key, place)
	if err != nil || n == 0 {
		return err
	}
	if err := t.renameOld(key, old.Renames); err != nil {
		return err
	}
	if err := t.tell(key, old.Terms, true); err != nil {
		return err
	}
	return t.retell(key)
}
