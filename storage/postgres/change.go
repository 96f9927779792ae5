package postgres

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// channel is the NOTIFY channel of committed changes. A message is a JSON array of changes,
// catchUp, or startPrefix and the number of a collector.
const (
	channel     = "qos_commit"
	catchUp     = "catch up"
	startPrefix = "starts "
	// maxPayload is PostgreSQL's limit of one message, in bytes.
	maxPayload = 7999
)

// startMessage returns the message that a collector sends when it starts, before its first commit. The number is
// unsigned, as in pg_locks.
func startMessage(number int32) string {
	return startPrefix + strconv.FormatUint(uint64(uint32(number)), 10)
}

// startedNumber returns the number of the collector that sent a start message.
func startedNumber(message string) (int64, bool) {
	text, ok := strings.CutPrefix(message, startPrefix)
	number, err := strconv.ParseUint(text, 10, 32)
	return int64(number), ok && err == nil
}

// change is the JSON form of a storage.Change. IDs are bytes (base64); times are ms since the epoch.
type change struct {
	App        []byte `json:"app"`
	Conference []byte `json:"conference"`
	From       int64  `json:"from"`
	To         int64  `json:"to"`
	Records    int    `json:"records,omitempty"`
	Summary    bool   `json:"summary,omitempty"`
}

// encodeChanges returns messages with the changes, as few as possible. A change that is longer
// than maxPayload is replaced by a catchUp.
func encodeChanges(changes []storage.Change) (messages []string) {
	list := []byte{'['}
	end := func() {
		if len(list) > 1 {
			messages = append(messages, string(list)+"]")
		}
		list = append(list[:0], '[')
	}
	tooLong := false
	for _, c := range changes {
		one, err := json.Marshal(change{
			[]byte(c.AppID), []byte(c.ConferenceID), c.From.UnixMilli(), c.To.UnixMilli(), c.Records, c.Summary,
		})
		if err != nil || len(one)+len("[]") > maxPayload {
			tooLong = true
			continue
		}
		if len(list)+len(one)+len(",]") > maxPayload {
			end()
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, one...)
	}
	end()
	if tooLong {
		messages = append(messages, catchUp)
	}
	return messages
}

// decodeChanges returns the changes of a message; false for a catchUp and for messages of an
// unknown form, which a newer collector may send.
func decodeChanges(message string) (changes []storage.Change, ok bool) {
	var list []change
	if err := json.Unmarshal([]byte(message), &list); err != nil || len(list) == 0 {
		return nil, false
	}
	for _, c := range list {
		changes = append(changes, storage.Change{
			AppID: string(c.App), ConferenceID: string(c.Conference),
			From: frames.FromMs(c.From), To: frames.FromMs(c.To), Records: c.Records, Summary: c.Summary,
		})
	}
	return changes, true
}
