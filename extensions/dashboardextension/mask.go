package dashboardextension

import (
	"maps"

	"github.com/qosrtc/qos/internal/mask"
)

// maxMasks bounds the real names of one answer. Beyond it the texts are withheld.
const maxMasks = 20_000

// masks are the real names that an answer must not have, with their aliases: in errors, SDP, logs, details.
// Its zero value replaces nothing.
type masks struct{ *mask.Names }

func newMasks() masks { return masks{mask.New(maxMasks)} }

// all masks some texts in place.
func (m masks) all(texts ...*string) {
	for _, text := range texts {
		*text = m.Text(*text)
	}
}

// people masks the details of participants, which applications write. The maps are the store's.
func (m masks) people(list []participant) {
	if m.Empty() {
		return
	}
	for i := range list {
		p := &list[i]
		p.Details = maps.Clone(p.Details)
		for key, text := range p.Details {
			p.Details[key] = m.Text(text)
		}
	}
}

// entries masks the lines of a time-line.
func (m masks) entries(list []entry) {
	for i := range list {
		e := &list[i]
		m.all(&e.Name, &e.Message, &e.Code, &e.ConstraintName, &e.Stack, &e.LocalSDP, &e.RemoteSDP, &e.Text)
		e.Data = m.Value(e.Data)
		if e.Feedback != nil {
			m.all(&e.Feedback.Comment)
		}
	}
}

// detail masks the answer of a conference. It is called when all names of the answer are known.
func (m masks) detail(d *detail) {
	if m.Empty() {
		return
	}
	m.people(d.Conference.Participants)
	m.entries(d.Timeline)
	for _, s := range d.Streams {
		m.all(&s.UsageLabel, &s.RID)
	}
	for _, c := range d.Custom {
		m.all(&c.Name)
	}
	d.Summary = m.Value(d.Summary)
	if d.SoFar != nil {
		d.SoFar.Summary = m.Value(d.SoFar.Summary)
	}
}
