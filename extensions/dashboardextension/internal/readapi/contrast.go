package readapi

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"

	"github.com/qosrtc/qos/internal/access"
	"github.com/qosrtc/qos/internal/contrast"
	"github.com/qosrtc/qos/internal/digest"
	"github.com/qosrtc/qos/storage"
)

const (
	// maxSample bounds the conferences of a set that are compared: of more, a random sample is.
	maxSample = 20_000
	// maxComparisons is how many comparisons are made at once; others wait.
	maxComparisons = 2
)

// contrastAnswer is the answer of /api/contrast.
type contrastAnswer struct {
	At       int64        `json:"at"`       // time of the answer, in ms since the Unix epoch
	Set      comparedSet  `json:"set"`      // the conferences in question
	Baseline comparedSet  `json:"baseline"` // the conferences that they are compared with
	Tested   int          `json:"tested"`   // number of values that were compared
	Dropped  int          `json:"dropped"`  // number of values beyond the limit, which were not compared
	Findings []difference `json:"findings"` // what is more frequent in the set, the strongest first
}

// comparedSet is one of the two sets of a comparison.
type comparedSet struct {
	From        int64  `json:"from"`        // start of the time, inclusive, in ms since the Unix epoch
	To          int64  `json:"to"`          // end of the time, exclusive, in ms since the Unix epoch
	Conferences int    `json:"conferences"` // conferences of the set that have a summary
	Compared    int    `json:"compared"`    // conferences that were compared; fewer than conferences: a random sample
	Search      string `json:"search"`      // link that lists them
}

// difference is a combination of facts that is over-represented in the set.
type difference struct {
	contrast.Finding
	SetShare      float64 `json:"setShare"`      // share of the set that has the facts, 0 to 1
	BaselineShare float64 `json:"baselineShare"` // share of the baseline that has the facts, 0 to 1
	Text          string  `json:"text"`          // the finding in a sentence
	Search        string  `json:"search"`        // link that lists the conferences of the set with these facts
}

// contrast answers what is more frequent in a set of conferences than in a baseline.
func (a *API) contrast(ctx context.Context, r *http.Request) (any, error) {
	p := readParameters(r)
	set, baseline := p.sets()
	if p.err != nil {
		return nil, p.err
	}
	scope := a.view(ctx).scope
	if err := a.audit(ctx, access.Entry{Action: access.ActionSearch, AppID: set.app, Target: p.terms().Encode()}); err != nil {
		return nil, err
	}
	select {
	case a.comparing <- struct{}{}:
		defer func() { <-a.comparing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	inSet, others, err := a.sample(ctx, scope, &set, &baseline)
	if err != nil {
		return nil, err
	}
	result := contrast.Compare(append(inSet.items, others.items...), contrast.Options{})
	out := contrastAnswer{
		At: a.now().UnixMilli(), Set: newComparedSet(&set, inSet), Baseline: newComparedSet(&baseline, others),
		Tested: result.Tested, Dropped: result.Dropped, Findings: make([]difference, 0, len(result.Findings)),
	}
	for i := range result.Findings {
		out.Findings = append(out.Findings, newDifference(&result, &result.Findings[i], &set))
	}
	return out, nil
}

// sample is a uniform random sample of the conferences of a set (reservoir sampling).
type sample struct {
	inSet   bool
	random  *rand.Rand
	matched int
	items   []contrast.Item
}

// newSample returns a sample without items. A comparison that is repeated draws the same.
func newSample(inSet bool) *sample {
	return &sample{inSet: inSet, random: rand.New(rand.NewPCG(maxSample, 1))} //nolint:gosec // a sample, no secret
}

func (s *sample) add(d *storage.Digest, one *digest.Digest) {
	s.matched++
	if len(s.items) < maxSample {
		s.items = append(s.items, contrast.Of(d.AppID, one, s.inSet))
	} else if i := s.random.IntN(s.matched); i < maxSample {
		s.items[i] = contrast.Of(d.AppID, one, s.inSet)
	}
}

// sample draws from both sets. A store is read once if they are of one app and time.
func (a *API) sample(ctx context.Context, scope access.Scope, set, baseline *conferenceSet) (inSet, others *sample, err error) {
	inSet, others = newSample(true), newSample(false)
	together := set.app == baseline.app && set.from.Equal(baseline.from) && set.to.Equal(baseline.to)
	add := func(d *storage.Digest, one *digest.Digest) {
		switch {
		case set.has(d, one):
			if together {
				inSet.add(d, one)
			}
		case baseline.filter.Match(one):
			others.add(d, one)
		}
	}
	if err = a.eachDigest(ctx, scope, baseline, add); err != nil || together {
		return inSet, others, err
	}
	return inSet, others, a.eachDigest(ctx, scope, set, func(d *storage.Digest, one *digest.Digest) {
		if set.filter.Match(one) {
			inSet.add(d, one)
		}
	})
}

// eachDigest calls yield for each conference of the app and time of a set that a reader may see and that has a summary.
func (a *API) eachDigest(ctx context.Context, scope access.Scope, set *conferenceSet, yield func(*storage.Digest, *digest.Digest)) error {
	var decoder digest.Decoder
	var one digest.Digest
	for _, app := range within(scope, set.app) {
		err := a.reader.Digests(ctx, storage.DigestQuery{AppID: app, From: set.from, To: set.to}, func(d storage.Digest) bool {
			if len(d.Body) > 0 && decoder.Decode(d.Body, &one) == nil {
				yield(&d, &one)
			}
			return ctx.Err() == nil
		})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

func newComparedSet(set *conferenceSet, s *sample) comparedSet {
	return comparedSet{From: set.from.UnixMilli(), To: set.to.UnixMilli(), Conferences: s.matched, Compared: len(s.items), Search: set.search()}
}

func newDifference(r *contrast.Result, f *contrast.Finding, set *conferenceSet) difference {
	d := difference{Finding: *f, SetShare: float64(f.InSet) / float64(r.Set), BaselineShare: float64(f.InBaseline) / float64(r.Baseline)}
	d.Text = fmt.Sprintf("%s: %s of the set, %s of the baseline, %.1f times as frequent", factText(f.Facts), percent(d.SetShare), percent(d.BaselineShare), f.Lift)
	search := url.Values{}
	maps.Copy(search, set.given)
	addFacts(search, f.Facts)
	d.Search = "search?" + search.Encode()
	return d
}

// percent returns a share with two significant digits at least.
func percent(share float64) string {
	if v := share * 100; v != 0 && math.Abs(v) < 10 {
		return fmt.Sprintf("%.1f %%", v)
	}
	return fmt.Sprintf("%.0f %%", share*100)
}
