package erasure

import (
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/digest"
)

// Digest erases the user in the digest of a conference's summary. Of members whose session is own it removes the same
// data as OwnSession and Own do; in other members it replaces identifiers. A digest that cannot be decoded is removed.
func (ids *IDs) Digest(body []byte, own func(session [16]byte) bool) (_ []byte, changed bool) {
	out, err := digest.Rewrite(body, func(m *digest.Member) {
		d := digestMember{ids: ids, changed: &changed}
		if own(m.Session) {
			d.eraseOwn(m)
		}
		d.replaceIDs(m)
	})
	switch {
	case err != nil:
		return nil, len(body) > 0
	case !changed:
		return body, false
	}
	return out, true
}

// digestMember changes one member.
type digestMember struct {
	ids     *IDs
	changed *bool
}

func (d digestMember) set(text *string, value string) {
	*d.changed, *text = *d.changed || *text != value, value
}

// eraseOwn removes the data that records, sessions and summaries of the user no longer have. The operating system is
// from the user agent.
func (d digestMember) eraseOwn(m *digest.Member) {
	d.set(&m.OS, "")
	*d.changed, m.Devices = *d.changed || len(m.Devices) > 0, nil
	for i := range m.Fabrics {
		f := &m.Fabrics[i]
		d.set(&f.LocalAddress, "")
		for member, text := range words(f) {
			if !conference.IsWord(member, *text) {
				d.set(text, "")
			}
		}
	}
}

// replaceIDs replaces identifiers in all texts.
func (d digestMember) replaceIDs(m *digest.Member) {
	texts := []*string{&m.SiteID, &m.ApplicationVersion, &m.Browser, &m.BrowserVersion, &m.OS}
	for i := range m.Devices {
		texts = append(texts, &m.Devices[i])
	}
	for i := range m.Fabrics {
		f := &m.Fabrics[i]
		texts = append(texts, &f.LocalAddress, &f.Codecs)
		for member, text := range words(f) {
			if !conference.IsWord(member, *text) {
				texts = append(texts, text)
			}
		}
	}
	for _, text := range texts {
		if replaced, ok := d.ids.Text(*text); ok {
			d.set(text, replaced)
		}
	}
}

// words returns the members of a fabric whose values are words that the page sent.
func words(f *digest.Fabric) map[string]*string {
	return map[string]*string{
		"localCandidateType": &f.LocalCandidateType, "remoteCandidateType": &f.RemoteCandidateType, "relayProtocol": &f.RelayProtocol, "networkType": &f.NetworkType,
	}
}
