package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/term"
)

// older are the renames of a participant beyond the newest that are kept.
const older = ` AND (SELECT count(*) FROM qos_rename n WHERE n.conference = r.conference AND n.session = r.session
	AND (n.seq, n.idx) > (r.seq, r.idx)) >= `

// Rename implements join.Table.
func (p *table) Rename(key, session int64, renames []term.Rename) error {
	who := participant{key, session}
	p.t.renames[who] = append(p.t.renames[who], renames...)
	return nil
}

// queueRenames writes renames, then deletes those of the same participants beyond the newest.
func queueRenames(b *pgx.Batch, renames map[participant][]term.Rename) {
	if len(renames) == 0 {
		return
	}
	var conferences, sessions, whose, of, seqs []int64
	var indexes []int32
	var users, aliases [][]byte
	for who, some := range renames {
		conferences, sessions = append(conferences, who.conference), append(sessions, who.session)
		for _, r := range some {
			of, whose, seqs, indexes = append(of, who.conference), append(whose, who.session), append(seqs, r.Seq), append(indexes, int32(r.Idx))
			users, aliases = append(users, []byte(r.Name.UserID)), append(aliases, []byte(r.Name.UserAlias))
		}
	}
	b.Queue(`INSERT INTO qos_rename (conference, session, seq, idx, user_id, user_alias)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::bytea[], $6::bytea[]) ON CONFLICT DO NOTHING`,
		of, whose, seqs, indexes, users, aliases)
	b.Queue(`DELETE FROM qos_rename r USING unnest($1::bigint[], $2::bigint[]) q (conference, session)
		WHERE r.conference = q.conference AND r.session = q.session`+older+`$3`, conferences, sessions, term.MaxRenames)
}

// moveRenames makes the renames of a conference those of another.
func (p *table) moveRenames(into, from int64) error {
	err := p.t.exec(`INSERT INTO qos_rename SELECT $1, session, seq, idx, user_id, user_alias FROM qos_rename WHERE conference = $2
		ON CONFLICT DO NOTHING`, into, from)
	if err != nil {
		return err
	}
	return p.t.exec(`DELETE FROM qos_rename r WHERE r.conference = $1`+older+`$2`, into, term.MaxRenames)
}
