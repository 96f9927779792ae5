package readapi

import (
	"github.com/qosrtc/qos/internal/call/event"
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

// maxTexts bounds the bytes of the texts of one kind, so that the answer about a conference of few participants takes no
// more memory than they are charged. The parts of SDPs are of errors.
var maxTexts = map[string]int{
	"error":    16 << 20,
	"event":    8 << 20,
	"feedback": 8 << 20,
	"log":      8 << 20,
}

// entry is one line of the time-line. Which members there are depends on Kind.
type entry struct {
	At      int64  `json:"at"`               // in ms since the Unix epoch
	Session string `json:"session" mask:"-"` // ID of the session
	Fabric  int    `json:"fabric"`           // number of the fabric; 0: of the conference
	Seq     uint64 `json:"seq"`              // sequence number of its frame
	Kind    string `json:"kind" mask:"-"`    // event, error, feedback, log, skip
	Name    string `json:"name,omitempty"`   // of the event or of the error
	Data    any    `json:"data,omitempty"`   // data of the event, as the application or the library sent them; of an error its further members

	TimeCorrected bool `json:"timeCorrected,omitempty"` // the client's time was out of range, and the time of arrival replaced it

	Function       string `json:"function,omitempty" mask:"-"` // function that failed
	Message        string `json:"message,omitempty"`           // text of the error
	Code           string `json:"code,omitempty"`              // code of the error
	ConstraintName string `json:"constraintName,omitempty"`    // constraint that was not met (OverconstrainedError)
	Stack          string `json:"stack,omitempty"`             // stack of the error
	LocalSDP       string `json:"localSDP,omitempty"`          // local description at the error
	RemoteSDP      string `json:"remoteSDP,omitempty"`         // remote description at the error

	// Bytes of an SDP that are not there; a line in the SDP says which.
	LocalSDPMissing  int64 `json:"localSDPMissing,omitempty"`  // bytes of localSDP that are not there; a line in the SDP says which
	RemoteSDPMissing int64 `json:"remoteSDPMissing,omitempty"` // bytes of remoteSDP that are not there; a line in the SDP says which

	Feedback *feedback `json:"feedback,omitempty"` // ratings of a user, of kind feedback
	Text     string    `json:"text,omitempty"`     // text of a log
	Skip     *skip     `json:"skip,omitempty"`     // what a client dropped before it sent it, of kind skip
}

type feedback struct {
	User     string `json:"user" mask:"alias"`              // alias
	UserName string `json:"userName,omitempty"`             // real name, where it may be shown and differs
	Claimed  string `json:"claimed,omitempty" mask:"alias"` // alias of the user whom the page named in place of the signed one
	Overall  *int   `json:"overall"`                        // 1 to 5; null: not rated
	Audio    *int   `json:"audio"`                          // 1 to 5; null: not rated
	Video    *int   `json:"video"`                          // 1 to 5; null: not rated
	Screen   *int   `json:"screen"`                         // 1 to 5, of screen sharing; null: not rated
	Comment  string `json:"comment,omitempty"`              // text of the user, where it may be shown
	Hidden   bool   `json:"commentHidden,omitempty"`        // there is a comment that this reader may not see
}

// skip is what a client dropped before it sent it.
type skip struct {
	Stats  int `json:"stats"`  // measurements
	Events int `json:"events"` // events
}

type timeline struct {
	names   names
	entries []entry
	count   map[string]int
	texts   map[string]int // bytes
	leftOut int

	sdps   sdps
	wholes []wholeSDP // of SDPs that are in parts
}

func newTimeline(n names) timeline {
	return timeline{names: n, count: map[string]int{}, texts: map[string]int{}, sdps: sdps{parts: map[sdpKey][]sdpPart{}}}
}

// kindNames are those of the entries.
var kindNames = map[event.Kind]string{
	event.KindError: "error", event.KindEvent: "event", event.KindFeedback: "feedback", event.KindLog: "log", event.KindSkip: "skip",
	event.KindSDP: "error",
}

// add takes every event that is no measurement.
func (t *timeline) add(e *event.Event) {
	kind, bytes := kindNames[e.Kind], textBytes(e)
	if e.Kind != event.KindSDP && t.count[kind] == maxEntries[kind] || t.texts[kind]+bytes > maxTexts[kind] {
		t.leftOut++
		return
	}
	t.texts[kind] += bytes
	if e.Kind == event.KindSDP {
		t.sdps.add(e)
		return
	}
	t.count[kind]++
	one := entry{At: e.AtMs, Session: e.Session, Fabric: e.Fabric, Seq: e.Seq, Kind: kind, TimeCorrected: e.TimeCorrected}
	t.fill(&one, e)
	t.entries = append(t.entries, one)
}

// textBytes returns the bytes of the texts of an event.
func textBytes(e *event.Event) int {
	n := len(e.Text)
	if err := e.Error; err != nil {
		n += len(err.Message) + len(err.Stack) + len(err.Details) + len(err.LocalSDP) + len(err.RemoteSDP)
	}
	if e.Feedback != nil {
		n += len(e.Feedback.Comment)
	}
	if e.SDP != nil {
		n += len(e.SDP.Text)
	}
	return n
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
		one.Name, one.Data = e.Name, t.names.encoded(e.Text, hiddenInEvents)
	case event.KindError:
		err := e.Error
		one.Function, one.Name, one.Message, one.Code = e.Function, err.Name, err.Message, err.Code
		one.ConstraintName, one.Stack, one.LocalSDP, one.RemoteSDP = err.ConstraintName, err.Stack, err.LocalSDP, err.RemoteSDP
		one.Data = t.names.encoded(err.Details, hiddenInEvents)
		t.noteSDPs(one, err)
	case event.KindFeedback:
		f := e.Feedback
		one.Feedback = &feedback{
			User: f.Alias, UserName: t.names.name(f.UserID, f.Alias), Claimed: f.Claimed, Overall: f.Overall, Audio: f.Audio, Video: f.Video, Screen: f.Screen, Comment: f.Comment,
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
