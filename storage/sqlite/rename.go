package sqlite

import (
	"context"
	"database/sql"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/storage"
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

// renameOld takes in the renames of a conference that an older version wrote.
func (t *tx) renameOld(key int64, bySession map[string][]term.Rename) error {
	for id, renames := range bySession {
		uuid, err := storage.ParseSessionID(id)
		if err != nil {
			return err
		}
		var sessions []int64
		err = t.each(func(row scanner) error {
			var session int64
			err := row.Scan(&session)
			sessions = append(sessions, session)
			return err
		}, `SELECT s.key FROM participant p CROSS JOIN session s ON s.key = p.session WHERE p.conference = ? AND s.id = ?`, key, uuid[:])
		if err != nil {
			return err
		}
		for _, session := range sessions {
			if err := t.rename(key, session, renames); err != nil {
				return err
			}
		}
	}
	return nil
}

// renamesOf finds those of conferences, by their keys as JSON.
const renamesOf = `SELECT r.conference, s.id, r.user_id, r.user_alias
	FROM json_each(?) k CROSS JOIN rename r ON r.conference = k.value CROSS JOIN session s ON s.key = r.session ORDER BY r.seq, r.idx`

// addRenames reads what the participants of conferences are called. keys are those of the
// conferences, index says where each is.
func addRenames(ctx context.Context, tx *sql.Tx, conferences []listed, keys string, index map[int64]int) error {
	rows, err := tx.QueryContext(ctx, renamesOf, keys)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var conference int64
		var id []byte
		var name storage.Name
		if err := rows.Scan(&conference, &id, &name.UserID, &name.UserAlias); err != nil {
			return err
		}
		term.AddRename(&conferences[index[conference]].Conference, uuid.UUID(id).String(), name)
	}
	return rows.Err()
}
