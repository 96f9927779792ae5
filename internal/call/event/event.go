package event

import (
	"slices"

	"github.com/qosrtc/qos/protocol"
)

// Kind is the kind of a record on a conference's time-line.
type Kind uint8

// The kinds of records.
const (
	KindStats Kind = iota + 1
	KindEvent
	KindError
	KindFeedback
	KindLog
	KindSkip
	KindSDP // a part of the SDP of an error
)

// Screen is the usage of fabrics that carry a screen.
const Screen = "screen"

// Event is one record on a time-line, independent of its transport. Its identity is
// (Session, Seq, Index); records with the same identity have the same content.
type Event struct {
	AppID        string
	ConferenceID string
	Session      string
	UserID       string
	Alias        string
	Client       *Client // of the session; nil: unknown
	Seq          uint64
	Index        int

	AtMs           int64 // event time, ms since the epoch
	ConferenceAtMs int64 // a time within the conference, ms since the epoch; of a fabric, the time of its addition
	TimeCorrected  bool  // the receiver corrected the client's clock, which was out of range

	Fabric      int // 0: the record belongs to no fabric
	Usage       string
	RemoteUser  string
	RemoteAlias string
	RemoteType  string // peer, server
	Direction   string // fabricTransmissionDirection

	Kind     Kind
	Measured *Measurement // KindStats; nil when the frame had no measurements
	Name     string       // KindEvent
	Data     *Data        // KindEvent, the result of ParseData; may be nil
	Text     string       // KindLog; KindEvent: its data as JSON
	Function string       // KindError
	Error    *Error       // KindError
	SDP      *SDPPart     // KindSDP
	Feedback *Feedback    // KindFeedback
	Lost     Lost         // KindSkip
}

// Lost counts the records that a client dropped before sending.
type Lost struct{ Stats, Events int }

// Error holds an application's report of a failure, without its function.
type Error struct {
	Name, Message, Code, ConstraintName, Stack string
	Details                                    string // JSON
	LocalSDP, RemoteSDP                        string
	LocalSDPBytes, RemoteSDPBytes              int64 // length of an SDP that is sent in parts; 0: it is not
}

// SDPPart is a part of an SDP of an error.
type SDPPart struct {
	Error  uint64 // number of the error
	Field  string // localSDP, remoteSDP
	Offset int64  // bytes
	Bytes  int64  // length of the part as it was sent; Text may be shorter, since addresses were truncated
	Text   string
}

// Feedback is a user's rating, with its JSON form in summaries. Scores are 1 to 5, nil (null) where
// the user gave none. Seq and Index identify its record in the session.
type Feedback struct {
	Seq     uint64 `json:"seq"`               // sequence number of its frame
	Index   int    `json:"index"`             // index of its record in the frame
	AtMs    int64  `json:"atMs"`              // in ms since the Unix epoch
	UserID  string `json:"userID"`            // real name, for support roles
	Alias   string `json:"alias"`             // alias
	Claimed string `json:"claimed,omitempty"` // alias of the user whom the page named in place of the signed one
	Overall *int   `json:"overall"`           // 1 to 5; null: not rated
	Audio   *int   `json:"audio"`             // 1 to 5; null: not rated
	Video   *int   `json:"video"`             // 1 to 5; null: not rated
	Screen  *int   `json:"screen"`            // 1 to 5, of screen sharing; null: not rated
	Comment string `json:"comment"`           // text of the user; absent for roles that may not see it
}

// Activity reports whether a record starts and prolongs a conference (docs/protocol.md, section
// 10): statistics, events and skips of a fabric, and attempts. All other records are annotations.
func Activity(kind Kind, fabric int, function string) bool {
	switch kind {
	case KindStats, KindEvent, KindSkip:
		return fabric != 0
	case KindError:
		return isAttempt(fabric, function)
	case KindFeedback, KindLog, KindSDP:
	}
	return false
}

// isAttempt reports whether an error is an attempt: a function that leads to a fabric failed before there was one.
func isAttempt(fabric int, function string) bool {
	return fabric == 0 && slices.Contains(protocol.Functions, function)
}

// Activity reports whether the record starts and prolongs its conference.
func (e *Event) Activity() bool { return Activity(e.Kind, e.Fabric, e.Function) }

// Attempt reports whether the record is activity without a fabric.
func (e *Event) Attempt() bool { return e.Kind == KindError && isAttempt(e.Fabric, e.Function) }
