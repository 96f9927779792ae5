package overview

import (
	"slices"

	"github.com/qosrtc/qos/internal/call/digest"
)

// AddColumns counts the conferences in rows first to end-1 of some columns.
func (t *Totals) AddColumns(c *digest.Columns, first, end int) {
	n := newColumnCounts(c)
	for i := first; i < end; i++ {
		r := c.Row(i)
		t.Conferences++
		n.apps.add(r.App, r)
		if r.Pending {
			t.WithoutSummary++
			continue
		}
		t.Participants += r.Participants
		t.Ratings += r.Ratings
		if r.Failed {
			t.Failed++
		}
		t.Scores.add(r.MOS)
		for _, ms := range c.Setup(r) {
			t.Setup.Add(ms)
		}
		for _, e := range c.Errors(r) {
			t.addErrors(c.Texts()[e.Name], Errors{Conferences: 1, Errors: e.Count})
		}
		n.add(r)
	}
	n.putInto(t)
}

// columnCounts holds counts by the numbers of texts and facts in columns.
type columnCounts struct {
	columns                                *digest.Columns
	apps, outcomes, labels, causes, issues groupCounts // by text
	facts                                  groupCounts
	counted                                []bool // by fact: whether Totals has a value for it
	seen                                   []int  // by fact: number of the last conference that had it
	conferences                            int
}

// groupCounts holds the counts of the conferences with each number.
type groupCounts struct {
	groups []Group  // by number
	seen   []uint32 // numbers with a conference, in the order of their first one
}

func (n *groupCounts) add(number uint32, r *digest.Row) {
	g := &n.groups[number]
	if g.Conferences == 0 {
		n.seen = append(n.seen, number)
	}
	g.Conferences++
	if r.Failed {
		g.Failed++
	}
	g.Scores.add(r.MOS)
}

func newColumnCounts(c *digest.Columns) *columnCounts {
	n := &columnCounts{columns: c, counted: make([]bool, len(c.Facts())), seen: make([]int, len(c.Facts()))}
	for _, one := range []*groupCounts{&n.apps, &n.outcomes, &n.labels, &n.causes, &n.issues} {
		one.groups = make([]Group, len(c.Texts()))
	}
	n.facts.groups = make([]Group, len(c.Facts()))
	for i, f := range c.Facts() {
		switch f.Attribute {
		case digest.Site, digest.ApplicationVersion, digest.BrowserVersion, digest.Browser:
			n.counted[i] = true
		}
	}
	return n
}

// add counts a conference with a digest once for each value.
func (n *columnCounts) add(r *digest.Row) {
	n.conferences++
	n.outcomes.add(r.Outcome, r)
	n.labels.add(r.Label, r)
	n.causes.add(r.Cause, r)
	for _, issue := range n.columns.Issues(r) {
		n.issues.add(issue.Name, r)
	}
	facts := n.columns.Facts()
	n.columns.Members(r, func(member []uint32) bool {
		version := slices.ContainsFunc(member, func(f uint32) bool { return facts[f].Attribute == digest.BrowserVersion })
		for _, f := range member {
			if !n.counted[f] || n.seen[f] == n.conferences || version && facts[f].Attribute == digest.Browser {
				continue
			}
			n.seen[f] = n.conferences
			n.facts.add(f, r)
		}
		return true
	})
}

func (n *columnCounts) putInto(t *Totals) {
	texts, facts := n.columns.Texts(), n.columns.Facts()
	for into, from := range map[*Values]*groupCounts{&t.Apps: &n.apps, &t.Outcomes: &n.outcomes, &t.Labels: &n.labels, &t.Causes: &n.causes, &t.Issues: &n.issues} {
		for _, number := range from.seen {
			if texts[number] != "" {
				into.Put(texts[number], from.groups[number])
			}
		}
	}
	for _, f := range n.facts.seen {
		value := texts[facts[f].Value]
		switch facts[f].Attribute {
		case digest.Site:
			t.Sites.Put(value, n.facts.groups[f])
		case digest.ApplicationVersion:
			t.Versions.Put(value, n.facts.groups[f])
		case digest.Browser, digest.BrowserVersion:
			t.Browsers.Put(value, n.facts.groups[f])
		}
	}
}
