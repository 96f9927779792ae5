package conference

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/internal/instance"
)

// placed is a remark on its way to its conference.
type placed struct {
	id identity
	*remark
	from *conf
}

// rehome puts every remark of a slot where it belongs now that conferences have grown:
// to the nearest conference with activity within 30 s of its place, else to one of
// remarks alone, which are at most 30 s apart. So the place of a remark depends on the
// set of records, not on which came first.
func (s *Set) rehome(sl *slot, nowMs int64) {
	if !slices.ContainsFunc(sl.confs, func(c *conf) bool { return len(c.remarks) > 0 }) {
		return
	}
	var homeless []placed
	for _, c := range slices.Clone(sl.confs) {
		for id, r := range c.remarks {
			p := placed{id, r, c}
			if to := sl.activeHome(r.placeMs); to == nil {
				homeless = append(homeless, p)
			} else if to != c {
				s.move(p, to)
			}
		}
	}
	s.cluster(sl, homeless, nowMs)
	for _, c := range slices.Clone(sl.confs) {
		if !c.active && len(c.remarks) == 0 {
			s.drop(sl, c)
		}
	}
}

// activeHome returns the conference with activity that a remark at that time belongs to.
func (sl *slot) activeHome(at int64) *conf {
	var best *conf
	for _, c := range sl.confs {
		if c.active && c.span.Contains(at) && (best == nil || c.nearer(best, at)) {
			best = c
		}
	}
	return best
}

func (s *Set) move(p placed, to *conf) {
	delete(p.from.remarks, p.id)
	to.keep(p.id, p.remark)
	s.share(to, p.id.session)
	if !p.from.active {
		to.revision = max(to.revision, p.from.revision)
		to.counted.merge(&p.from.counted)
	}
	s.touch(p.from, true)
	s.touch(to, true)
}

// cluster divides the remarks that no activity claims by gaps of 30 s, and gives each part
// the conference that its earliest remark is in already.
func (s *Set) cluster(sl *slot, homeless []placed, nowMs int64) {
	slices.SortFunc(homeless, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.placeMs, b.placeMs), cmp.Compare(a.id.session, b.id.session),
			cmp.Compare(a.id.seq, b.id.seq), cmp.Compare(a.id.index, b.id.index))
	})
	taken := map[*conf]bool{}
	for len(homeless) > 0 {
		n := 1
		for n < len(homeless) && homeless[n].placeMs <= homeless[n-1].placeMs+instance.Gap {
			n++
		}
		s.settle(sl, homeless[:n], taken, nowMs)
		homeless = homeless[n:]
	}
}

// settle brings the remarks of one cluster together. Where there is no room for another
// conference they stay where they are.
func (s *Set) settle(sl *slot, remarks []placed, taken map[*conf]bool, nowMs int64) {
	to := remarks[0].from
	if to.active || taken[to] {
		if to = s.open(sl.confs[0].key, nowMs); to == nil {
			return
		}
	}
	taken[to] = true
	to.span = instance.Span{Start: remarks[0].placeMs, End: remarks[len(remarks)-1].placeMs}
	for _, p := range remarks {
		if p.from != to {
			s.move(p, to)
		}
	}
}
