// Package digest has the facts of a conference by which conferences are counted and compared: what the overview,
// the comparison of sets and the history of a user read of many thousand conferences. The store keeps a digest
// beside the summary, which is ten to a thousand times as long.
//
// A digest has no real name of a user: where a siteID or another text of the application has one of the conference as a whole
// word, its alias is in its place. Counts of many conferences are of one text for all roles. Its encoding is the wire format of Protocol Buffers: a reader skips fields that
// it does not know, so fields may be added.
package digest

import (
	"github.com/qosrtc/qos/internal/call/conference"
)

// MaxBytes bounds the encoded digest. Members beyond it are left out and counted.
const MaxBytes = 32 << 10

// maxDistinct bounds the distinct fabrics and devices of one member.
const maxDistinct = 16

// Digest is the facts of one conference. Empty texts and zero numbers are unknown.
type Digest struct {
	Outcome      string
	Label        string  // of the score
	Cause        string  // likely cause; empty: none
	MOS          float64 // 1 to 5, to the thousandth; 0: no score
	Participants int
	Ratings      int     // ratings by users
	WorstRating  int     // lowest overall rating, 1 to 5; 0: none
	SetupMs      []int64 // setup delays of the fabrics that connected, ascending
	RTTMs        float64 // highest median of a candidate pair or stream, to the microsecond
	LossFraction float64 // highest of a stream over the whole call, 0 to 1, to the millionth
	Errors       []Count // reported errors by function, by name
	Issues       []Count // issues by kind, by name
	Members      []Member
	Omitted      int // participants that are not in Members
}

// Count is the number of errors or issues of one kind.
type Count struct {
	Name  string
	Count int
}

// Member is one participant.
type Member struct {
	Session            [16]byte // ID of the session, a UUID
	SiteID             string
	ApplicationVersion string
	Browser            string // family, one of event.Browsers
	BrowserVersion     string // major
	OS                 string // one of event.OperatingSystems
	Devices            []string
	MOS                float64 // 1 to 5; 0: no score
	Label              string
	Cause              string
	DurationMs         int64
	Fabrics            []Fabric // those that differ
}

// Fabric is what PeerConnections of a member had in common.
type Fabric struct {
	Usage               string
	Connected           bool
	LocalCandidateType  string
	RemoteCandidateType string
	RelayProtocol       string
	NetworkType         string
	LocalAddress        string // of the selected pair, cut as it is stored
	Codecs              string // sorted, separated by spaces
}

// none is the cause of a conference without a fault.
const none = "none"

// Of returns the digest of a summary, whose participants have their Client.
func Of(s *conference.Summary) *Digest {
	d := &Digest{
		Outcome: string(s.Outcome), Label: s.Label, Cause: causeOf(string(s.LikelyCause.Cause)), MOS: value(s.MOS),
		Participants: len(s.Participants), Ratings: s.Feedback.Count,
		Errors: counts(s.ErrorsByFunction), Issues: counts(s.IssueCounts),
	}
	if s.Feedback.Worst != nil {
		d.WorstRating = *s.Feedback.Worst
	}
	for _, ms := range s.SetupMs {
		d.SetupMs = append(d.SetupMs, int64(ms+0.5))
	}
	rttMs, loss := s.Highest()
	d.RTTMs, d.LossFraction = value(rttMs), value(loss)
	hidden := namesOf(s)
	for i := range s.Participants {
		d.Members = append(d.Members, memberOf(&s.Participants[i], hidden))
	}
	return d
}

func causeOf(cause string) string {
	if cause == none {
		return ""
	}
	return cause
}

func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
