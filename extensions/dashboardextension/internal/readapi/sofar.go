package readapi

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/record/eventrow"
	"github.com/qosrtc/qos/storage"
)

// The summary so far of a conference that goes on is a function of its records, and the store
// has them, whichever collector they arrived at (docs/adr/0007). So it is folded when a page asks,
// from the same reading of the store that the page is drawn from: nothing of it is held here but
// the last result, for a few seconds.

const (
	// maxFolded bounds the records of a conference that is folded for a page: ten people who
	// are connected to each other make so many in an hour and a quarter at the usual pace.
	maxFolded = 200_000
	// maxFoldedParts bounds its connections and streams. Each takes some 9 kB until the answer is encoded.
	maxFoldedParts = 20_000
	// foldTimeout bounds the time, on a busy machine or database.
	foldTimeout = 10 * time.Second
	// maxFolds is how many conferences are folded at once; others wait.
	maxFolds = 2
	// keepFold is how long a result is good at least, foldShare how many times as long as it
	// took: so pages of one conference take a tenth of a core at most.
	keepFold  = 5 * time.Second
	foldShare = 10
	// maxKeptFolds and maxKeptBytes bound the results that are kept, and their documents.
	maxKeptFolds = 64
	maxKeptBytes = 16 << 20
)

// Why nothing is known so far.
const (
	missingTooLarge = "tooLarge"
	missingTooSlow  = "tooSlow"
	missingFailed   = "failed"
)

// preliminary is what a conference has come to while it goes on.
type preliminary struct {
	At      int64  `json:"at"`                         // when it was so, in ms since the Unix epoch
	Records int    `json:"records,omitempty"`          // records that it was made of
	Missing string `json:"missing,omitempty" mask:"-"` // why there is no summary: tooLarge, tooSlow or failed
	Summary any    `json:"summary" mask:"summary"`     // as summary of the answer; null where it is missing

	document string // the summary as JSON, for all readers
}

// seen returns what a reader may see of the result. Readers share the result.
func (p *preliminary) seen(n names) *preliminary {
	if p == nil {
		return nil
	}
	seen := *p
	seen.Summary = n.summary(p.document)
	return &seen
}

type soFar struct {
	*API
	assessment rules.Rules
	limit      int           // of records
	parts      int           // limit of connections and streams
	turns      chan struct{} // taken by folds

	mu    sync.Mutex
	folds map[storage.Ref]*fold // by the conference's start
}

// fold is one run over a conference's records, and what came of it.
type fold struct {
	done   chan struct{} // closed at its end; what follows is written before
	result *preliminary  // nil where the request that ran it was cancelled
	until  time.Time     // the result is good until then; zero before the end
}

func newSoFar(a *API, assessment rules.Rules) *soFar {
	return &soFar{API: a, assessment: assessment, limit: maxFolded, parts: maxFoldedParts, turns: make(chan struct{}, maxFolds), folds: map[storage.Ref]*fold{}}
}

// pageReading is a page that is drawn from the records of a conference.
type pageReading struct {
	add  func(*event.Event, *storage.Record)
	done bool  // all records were added
	err  error // of the reading; storage.ErrDamaged where all others were added
}

