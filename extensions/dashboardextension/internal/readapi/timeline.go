package readapi

import (
	"github.com/qosrtc/qos/internal/event"
)

// maxEntries bounds the time-line by kind, so that a chatty application's logs never push
// errors out.
var maxEntries = map[string]int{
	"error":    1000,
	"event":    5000,
	"feedback": 500,
	"log":      1000,
	"skip":     500,
}

// entry is one line of the time-line. Which members there are depends on Kind.
type entry struct {
	At      int64  `json:"at"`
	Session string `json:"session"`
	Fabric  int    `json:"fabric"` // 0: of the conference
	Seq     uint64 `json:"seq"`
	Kind    string `json:"kind"`           // event, error, feedback, log, skip
	Name    string `json:"name,omitempty"` // the event's, or the error's
	Data    any    `json:"data,omitempty"` // the event's; of an error its further members

	TimeCorrected bool `json:"timeCorrected,omitempty"`

	Function       string `json:"function,omitempty"`
	Message        string `json:"message,omitempty"`
	Code           string `json:"code,omitempty"`
	ConstraintName string `json:"constraintName,omitempty"`
	Stack          string `json:"stack,omitempty"`
	LocalSDP       string `json:"localSDP,omitempty"`
	RemoteSDP      string `json:"remoteSDP,omitempty"`

	// Bytes of an SDP that are not there; a line in the SDP says which.
	LocalSDPMissing  int64 `json:"localSDPMissing,omitempty"`
	RemoteSDPMissing int64 `json:"remoteSDPMissing,omitempty"`

	Feedback *feedback `json:"feedback,omitempty"`
	Text     string    `json:"text,omitempty"`
	Skip     *skip     `json:"skip,omitempty"`
}

type feedback struct {
	User     string `json:"user"`
	UserName string `json:"userName,omitempty"`
	Overall  *int   `json:"overall"`
	Audio    *int   `json:"audio"`
	Video    *int   `json:"video"`
	Screen   *int   `json:"screen"`
	Comment  string `json:"comment,omitempty"`
	Hidden   bool   `json:"commentHidden,omitempty"` // there is a comment that this reader may not see
}

// skip is what a client dropped before it sent it.
type skip struct {
	Stats  int `json:"stats"`
	Events int `json:"events"`
}

type timeline struct {
	names   names
	entries []entry
	count   map[string]int
	leftOut int

	sdps   sdps
	wholes []wholeSDP // of SDPs that are in parts
}

func newTimeline(n names) timeline {
	return timeline{names: n, count: map[string]int{}, sdps: sdps{parts: map[sdpKey][]sdpPart{}}}
}

// kindNames are those of the entries.
var kindNames = map[event.Kind]string{
	event.KindError: "error", event.KindEvent: "event", event.KindFeedback: "feedback", event.KindLog: "log", event.KindSkip: "skip",
}

// add takes every event that is no measurement.
func (t *timeline) add(e *event.Event) {
	if e.Kind == event.KindSDP {
		if !t.sdps.add(e) {
			t.leftOut++
		}
		return
	}
	kind := kindNames[e.Kind]
	if t.count[kind] == maxEntries[kind] {
		t.leftOut++
		return
	}
	t.count[kind]++
	one := entry{At: e.AtMs, Session: e.Session, Fabric: e.Fabric, Seq: e.Seq, Kind: kind, TimeCorrected: e.TimeCorrected}
	t.fill(&one, e)
	t.entries = append(t.entries, one)
}

// list returns the entries, when all records were added: parts of SDPs may be late.
func (t *timeline) list() []entry {
	for _, whole := range t.wholes {
		e := &t.entries[whole.entry]
		text, missing := t.sdps.join(whole)
		if whole.key.field == fieldLocalSDP {
			e.LocalSDP, e.LocalSDPMissing = text, missing
		} else {
			e.RemoteSDP, e.RemoteSDPMissing = text, missing
		}
	}
	return t.entries
}

// noteSDPs notes which SDPs of the next entry are in parts.
func (t *timeline) noteSDPs(e *entry, err *event.Error) {
	for field, bytes := range map[string]int64{fieldLocalSDP: err.LocalSDPBytes, fieldRemoteSDP: err.RemoteSDPBytes} {
		if bytes > 0 {
			t.wholes = append(t.wholes, wholeSDP{key: sdpKey{e.Session, e.Seq, field}, entry: len(t.entries), bytes: min(bytes, maxSDP)})
		}
	}
}

func (t *timeline) fill(one *entry, e *event.Event) {
	switch e.Kind {
	case event.KindEvent:
		one.Name, one.Data = e.Name, t.names.document(e.Text, hiddenInEvents)
	case event.KindError:
		err := e.Error
		one.Function, one.Name, one.Message, one.Code = e.Function, err.Name, err.Message, err.Code
		one.ConstraintName, one.Stack, one.LocalSDP, one.RemoteSDP = err.ConstraintName, err.Stack, err.LocalSDP, err.RemoteSDP
		one.Data = t.names.document(err.Details, hiddenInEvents)
		t.noteSDPs(one, err)
	case event.KindFeedback:
		f := e.Feedback
		one.Feedback = &feedback{
			User: f.Alias, UserName: t.names.name(f.UserID, f.Alias), Overall: f.Overall, Audio: f.Audio, Video: f.Video, Screen: f.Screen, Comment: f.Comment,
		}
		if !t.names.comments {
			one.Feedback.Comment, one.Feedback.Hidden = "", f.Comment != ""
		}
	case event.KindLog:
		one.Text = e.Text
	case event.KindSkip:
		one.Skip = &skip{Stats: e.Lost.Stats, Events: e.Lost.Events}
	default: // measurements and parts of SDPs are no entries
	}
}
