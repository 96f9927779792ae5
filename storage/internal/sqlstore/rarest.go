package sqlstore

import (
	"cmp"
	"math"
	"slices"
)

// sample is the number of newest conferences that are read to estimate the size of a choice. If a choice has several
// drivers, each reads its part of the sample, but at least leastSample.
const (
	sample      = 1000
	leastSample = 50
)

// rarest returns the choice with the fewest conferences, by an estimate. A search reads a choice from the newest
// until a page is full, so the number among the newest matters.
func (s *search) rarest(choices [][]driver) (best []driver, err error) {
	if len(choices) == 1 && len(choices[0]) == 1 {
		return choices[0], nil
	}
	first, err := s.oldestStart()
	if err != nil {
		return nil, err
	}
	fewest := math.Inf(1)
	for _, choice := range choices {
		n, err := s.estimate(choice, first)
		if err != nil {
			return nil, err
		}
		if n < fewest {
			best, fewest = choice, n
		}
	}
	return best, nil
}

// oldestStart returns the start of the oldest conference in the store.
func (s *search) oldestStart() (start int64, err error) {
	_, err = One(s.tx, []any{&start}, `SELECT coalesce(min(start_ms), 0) FROM {table conference}`)
	return start, err
}

// estimate returns the approximate number of conferences of a choice, assuming that all of it is as frequent as its
// newest part. It sorts the drivers by size, largest first: they fill a page soon, and only newer rows of
// the others are read. Drivers of scores keep their order.
func (s *search) estimate(choice []driver, first int64) (total float64, err error) {
	limit := max(leastSample, sample/len(choice))
	totals := make(map[driver]float64, len(choice))
	for _, d := range choice {
		got, err := s.sample(countPart(s.q, d), limit)
		if err != nil {
			return 0, err
		}
		totals[d] = got.total(limit, first)
		total += totals[d]
	}
	if choice[0].kind != indexBand {
		slices.SortStableFunc(choice, func(a, b driver) int { return cmp.Compare(totals[b], totals[a]) })
	}
	return total, nil
}

// sampleResult describes the newest conferences of a driver: their number, and the first and the last start.
type sampleResult struct {
	n           int
	oldest, end int64
}

// total estimates the number of all conferences since first, assuming that older ones are as frequent as the sample.
func (s sampleResult) total(limit int, first int64) float64 {
	if s.n < limit {
		return float64(s.n)
	}
	return float64(s.n) * max(1, float64(s.end-first)/float64(max(1, s.end-s.oldest)))
}

func (s *search) sample(p part, limit int) (got sampleResult, err error) {
	from, start := `{table conference} c `+p.index(), "c.start_ms"
	switch p.kind {
	case indexTerm:
		from, start = `{table term} t`, "t.start_ms"
	case indexConferenceID:
		from = fromPlace
	}
	_, err = One(s.tx, []any{&got.n, &got.oldest, &got.end}, `SELECT count(*), coalesce(min(start), 0), coalesce(max(start), 0) FROM (SELECT `+
		start+` AS start FROM `+from+` `+p.where+` ORDER BY `+start+` DESC LIMIT ?) newest`, append(p.args, limit)...)
	return got, err
}
