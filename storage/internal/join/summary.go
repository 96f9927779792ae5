package join

import (
	"errors"
	"fmt"
	"math"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// Order determines which of two summaries of one conference is kept.
type Order struct {
	Revision int64
	Span     instance.Span
}

// Beats reports whether a is kept rather than b: the higher revision wins. If merged conferences both have a
// summary of the same revision, the longer one wins, then the earlier.
func (a Order) Beats(b *Order) bool {
	if b == nil || a.Revision != b.Revision {
		return b == nil || a.Revision > b.Revision
	}
	long, other := a.Span.End-a.Span.Start, b.Span.End-b.Span.Start
	return long > other || long == other && a.Span.Start < b.Span.Start
}

// Summary is the columns of a summary.
type Summary struct {
	Order
	Outcome      string
	Participants int
	MOS          *float64
	Label        string
	Cause        string
	Digest       []byte // nil: none
	Document     []byte // in the form of its column; nil if it was not read
}

// NewSummary checks a summary and returns its columns.
func NewSummary(s storage.Summary) (*Summary, error) {
	start, end := s.Start.UnixMilli(), s.End.UnixMilli()
	switch {
	case s.AppID == "":
		return nil, errors.New("summary has no AppID")
	case s.ConferenceID == "":
		return nil, errors.New("summary has no conferenceID")
	case max(len(s.AppID), len(s.ConferenceID), len(s.Outcome), len(s.Label), len(s.Cause)) > storage.MaxIDBytes:
		return nil, fmt.Errorf("summary's AppID has %d bytes, its conferenceID %d, its outcome %d, its label %d, its cause %d: at most %d are kept",
			len(s.AppID), len(s.ConferenceID), len(s.Outcome), len(s.Label), len(s.Cause), storage.MaxIDBytes)
	case len(s.Digest) > storage.MaxDigestBytes:
		return nil, fmt.Errorf("summary's digest has %d bytes: at most %d are kept", len(s.Digest), storage.MaxDigestBytes)
	case s.MOS != nil && (math.IsNaN(*s.MOS) || math.IsInf(*s.MOS, 0)):
		return nil, errors.New("summary's MOS is not a finite number")
	case start < 0 || end > frames.MaxTime || end < start:
		return nil, errors.New("summary's start and end are not in 1970 to 9999, or in the wrong order")
	}
	document, err := SealDocument(s.Document)
	if err != nil {
		return nil, err
	}
	digest := s.Digest
	if len(digest) == 0 {
		digest = nil
	}
	return &Summary{
		Order{int64(s.Revision), instance.Span{Start: start, End: end}},
		s.Outcome, s.Participants, s.MOS, s.Label, s.Cause, digest, document,
	}, nil
}

// Stored returns the columns as a storage.Summary, without its document.
func (s *Summary) Stored(app, conference string) *storage.Summary {
	return &storage.Summary{
		AppID: app, ConferenceID: conference, Start: frames.FromMs(s.Span.Start), End: frames.FromMs(s.Span.End),
		Revision: int(s.Revision), Outcome: s.Outcome, Participants: s.Participants,
		MOS: s.MOS, Label: s.Label, Cause: s.Cause,
	}
}
