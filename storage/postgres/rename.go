package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/sqlstore"
	"github.com/qosrtc/qos/storage/internal/term"
)

// Rename implements join.Table.
func (p *table) Rename(key, session int64, renames []term.Rename) error {
	member := participant{key, session}
	p.t.renames[member] = append(p.t.renames[member], renames...)
	return nil
}

// queueRenames queues the inserts of renames, then the deletion of all but the newest of the same participants.
func (t *tx) queueRenames(b *pgx.Batch) {
	if len(t.renames) == 0 {
		return
	}
	var places, conferences, sessions, renamePlaces, renameSessions, renameConferences, seqs []int64
	var indexes []int32
	var users, aliases [][]byte
	for member, renames := range t.renames {
		place := t.places[member.conference]
		places = append(places, place)
		conferences, sessions = append(conferences, member.conference), append(sessions, member.session)
		for _, r := range renames {
			renamePlaces = append(renamePlaces, place)
			renameConferences, renameSessions, seqs, indexes = append(renameConferences, member.conference), append(renameSessions, member.session), append(seqs, r.Seq), append(indexes, int32(r.Idx))
			users, aliases = append(users, []byte(r.Name.UserID)), append(aliases, []byte(r.Name.UserAlias))
		}
	}
	b.Queue(`INSERT INTO qos_rename (place, conference, session, seq, idx, user_id, user_alias)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::bytea[], $7::bytea[]) ON CONFLICT DO NOTHING`,
		renamePlaces, renameConferences, renameSessions, seqs, indexes, users, aliases)
	b.Queue(dialect.SQL(`DELETE FROM qos_rename r USING unnest(?::bigint[], ?::bigint[], ?::bigint[]) q (place, conference, session)
		WHERE r.place = q.place AND r.conference = q.conference AND r.session = q.session`+sqlstore.OlderRenames), places, conferences, sessions, term.MaxRenames)
}
