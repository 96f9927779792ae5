package overview

import (
	"cmp"
	"slices"
)

// maxValues bounds the values of each kind in one Totals. Conferences with further values count as Other.
const maxValues = 1000

// Totals holds the counts of conferences of some time. The zero value is empty. The order in which Totals of
// disjoint sets of conferences are merged does not change the result, except for values beyond the limit.
type Totals struct {
	Conferences    int
	WithoutSummary int // live, or without a summary yet: only in the counts Conferences and Apps
	Participants   int
	Failed         int
	Scores         Mean
	Setup          Histogram // setup delays of fabrics, ms
	Ratings        int
	Errors         map[string]Errors // by function

	Outcomes Values
	Labels   Values
	Causes   Values
	Issues   Values // conferences with an issue, by kind
	Apps     Values

	// A conference counts once for each value that one of its participants has.
	Browsers Values // "firefox 144"
	Sites    Values
	Versions Values
}

// Errors counts the reported errors of one function.
type Errors struct {
	Conferences int // with such an error
	Errors      int
}

// FunctionErrors is a function with its errors.
type FunctionErrors struct {
	Function string
	Errors
}

// TopErrors returns the n functions with errors in the most conferences, sorted by that number, then by name.
func (t *Totals) TopErrors(n int) []FunctionErrors {
	all := make([]FunctionErrors, 0, len(t.Errors))
	for function, e := range t.Errors {
		all = append(all, FunctionErrors{function, e})
	}
	slices.SortFunc(all, func(a, b FunctionErrors) int {
		return cmp.Or(cmp.Compare(b.Conferences, a.Conferences), cmp.Compare(a.Function, b.Function))
	})
	return all[:min(n, len(all))]
}

// Mean is a mean score.
type Mean struct {
	Count int
	sum   int64 // thousandths: sums of integers do not depend on their order
}

// Value returns the mean, or nil without a score.
func (m Mean) Value() *float64 {
	if m.Count == 0 {
		return nil
	}
	v := float64(m.sum) / float64(m.Count) / 1000
	return &v
}

func (m *Mean) add(mos float64) {
	if mos > 0 {
		m.Count++
		m.sum += int64(mos*1000 + 0.5)
	}
}

func (m *Mean) merge(o Mean) { m.Count, m.sum = m.Count+o.Count, m.sum+o.sum }

func (t *Totals) addErrors(function string, e Errors) {
	if t.Errors == nil {
		t.Errors = map[string]Errors{}
	}
	have, ok := t.Errors[function]
	if !ok && len(t.Errors) >= maxValues {
		return
	}
	t.Errors[function] = Errors{have.Conferences + e.Conferences, have.Errors + e.Errors}
}

// Merge adds the conferences of o.
func (t *Totals) Merge(o *Totals) {
	t.Conferences += o.Conferences
	t.WithoutSummary += o.WithoutSummary
	t.Participants += o.Participants
	t.Failed += o.Failed
	t.Ratings += o.Ratings
	t.Scores.merge(o.Scores)
	t.Setup.Merge(&o.Setup)
	for function, e := range o.Errors {
		t.addErrors(function, e)
	}
	mine, others := t.values(), o.values()
	for i := range mine {
		mine[i].merge(others[i])
	}
}

func (t *Totals) values() []*Values {
	return []*Values{&t.Outcomes, &t.Labels, &t.Causes, &t.Issues, &t.Apps, &t.Browsers, &t.Sites, &t.Versions}
}
