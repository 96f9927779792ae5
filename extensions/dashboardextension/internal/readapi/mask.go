package readapi

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

// each masks the texts of a list in place.
func (m masks) each(texts []string) {
	for i := range texts {
		texts[i] = m.Text(texts[i])
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

func (m masks) streams(list []*stream) {
	for _, s := range list {
		m.all(&s.UsageLabel, &s.RID)
		for name, text := range s.Latest.Texts {
			s.Latest.Texts[name] = m.Text(text)
		}
	}
}

// tail masks the newest measurements of a conference.
func (m masks) tail(t *tail) {
	if m.Empty() {
		return
	}
	m.people(t.Conference.Participants)
	m.streams(t.Streams)
}

// detail masks the answer of a conference. It is called when all names of the answer are known.
func (m masks) detail(d *detail) {
	if m.Empty() {
		return
	}
	m.people(d.Conference.Participants)
	m.each(d.Conference.Sites)
	m.entries(d.Timeline)
	m.streams(d.Streams)
	for _, c := range d.Custom {
		m.all(&c.Name)
	}
	d.Summary = m.Value(d.Summary)
	if d.SoFar != nil {
		d.SoFar.Summary = m.Value(d.SoFar.Summary)
	}
}
