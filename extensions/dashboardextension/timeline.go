package dashboardextension

import (
	"strings"

	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
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
	Overall  *int64 `json:"overall"`
	Audio    *int64 `json:"audio"`
	Video    *int64 `json:"video"`
	Screen   *int64 `json:"screen"`
	Comment  string `json:"comment,omitempty"`
}

// skip is what a client dropped before it sent it.
type skip struct {
	Stats  int64 `json:"stats"`
	Events int64 `json:"events"`
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

// add takes every record that is no measurement; kinds it does not know are not drawn.
func (t *timeline) add(session string, r storage.Record) {
	if r.Name == semconv.EventSDP {
		if !t.sdps.add(session, attributes(r.Attributes)) {
			t.leftOut++
		}
		return
	}
	kind := strings.TrimPrefix(r.Name, "qos.")
	limit, known := maxEntries[kind]
	if !known {
		return
	}
	if t.count[kind] == limit {
		t.leftOut++
		return
	}
	t.count[kind]++
	attrs := attributes(r.Attributes)
	corrected, _ := r.Attributes[semconv.TimeCorrected].(bool)
	e := entry{At: r.At.UnixMilli(), Session: session, Fabric: r.Fabric, Seq: r.Seq, Kind: kind, TimeCorrected: corrected}
	t.fill(&e, attrs)
	t.noteSDPs(&e, attrs)
	t.entries = append(t.entries, e)
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
func (t *timeline) noteSDPs(e *entry, attrs attributes) {
	for field, bytes := range map[string]int64{
		fieldLocalSDP: attrs.integer(semconv.ErrorLocalSDPBytes), fieldRemoteSDP: attrs.integer(semconv.ErrorRemoteSDPBytes),
	} {
		if bytes > 0 {
			t.wholes = append(t.wholes, wholeSDP{key: sdpKey{e.Session, e.Seq, field}, entry: len(t.entries), bytes: min(bytes, maxSDP)})
		}
	}
}

func (t *timeline) fill(e *entry, attrs attributes) {
	switch e.Kind {
	case "event":
		e.Name = attrs.text(semconv.EventName)
		e.Data = t.names.document(attrs.text(semconv.EventData), hiddenInEvents)
	case "error":
		e.Function, e.Name, e.Message = attrs.text(semconv.ErrorFunction), attrs.text(semconv.ErrorName), attrs.text(semconv.ErrorMessage)
		e.Code, e.ConstraintName, e.Stack = attrs.text(semconv.ErrorCode), attrs.text(semconv.ErrorConstraintName), attrs.text(semconv.ErrorStack)
		e.Data = t.names.document(attrs.text(semconv.ErrorDetails), hiddenInEvents)
		e.LocalSDP, e.RemoteSDP = attrs.text(semconv.ErrorLocalSDP), attrs.text(semconv.ErrorRemoteSDP)
	case "feedback":
		e.Feedback = &feedback{
			User:     attrs.text(semconv.FeedbackUserAlias),
			UserName: t.names.name(attrs.text(semconv.FeedbackUserID), attrs.text(semconv.FeedbackUserAlias)),
			Overall:  attrs.rating(semconv.FeedbackOverall),
			Audio:    attrs.rating(semconv.FeedbackAudio),
			Video:    attrs.rating(semconv.FeedbackVideo),
			Screen:   attrs.rating(semconv.FeedbackScreen),
			Comment:  attrs.text(semconv.FeedbackComment),
		}
	case "log":
		e.Text = attrs.text(semconv.LogText)
	case "skip":
		e.Skip = &skip{Stats: attrs.integer(semconv.SkipStats), Events: attrs.integer(semconv.SkipEvents)}
	}
}
