package main

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/fleet"
)

// object is a message. encoding/json sorts its members.
type object = map[string]any

func line(o object) string {
	text, err := json.Marshal(o)
	if err != nil {
		panic("BUG: " + err.Error()) // of numbers and texts
	}
	return string(text)
}

func hello(grant *protocol.TokenReply, acked uint64) string {
	return line(object{
		"type": "hello", "versions": []int{1}, "token": grant.Token, "session": grant.Session, "acked": acked, "at": time.Now().UnixMilli(),
	})
}

// frame returns the frame of a step and the number of records that it becomes in the store. It adds the announcements
// that the frame needs.
func (e *endpoint) frame(step *fleet.Step, seq uint64) (text string, records int) {
	o := object{"seq": seq, "at": e.at(step.AtMs).UnixMilli()}
	if f := step.Fabric; f != nil {
		e.announceFabric(step.Conference, f)
		o["fabric"] = f.Number
	} else {
		o["conferenceID"], o["conferenceAt"] = e.conferenceID(step.Conference), e.at(step.Conference.StartMs).UnixMilli()
	}
	records = 1
	switch {
	case step.Stats != nil:
		o["type"], o["intervalMs"], o["rows"] = "stats", step.Stats.IntervalMs, e.rows(step.Stats.Rows)
		records = len(step.Stats.Rows)
	case step.Event != nil:
		o["type"], o["event"], o["data"] = "event", step.Event.Name, json.RawMessage(step.Event.Data)
	case step.Error != nil:
		o["type"], o["function"], o["name"], o["message"] = "error", step.Error.Function, step.Error.Name, step.Error.Message
	case step.Feedback != nil:
		o["type"], o["userID"], o["overall"] = "feedback", e.userID(), *step.Feedback.Overall
	case step.Lost != nil: // a log in place of a loss: the load loses nothing
		o["type"], o["text"] = "log", "the page reported a loss"
	}
	return line(o), records
}

func (e *endpoint) userID() any {
	return object{"userName": e.session.UserID, "aliasName": e.session.Alias}
}

func (e *endpoint) conferenceID(c *fleet.Conference) string { return c.ID + e.runID() }

// runID is the end of the conferenceIDs of this run alone.
func (l *load) runID() string { return "-" + l.began.UTC().Format("20060102T150405.000") }

// announceFabric adds the announcement of a fabric, once.
func (e *endpoint) announceFabric(c *fleet.Conference, f *fleet.Fabric) {
	text := line(object{
		"type": "fabric", "fabric": f.Number, "conferenceID": e.conferenceID(c), "addedAt": e.at(f.AddedAtMs).UnixMilli(),
		"remoteUserID": object{"userName": f.RemoteUserID, "aliasName": f.RemoteAlias}, "fabricUsage": f.Usage,
		"remoteEndpointType": f.RemoteType, "fabricTransmissionDirection": "sendrecv",
	})
	if !slices.Contains(e.announced, text) {
		e.announced = append(e.announced, text)
	}
}

// rows returns the rows of measurements, and announces their columns.
func (e *endpoint) rows(measured []event.Measurement) [][]any {
	rows := make([][]any, len(measured))
	for i := range measured {
		m := &measured[i]
		kind := m.StatsType + " " + m.MediaType
		columns := columnsOf[kind]
		if e.sets[kind] == 0 {
			e.sets[kind] = len(e.sets) + 1
			o := object{"type": "columns", "set": e.sets[kind], "statsType": m.StatsType, "names": names(columns)}
			if m.MediaType != "" {
				o["mediaType"] = m.MediaType
			}
			e.announced = append(e.announced, line(o))
		}
		rows[i] = append(make([]any, 0, len(columns)+1), e.sets[kind])
		for _, k := range columns {
			rows[i] = append(rows[i], cell(m, k))
		}
	}
	return rows
}

func cell(m *event.Measurement, k protocol.Measure) any {
	switch {
	case k == protocol.SSRC:
		return m.SSRC
	case k == protocol.Codec:
		return m.Codec
	case k == protocol.Limitation && m.Limitation != "":
		return m.Limitation
	case !m.Known(k):
		return nil
	case k.Info().Type == protocol.Int:
		return int64(m.Get(k))
	}
	return m.Get(k)
}

// columnsOf are the measures of each kind of report, as the library sends them.
var columnsOf = func() map[string][]protocol.Measure {
	kinds := map[string]string{
		"inbound audio": "inbound-rtp audio", "inbound video": "inbound-rtp video",
		"outbound audio": "outbound-rtp audio", "outbound video": "outbound-rtp video", "pair": "candidate-pair ",
	}
	of := map[string][]protocol.Measure{}
	for k := range protocol.NumMeasures {
		for _, report := range k.Info().Reports.Names() {
			of[kinds[report]] = append(of[kinds[report]], k)
		}
	}
	return of
}()

func names(columns []protocol.Measure) []string {
	out := make([]string, len(columns))
	for i, k := range columns {
		out[i] = k.String()
	}
	return out
}
