package follow

import (
	"time"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// AddRow adds the change that n records of a row were written.
func (s *Changes) AddRow(row *frames.Row, n int) {
	at := frames.FromMs(row.PlaceTime())
	s.Add(storage.Change{AppID: row.Place.App, ConferenceID: row.Place.Conference, From: at, To: at, Records: n})
}

// AddSummary adds the change that a summary was written.
func (s *Changes) AddSummary(sum storage.Summary) {
	s.Add(storage.Change{AppID: sum.AppID, ConferenceID: sum.ConferenceID, From: ms(sum.Start), To: ms(sum.End), Summary: true})
}

// ms returns t truncated to ms, the precision of stores.
func ms(t time.Time) time.Time { return frames.FromMs(t.UnixMilli()) }
