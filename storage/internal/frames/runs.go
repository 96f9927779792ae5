package frames

import "slices"

// Run is the indexes From to To-1 of a frame.
type Run struct{ From, To int }

// Without returns the parts of r that are not in have, the stored runs of its frame in
// order.
func (r *Row) Without(have []Run) ([]Row, error) {
	whole := Run{r.Idx, r.Idx + r.N}
	missing := gaps(whole, have)
	if len(missing) == 1 && missing[0] == whole {
		return []Row{*r}, nil
	}
	if len(missing) == 0 {
		return nil, nil
	}
	_, records, err := r.Decode()
	if err != nil {
		return nil, err
	}
	var parts []Row
	for _, m := range missing {
		e := encoder{}
		part := *r
		part.Idx = m.From
		part.N, part.Body, err = e.row(r.Name, records[m.From-r.Idx:m.To-r.Idx])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// Decode returns the name and the attributes of a row's records.
func (r *Row) Decode() (name string, records []map[string]any, err error) {
	in := decoder{buf: r.Body}
	return in.decode(r.N)
}

// gaps returns the parts of r that are in none of have, which are in order and do not overlap.
func gaps(r Run, have []Run) (missing []Run) {
	for _, h := range have {
		if h.To <= r.From || h.From >= r.To {
			continue
		}
		if h.From > r.From {
			missing = append(missing, Run{r.From, h.From})
		}
		r.From = h.To
	}
	if r.From < r.To {
		missing = append(missing, r)
	}
	return missing
}

// Insert inserts a run into others in order, which it does not overlap.
func Insert(have []Run, r Run) []Run {
	i, _ := slices.BinarySearchFunc(have, r, func(a, b Run) int { return a.From - b.From })
	return slices.Insert(have, i, r)
}