// of returns the summary so far of c, at most a few seconds old. Requests for one conference
// at the same time share one run. The request that runs it has its page drawn from the same
// reading.
func (s *soFar) of(ctx context.Context, c *storage.Conference, page *pageReading) (*preliminary, error) {
	ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start.UTC()}
	for {
		f, mine := s.begin(ref)
		if mine {
			s.fill(ctx, ref, f, c.Participants, page)
		}
		select {
		case <-f.done:
			if f.result != nil {
				return f.result, nil
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// fill runs a fold to its end, whatever happens on the way.
func (s *soFar) fill(ctx context.Context, ref storage.Ref, f *fold, people []storage.Participant, page *pageReading) {
	var result *preliminary
	defer func() { s.end(ref, f, result) }()
	result = s.run(ctx, ref, people, page)
}

// begin returns the fold of a conference that is under way or still good, or a new one that
// the caller has to run.
func (s *soFar) begin(ref storage.Ref) (f *fold, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for r, have := range s.folds {
		if !have.until.IsZero() && !now.Before(have.until) {
			delete(s.folds, r)
		}
	}
	if f = s.folds[ref]; f != nil {
		return f, false
	}
	f = &fold{done: make(chan struct{})}
	s.folds[ref] = f
	return f, true
}

// end makes a result known; nil lets the next who asks run it.
func (s *soFar) end(ref storage.Ref, f *fold, result *preliminary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(f.done)
	f.result = result
	if result == nil {
		delete(s.folds, ref)
		return
	}
	now := s.now()
	f.until = now.Add(max(keepFold, foldShare*now.Sub(time.UnixMilli(result.At))))
	s.drop()
}

// drop forgets the results that lapse first, until the others are few and small enough.
func (s *soFar) drop() {
	var kept []storage.Ref
	size := 0
	for ref, f := range s.folds {
		if !f.until.IsZero() {
			kept, size = append(kept, ref), size+len(f.result.document)
		}
	}
	slices.SortFunc(kept, func(a, b storage.Ref) int { return s.folds[a].until.Compare(s.folds[b].until) })
	for ; len(kept) > maxKeptFolds || size > maxKeptBytes; kept = kept[1:] {
		size -= len(s.folds[kept[0]].result.document)
		delete(s.folds, kept[0])
	}
}

// run folds a conference when it is its turn. It returns nil when the caller has gone.
func (s *soFar) run(ctx context.Context, ref storage.Ref, people []storage.Participant, page *pageReading) *preliminary {
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return nil
	}
	result := &preliminary{At: s.now().UnixMilli()}
	c := conference.New(ref.AppID, ref.ConferenceID, s.assessment.Detectors, s.assessment.Labels)
	err := s.read(ctx, ref, people, page, result, c)
	switch {
	case ctx.Err() != nil:
		return nil
	case result.Missing != "":
	case err == nil || errors.Is(err, storage.ErrDamaged): // the page says that a part is damaged
		result.document = documentOf(c.SoFar(s.assessment.Labels, result.At))
	case errors.Is(err, context.DeadlineExceeded):
		result.Missing = missingTooSlow
	default:
		result.Missing = missingFailed
		s.telemetry.QosdashboardStoreErrors.Add(ctx, 1)
		s.log.Error("A conference that goes on could not be read", zap.String("app", ref.AppID), zap.String("conference", ref.ConferenceID), zap.Error(err))
	}
	if result.Missing != "" {
		result.Records = 0
		s.telemetry.QosdashboardFailedSummaries.Add(ctx, 1, reasonsNotFolded[result.Missing])
	}
	return result
}

// read applies the records of a conference to c, as many and as long as it may, and adds all
// of them to the page.
func (s *soFar) read(ctx context.Context, ref storage.Ref, people []storage.Participant, page *pageReading, result *preliminary, c *conference.Conference) error {
	until := s.now().Add(foldTimeout)
	if page == nil {
		limited, cancel := context.WithDeadline(ctx, until)
		defer cancel()
		ctx = limited
	}
	err := eventrow.EachRecord(ctx, s.reader, ref, people, func(e *event.Event, r *storage.Record) bool {
		if page != nil {
			page.add(e, r)
		}
		if result.Missing == "" && e.Kind != event.KindSDP {
			s.apply(e, until, result, c)
		}
		return ctx.Err() == nil && (page != nil || result.Missing == "")
	})
	if err == nil {
		err = ctx.Err()
	}
	if page != nil {
		page.done, page.err = true, err
	}
	return err
}

// clockEvery is how many records are applied between two readings of the clock.
const clockEvery = 1024

func (s *soFar) apply(e *event.Event, until time.Time, result *preliminary, c *conference.Conference) {
	switch result.Records++; {
	case result.Records > s.limit || c.Parts() > s.parts:
		result.Missing = missingTooLarge
	case result.Records%clockEvery == 0 && s.now().After(until):
		result.Missing = missingTooSlow
	default:
		c.Apply(e)
	}
}

func documentOf(summary conference.Summary) string {
	text, err := json.Marshal(summary)
	if err != nil {
		panic("BUG: a summary is no JSON: " + err.Error()) // it has no number that is not finite
	}
	return string(text)
}
