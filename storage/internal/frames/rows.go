package frames

import "github.com/qosrtc/qos/storage"

// Records yields the records of rows of one conferenceID, in the order of the rows, until
// yield returns false. Rows that are damaged are left out and added to damage.
func Records(conferenceID string, rows []ReadRow, damage *Damage, yield func(sessionID string, r storage.Record) bool) {
	read := &Read{ConferenceID: conferenceID}
	for i := range rows {
		if !rows[i].yield(read, damage, yield) {
			return
		}
	}
}
