package sqlstore

import (
	"cmp"
	"math"
	"slices"
)

// sample is how many of the newest conferences of a choice are read to estimate how many it has. A choice of several
// drivers reads its part of them for each, and leastSample at least.
const (
	sample      = 1000
	leastSample = 50
)

// rarest returns the choice that has the fewest conferences, by an estimate. It is looked through until a page is full,
// so what counts is how many it has where the search begins: among the newest.
func (s *search) rarest(choices [][]driver) (best []driver, err error) {
	if len(choices) == 1 && len(choices[0]) == 1 {
		return choices[0], nil
	}
	first, err := s.first()
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

// first is the start of the oldest conference in the store.
func (s *search) first() (start int64, err error) {
	_, err = One(s.tx, []any{&start}, `SELECT coalesce(min(start_ms), 0) FROM {table conference}`)
	return start, err
}

// estimate returns about how many conferences a choice has, if all of it were as frequent as its newest. It puts the
// drivers that have the most first: they fill a page soon, and of the others only what is newer is looked through.
// Those of scores have their own order.
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
	if choice[0].by != byBand {
		slices.SortStableFunc(choice, func(a, b driver) int { return cmp.Compare(totals[b], totals[a]) })
	}
	return total, nil
}

// sampled is the newest conferences of a driver, up to a limit: their number, and the first and the last start.
type sampled struct {
	n           int
	oldest, end int64
}

// total is how many conferences there are, if those before the sampled ones are as frequent, back to the first start.
func (s sampled) total(limit int, first int64) float64 {
	if s.n < limit {
		return float64(s.n)
	}
	return float64(s.n) * max(1, float64(s.end-first)/float64(max(1, s.end-s.oldest)))
}

func (s *search) sample(p part, limit int) (got sampled, err error) {
	from, start := `{table conference} c `+p.index(), "c.start_ms"
	switch p.by {
	case byTerm:
		from, start = `{table term} t`, "t.start_ms"
	case byPlace:
		from = fromPlace
	}
	_, err = One(s.tx, []any{&got.n, &got.oldest, &got.end}, `SELECT count(*), coalesce(min(start), 0), coalesce(max(start), 0) FROM (SELECT `+
		start+` AS start FROM `+from+` `+p.where+` ORDER BY `+start+` DESC LIMIT ?) newest`, append(p.args, limit)...)
	return got, err
}
