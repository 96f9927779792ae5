package postgres

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// channel is the NOTIFY channel of committed changes. A message is a JSON
// array of changes, catchUp, or the number of a collector that starts.
const (
	channel = "qos_commit"
	catchUp = "catch up"
	starts  = "starts "
	// maxPayload is the most bytes that PostgreSQL takes in one message.
	maxPayload = 7999
)

// started is the message of a collector that starts, before its first commit.
func started(number int32) string { return starts + strconv.FormatUint(uint64(uint32(number)), 10) } // unsigned, as pg_locks has it

// startedNumber returns the number of a collector that starts.
func startedNumber(message string) (int64, bool) {
	text, ok := strings.CutPrefix(message, starts)
	number, err := strconv.ParseUint(text, 10, 32)
	return int64(number), ok && err == nil
}

// change is a storage.Change in a message: ids are bytes, which JSON has as base64; times
// are ms since the epoch.
type change struct {
	App        []byte `json:"app"`
	Conference []byte `json:"conference"`
	From       int64  `json:"from"`
	To         int64  `json:"to"`
	Records    int    `json:"records,omitempty"`
	Summary    bool   `json:"summary,omitempty"`
}

// encodeChanges packs changes into as few messages as it takes. One that does not fit is
// sent as a catchUp.
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

// decodeChanges is the reverse. It is false of a catchUp, and of what it does not
// understand, for that may be the same in a newer collector's words.
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
