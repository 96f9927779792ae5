package overview

import "github.com/qosrtc/qos/internal/call/digest"

// The counts of digests, one after the other: what those of columns are compared with.

// Pending counts a conference without a summary.
func (t *Totals) Pending(appID string) {
	t.Conferences++
	t.WithoutSummary++
	t.Apps.add(appID, &digest.Digest{})
}

// Add counts a conference.
func (t *Totals) Add(appID string, d *digest.Digest) {
	t.Conferences++
	t.Participants += d.Participants
	t.Ratings += d.Ratings
	if digest.Failed(d.Outcome) {
		t.Failed++
	}
	t.Scores.add(d.MOS)
	for _, ms := range d.SetupMs {
		t.Setup.Add(ms)
	}
	for _, c := range d.Errors {
		t.addErrors(c.Name, Errors{Conferences: 1, Errors: c.Count})
	}
	for _, c := range d.Issues {
		t.Issues.add(c.Name, d)
	}
	t.Apps.add(appID, d)
	t.Outcomes.add(d.Outcome, d)
	t.Labels.add(d.Label, d)
	t.Causes.add(d.Cause, d)
	t.addMembers(d)
}

// addMembers counts each value once for the conference.
func (t *Totals) addMembers(d *digest.Digest) {
	for of, values := range map[*Values]func(*digest.Member) string{
		&t.Sites: func(m *digest.Member) string { return m.SiteID }, &t.Versions: func(m *digest.Member) string { return m.ApplicationVersion },
		&t.Browsers: func(m *digest.Member) string {
			if m.Browser == "" || m.BrowserVersion == "" {
				return m.Browser
			}
			return m.Browser + " " + m.BrowserVersion
		},
	} {
		once := map[string]bool{}
		for i := range d.Members {
			once[values(&d.Members[i])] = true
		}
		for value := range once {
			of.add(value, d)
		}
	}
}

// add counts a conference; an empty value is none.
func (v *Values) add(value string, d *digest.Digest) {
	if value == "" {
		return
	}
	one := Group{Conferences: 1}
	if digest.Failed(d.Outcome) {
		one.Failed = 1
	}
	one.Scores.add(d.MOS)
	v.Put(value, one)
}
