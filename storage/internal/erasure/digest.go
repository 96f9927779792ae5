package erasure

import (
	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/digest"
)

// Digest erases the user in the digest of a conference's summary: of members whose session is own what remains of a
// session (OwnSession) and of the user's records, of others the identifiers. A digest that cannot be decoded is removed.
func (ids *IDs) Digest(body []byte, own func(session [16]byte) bool) (_ []byte, changed bool) {
	out, err := digest.Rewrite(body, func(m *digest.Member) {
		d := digestMember{ids: ids, changed: &changed}
		if own(m.Session) {
			d.own(m)
		}
		d.mention(m)
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

// own removes what a record, a session or a summary of the user has no more: the operating system is of the user agent.
func (d digestMember) own(m *digest.Member) {
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

// mention replaces identifiers in all texts.
func (d digestMember) mention(m *digest.Member) {
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

// words returns the members of a fabric whose words a page sent.
func words(f *digest.Fabric) map[string]*string {
	return map[string]*string{
		"localCandidateType": &f.LocalCandidateType, "remoteCandidateType": &f.RemoteCandidateType, "relayProtocol": &f.RelayProtocol, "networkType": &f.NetworkType,
	}
}
