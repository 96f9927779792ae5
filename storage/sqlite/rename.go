package sqlite

import (
	"github.com/qosrtc/qos/storage/internal/term"
)

// older are the renames of a participant beyond the newest that are kept.
const older = ` AND (SELECT count(*) FROM rename n WHERE n.conference = rename.conference AND n.session = rename.session
	AND (n.seq, n.idx) > (rename.seq, rename.idx)) >= ?`

// Rename implements join.Table.
func (p table) Rename(key, session int64, renames []term.Rename) error {
	return p.t.rename(key, session, renames)
}

func (t *tx) rename(key, session int64, renames []term.Rename) error {
	for _, r := range renames {
		err := t.exec(`INSERT OR IGNORE INTO rename (conference, session, seq, idx, user_id, user_alias) VALUES (?, ?, ?, ?, ?, ?)`,
			key, session, r.Seq, r.Idx, r.Name.UserID, r.Name.UserAlias)
		if err != nil {
			return err
		}
	}
	return t.exec(`DELETE FROM rename WHERE conference = ? AND session = ?`+older, key, session, term.MaxRenames)
}

// moveRenames makes the renames of a conference those of another.
func (t *tx) moveRenames(into, from int64) error {
	err := t.exec(`INSERT OR IGNORE INTO rename SELECT ?, session, seq, idx, user_id, user_alias FROM rename WHERE conference = ?`, into, from)
	if err != nil {
		return err
	}
	return t.exec(`DELETE FROM rename WHERE conference = ?`+older, into, term.MaxRenames)
}
