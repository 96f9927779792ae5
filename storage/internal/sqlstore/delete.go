package sqlstore

const (
	deleteActivity = `DELETE FROM {table frame} WHERE {first frame} activity AND place = ? AND at BETWEEN ? AND ? {indays} {most}`
	deleteOther    = `DELETE FROM {table frame} WHERE {first frame} NOT activity AND place = ? AND conference_at BETWEEN ? AND ? {indays} {most}`
)

// DeleteFrames deletes the frames and chunks of a conference, and returns the number of rows. An engine
// that deletes in steps deletes about most of them at once: a chunk is deleted as a whole.
func DeleteFrames(tx Tx, c Located, days Days, most int64) (int64, error) {
	chunks, err := All(tx, scanKey, `SELECT key FROM {table chunk} WHERE {first chunk} place = ? AND from_ms BETWEEN ? AND ? {indays} {most}`,
		c.Place, c.Span.Start, c.Span.End, days, Most(most))
	e := executor{tx: tx, err: err}
	left := func() Most { return Most(max(0, most-e.changed)) }
	for _, key := range chunks {
		if left() > 0 {
			e.run(`DELETE FROM {table packed} WHERE {of} chunk = ? {indays}`, Place(c.Place), key, days)
			e.run(`DELETE FROM {table chunk} WHERE place = ? AND key = ? {indays}`, c.Place, key, days)
		}
	}
	e.run(deleteActivity, c.Place, c.Span.Start, c.Span.End, days, left())
	e.run(deleteOther, c.Place, c.Own.Start, c.Own.End, days, left())
	return e.changed, e.err
}

// DeleteUnusedPlace deletes the row of a conferenceID if nothing refers to it.
func DeleteUnusedPlace(tx Tx, place int64) error {
	_, err := tx.Exec(`DELETE FROM {table place} WHERE key = ? AND NOT EXISTS (SELECT 1 FROM {table conference} WHERE place = ?)
		AND NOT EXISTS (SELECT 1 FROM {table unattached} WHERE place = ?)`, place, place, place)
	return err
}
