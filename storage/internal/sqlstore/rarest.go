package sqlstore

// few and many bound the rows that are counted of each choice. Most searches have a choice with
// fewer than few. Of two choices that have many rows each in a store of a million conferences, 64
// conferences have both where one does not depend on the other: a page of 50 is full before
// 8,000 rows are read, as many as a choice below the limit has.
const (
	few  = 1000
	many = 8000
)

// rarest returns the choice that has the fewest conferences, the first of those with many.
func (s *search) rarest(choices [][]driver) ([]driver, error) {
	if len(choices) == 1 {
		return choices[0], nil
	}
	for _, limit := range []int{few, many} {
		best, least, err := s.rarestBelow(choices, limit)
		if err != nil || least < limit {
			return best, err
		}
	}
	return choices[0], nil
}

// rarestBelow returns the choice with the fewest conferences and their number, which is at most limit.
func (s *search) rarestBelow(choices [][]driver, limit int) (best []driver, least int, err error) {
	best, least = choices[0], limit
	for _, choice := range choices {
		n, err := s.countAll(choice, least)
		if err != nil {
			return nil, 0, err
		}
		if n < least {
			best, least = choice, n
		}
	}
	return best, least, nil
}

// countAll counts the conferences of a choice, up to a limit.
func (s *search) countAll(choice []driver, limit int) (n int, err error) {
	for _, d := range choice {
		if n >= limit {
			break
		}
		some, err := s.count(countPart(s.q, d), limit-n)
		if err != nil {
			return 0, err
		}
		n += some
	}
	return n, nil
}

// count counts the rows of a part, up to a limit.
func (s *search) count(p part, limit int) (n int, err error) {
	from := `{table conference} c ` + p.index()
	switch p.by {
	case byTerm:
		from = `{table term} t`
	case byPlace:
		from = fromPlace
	}
	_, err = One(s.tx, []any{&n}, `SELECT count(*) FROM (SELECT 1 FROM `+from+` `+p.where+` LIMIT ?) counted`, append(p.args, limit)...)
	return n, err
}
