package detect

import "math"

// CellMs is the initial length of a cell, ms: the shortest interval at which clients measure.
const CellMs = 2000

// maxRuns bounds a time-line. Above it cells double in length until the runs fit: a call of
// hours that changes all the time loses precision, not its beginning. A cell that was bad in
// one half and good in the other then neither raises nor resolves.
const maxRuns = 512

// Timeline stores a Word for each cell of time, run-length encoded: a call in which nothing
// changes takes one run. Until cells double, it depends on the set of the added intervals and
// not on their order. The zero value is empty.
type Timeline struct {
	runs  []run // ascending, disjoint; adjacent runs differ
	shift uint8 // cells are CellMs<<shift long
	facts bool  // words are Facts
}

// run is a sequence of cells with the same word. Cell numbers fit until the year 2106.
type run struct {
	from, to int32 // to is the first cell after it
	word     Word
}

// runBytes is the size of a run.
const runBytes = 16

// Bytes returns the memory of the runs, without that of the Timeline itself.
func (t *Timeline) Bytes() int { return cap(t.runs) * runBytes }

// AddFacts is Add for a time-line of Facts.
func (t *Timeline) AddFacts(fromMs, toMs int64, facts Facts) {
	t.facts = true
	t.Add(fromMs, toMs, facts)
}

// Add joins word into the cells from fromMs to toMs, ms since the epoch. A cell belongs to
// the interval that contains its middle, so adjacent intervals share none, and an interval
// that contains no middle is dropped.
func (t *Timeline) Add(fromMs, toMs int64, word Word) {
	const latest = math.MaxInt32 * CellMs
	from, to := cellAfter(min(max(0, fromMs), latest)), cellAfter(min(max(0, toMs), latest))
	if from >= to || word == 0 {
		return
	}
	t.add(run{from >> t.shift, (to-1)>>t.shift + 1, word})
}

// cellAfter returns the first cell whose middle is not before ms.
func cellAfter(ms int64) int32 { return int32((ms + CellMs/2) / CellMs) } // bounded by Add

func (t *Timeline) add(r run) {
	t.insert(r)
	for len(t.runs) > maxRuns {
		t.coarsen()
	}
}

// push appends a run that is after all others.
func push(runs []run, r run) []run {
	if r.from >= r.to {
		return runs
	}
	if n := len(runs); n > 0 && runs[n-1].to == r.from && runs[n-1].word == r.word {
		runs[n-1].to = r.to
		return runs
	}
	return append(growForOne(runs), r)
}

// growForOne makes room for one run. It grows by an eighth and not to twice the size: there are
// many time-lines, and each holds its memory for as long as its call lasts.
func growForOne(runs []run) []run {
	n := len(runs)
	if n < cap(runs) {
		return runs
	}
	return append(make([]run, 0, n+n/8+1), runs...)
}

// insert joins r with the runs that overlap it. Almost always r belongs at the end: the
// measurements of one frame have the same interval, and frames arrive mostly in order.
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

// coarsen doubles the length of the cells and joins each pair.
func (t *Timeline) coarsen() {
	old := t.runs
	t.runs, t.shift = make([]run, 0, maxRuns/2), t.shift+1
	for _, r := range old {
		t.insert(run{r.from >> 1, (r.to-1)>>1 + 1, r.word})
	}
}

// join returns the word of a cell that holds two. In a long cell they may be of different
// times, so that they do not prove that the whole cell was bad.
func (t *Timeline) join(a, b Word) Word {
	if t.shift == 0 || t.facts {
		return a.Join(b)
	}
	return a.blend(b)
}

// Merge adds the runs of another time-line.
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

// Each calls f for each stretch of time with the same word, in order. Adjacent ones differ.
func (t *Timeline) Each(f func(fromMs, toMs int64, word Word)) {
	cell := int64(CellMs) << t.shift
	for _, r := range t.runs {
		f(int64(r.from)*cell, int64(r.to)*cell, r.word)
	}
}

// EndMs returns the end of the evidence, ms since the epoch; 0 where there is none.
func (t *Timeline) EndMs() int64 {
	if t.Empty() {
		return 0
	}
	return int64(t.runs[len(t.runs)-1].to) * (int64(CellMs) << t.shift)
}

// Empty reports whether nothing was added.
func (t *Timeline) Empty() bool { return len(t.runs) == 0 }
