package sqlite

import (
	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/storage/internal/term"
)

// Rename implements join.Table.
func (p table) Rename(key, session int64, renames []term.Rename) error {
	for _, r := range renames {
		err := p.t.exec(`INSERT OR IGNORE INTO rename (conference, session, seq, idx, user_id, user_alias) VALUES (?, ?, ?, ?, ?, ?)`,
			key, session, r.Seq, r.Idx, r.Name.UserID, r.Name.UserAlias)
		if err != nil {
			return err
		}
	}
	_, err := p.t.querier().Exec(`DELETE FROM rename AS r WHERE r.conference = ? AND r.session = ?`+sqlstore.OlderRenames, key, session, term.MaxRenames)
	return err
}
