package readapi

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"

	"github.com/qosrtc/qos/internal/call/contrast"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/identity/access"
)

const (
	// maxSample bounds the conferences of a set that are compared: of more, a random sample is.
	maxSample = 10_000
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
	if err := a.audit(ctx, access.Entry{Action: access.ActionSearch, AppID: set.AppID, Target: p.terms().Encode()}); err != nil {
		return nil, err
	}
	select {
	case a.comparing <- struct{}{}:
		defer func() { <-a.comparing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	table := &contrast.Table{}
	inSet, others, err := a.sample(ctx, scope, table, &set, &baseline)
	if err != nil {
		return nil, err
	}
	table.Grow(len(inSet.items)+len(others.items), inSet.entries()+others.entries())
	for _, s := range []*sample{inSet, others} {
		for _, one := range s.items {
			table.Add(one, s == inSet)
		}
	}
	result := table.Compare(contrast.Options{})
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
	random  *rand.Rand
	matched int
	items   []contrast.Conference
}

// newSample returns a sample without items. A comparison that is repeated draws the same.
func newSample() *sample {
	return &sample{random: rand.New(rand.NewPCG(maxSample, 1))} //nolint:gosec // a sample, no secret
}

// entries is the length of all items' Members.
func (s *sample) entries() (n int) {
	for i := range s.items {
		n += len(s.items[i].Members)
	}
	return n
}

func (s *sample) add(c *contrast.Columns, r *digest.Row) {
	s.matched++
	if len(s.items) < maxSample {
		s.items = append(s.items, c.Conference(r))
	} else if i := s.random.IntN(s.matched); i < maxSample {
		s.items[i] = c.Conference(r)
	}
}

// sample draws from both sets conferences that a reader may see and that have a summary. They are read once if both sets
// are of one app and time.
func (a *API) sample(ctx context.Context, scope access.Scope, table *contrast.Table, set, baseline *conferenceSet) (inSet, others *sample, err error) {
	inSet, others = newSample(), newSample()
	together := set.period == baseline.period
	err = a.each(ctx, scope, baseline, func(c *digest.Columns, rows iter.Seq[*digest.Row]) {
		columns, has, matches := table.Columns(c), set.in(c), baseline.In(c)
		for r := range rows {
			switch {
			case has(r):
				if together {
					inSet.add(columns, r)
				}
			case matches(r):
				others.add(columns, r)
			}
		}
	})
	if err != nil || together {
		return inSet, others, err
	}
	return inSet, others, a.each(ctx, scope, set, func(c *digest.Columns, rows iter.Seq[*digest.Row]) {
		columns, matches := table.Columns(c), set.In(c)
		for r := range rows {
			if matches(r) {
				inSet.add(columns, r)
			}
		}
	})
}

// each calls yield with the conferences of the app and time of a set that a reader may see.
func (a *API) each(ctx context.Context, scope access.Scope, set *conferenceSet, yield func(*digest.Columns, iter.Seq[*digest.Row])) error {
	apps := within(scope, set.AppID)
	if len(apps) == 0 {
		return nil
	}
	return a.hours.Each(ctx, apps, set.From, set.To, func(c *digest.Columns, first, end int) {
		yield(c, func(yield func(*digest.Row) bool) {
			for i := first; i < end && yield(c.Row(i)); i++ {
			}
		})
	})
}

func newComparedSet(set *conferenceSet, s *sample) comparedSet {
	return comparedSet{From: set.From.UnixMilli(), To: set.To.UnixMilli(), Conferences: s.matched, Compared: len(s.items), Search: set.search()}
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
