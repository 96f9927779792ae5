package detect

import "math"

// CellMs is the length of a cell at first: the shortest interval at which clients measure.
const CellMs = 2000

// maxRuns bounds a time-line. When there are more, cells double in length until they fit:
// a call of hours that changes all the time is remembered more coarsely, not less far. What
// was bad in one half of a cell and well in the other then neither raises nor resolves.
const maxRuns = 512

// Timeline remembers a Word for each cell of time, run by run: a call in which nothing
// changes takes one run. It depends on the set of what was added and not on the order,
// until it is so full that cells double. The zero value is empty.
type Timeline struct {
	runs  []run // ascending, disjoint; neighbours that touch differ
	shift uint8 // cells are CellMs<<shift long
	facts bool  // words are Facts
}

// run is a stretch of cells that say the same. Cell numbers fit until the year 2106.
type run struct {
	from, to int32 // to is the first cell after it
	word     Word
}

// runBytes are the bytes of a run.
const runBytes = 16

// Bytes returns the bytes that the time-line holds beside itself.
func (t *Timeline) Bytes() int { return cap(t.runs) * runBytes }

// AddFacts is Add for a time-line of Facts.
func (t *Timeline) AddFacts(fromMs, toMs int64, facts Facts) {
	t.facts = true
	t.Add(fromMs, toMs, facts)
}

// Add notes that word held from fromMs to toMs, in ms since the epoch. A cell belongs to
// the interval in which its middle lies, so that intervals that touch share none; an
// interval that holds no middle leaves no trace.
func (t *Timeline) Add(fromMs, toMs int64, word Word) {
	const latest = math.MaxInt32 * CellMs
	from, to := cellAfter(min(max(0, fromMs), latest)), cellAfter(min(max(0, toMs), latest))
	if from >= to || word == 0 {
		return
	}
	t.add(run{from >> t.shift, (to-1)>>t.shift + 1, word})
}

// cellAfter is the first cell whose middle comes after ms.
func cellAfter(ms int64) int32 { return int32((ms + CellMs/2) / CellMs) } // bounded by Add

func (t *Timeline) add(r run) {
	t.insert(r)
	for len(t.runs) > maxRuns {
		t.coarsen()
	}
}

// push appends what comes after all others.
func push(runs []run, r run) []run {
	if r.from >= r.to {
		return runs
	}
	if n := len(runs); n > 0 && runs[n-1].to == r.from && runs[n-1].word == r.word {
		runs[n-1].to = r.to
		return runs
	}
	return append(roomForOne(runs), r)
}

// roomForOne grows by an eighth and not to twice the size, for there are many time-lines, and
// what one has room for is held as long as its call lasts.
func roomForOne(runs []run) []run {
	n := len(runs)
	if n < cap(runs) {
		return runs
	}
	return append(make([]run, 0, n+n/8+1), runs...)
}

// insert joins r with what is there. It almost always belongs at the end: the rows of one
// frame hold at the same time, and what comes next comes after.
func (t *Timeline) insert(r run) {
	at := len(t.runs)
	for at > 0 && t.runs[at-1].to > r.from {
		at--
	}
	var room [4]run
	after := append(room[:0], t.runs[at:]...)
	out := t.runs[:at]
	for _, have := range after {
		out = push(out, run{r.from, min(r.to, have.from), r.word}) // of r, before have
		out = push(out, run{have.from, min(have.to, r.from), have.word})
		out = push(out, run{max(r.from, have.from), min(r.to, have.to), t.join(r.word, have.word)})
		out = push(out, run{max(have.from, r.to), have.to, have.word})
		r.from = max(r.from, min(r.to, have.to))
	}
	t.runs = push(out, r)
}

// coarsen doubles the cells; what shares one is joined.
func (t *Timeline) coarsen() {
	old := t.runs
	t.runs, t.shift = make([]run, 0, maxRuns/2), t.shift+1
	for _, r := range old {
		t.insert(run{r.from >> 1, (r.to-1)>>1 + 1, r.word})
	}
}

// join is what a cell says of which two things are known. In a long cell they are of
// different times, so that it may not say that it was bad all the time.
func (t *Timeline) join(a, b Word) Word {
	if t.shift == 0 || t.facts {
		return a.Join(b)
	}
	return a.blend(b)
}

// Merge adds what another time-line remembers.
func (t *Timeline) Merge(o *Timeline) {
	t.facts = t.facts || o.facts
	for t.shift < o.shift {
		t.coarsen()
	}
	for _, r := range o.runs {
		shift := t.shift - o.shift // adding may coarsen
		t.add(run{r.from >> shift, (r.to-1)>>shift + 1, r.word})
	}
}

// Each calls f with each stretch of time that says the same, in order; what touches
// differs.
func (t *Timeline) Each(f func(fromMs, toMs int64, word Word)) {
	cell := int64(CellMs) << t.shift
	for _, r := range t.runs {
		f(int64(r.from)*cell, int64(r.to)*cell, r.word)
	}
}

// EndMs returns where the evidence ends; 0 where there is none.
func (t *Timeline) EndMs() int64 {
	if t.Empty() {
		return 0
	}
	return int64(t.runs[len(t.runs)-1].to) * (int64(CellMs) << t.shift)
}

// Empty reports whether nothing was added.
func (t *Timeline) Empty() bool { return len(t.runs) == 0 }
