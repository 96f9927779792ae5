package digest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/identity/mask"
)

func counts(of map[string]int) (out []Count) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if of[name] > 0 {
			out = append(out, Count{name, of[name]})
		}
	}
	return out
}

// maxNames bounds the real names of one conference that are replaced. Beyond it all texts of applications are withheld.
const maxNames = 20_000

// namesOf returns the real names of a conference with their aliases; nil without any.
func namesOf(s *conference.Summary) *mask.Names {
	var names *mask.Names
	add := func(alias string, real ...string) {
		for _, name := range real {
			if name == "" || name == alias {
				continue
			}
			if names == nil {
				names = mask.New(maxNames)
			}
			names.Add(name, alias)
		}
	}
	for i := range s.Participants {
		p := &s.Participants[i]
		add(p.Alias, append([]string{p.UserID}, p.UserIDs...)...)
		for k := range p.Fabrics {
			add(p.Fabrics[k].RemoteAlias, append([]string{p.Fabrics[k].RemoteUserID}, p.Fabrics[k].RemoteUserIDs...)...)
		}
	}
	return names
}

func memberOf(p *conference.Participant, hidden *mask.Names) Member {
	c := &p.Client
	m := Member{
		SiteID: hidden.Text(c.SiteID), ApplicationVersion: hidden.Text(c.ApplicationVersion), Browser: c.Browser, BrowserVersion: c.BrowserVersion,
		OS: p.Machine.OS, Devices: masked(hidden, p.Machine.Devices[:min(len(p.Machine.Devices), maxDistinct)]),
		MOS: value(p.MOS), Label: p.Label, Cause: causeOf(string(p.LikelyCause.Cause)), DurationMs: p.DurationMs,
	}
	if id, err := uuid.Parse(p.Session); err == nil {
		m.Session = id
	}
	for i := range p.Fabrics {
		if p.Fabrics[i].State == conference.StateUnused {
			continue
		}
		f := fabricOf(&p.Fabrics[i], hidden)
		if len(m.Fabrics) < maxDistinct && !slices.Contains(m.Fabrics, f) {
			m.Fabrics = append(m.Fabrics, f)
		}
	}
	return m
}

// masked returns texts without the real names; those of devices may have the name of their owner.
func masked(hidden *mask.Names, texts []string) []string {
	if hidden.Empty() {
		return texts
	}
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = hidden.Text(text)
	}
	return out
}

// fabricOf returns a fabric. What a page wrote in place of a word of the protocol may have a real name.
func fabricOf(f *conference.Fabric, hidden *mask.Names) Fabric {
	word := func(member, text string) string {
		if conference.IsWord(member, text) {
			return text
		}
		return hidden.Text(text)
	}
	var codecs []string
	for i := range f.Streams {
		if codec := word("codec", f.Streams[i].Codec); codec != "" && !slices.Contains(codecs, codec) {
			codecs = append(codecs, codec)
		}
	}
	slices.SortFunc(codecs, cmp.Compare)
	return Fabric{
		Usage: word("usage", f.Usage), Connected: f.State == conference.StateConnected,
		LocalCandidateType: word("localCandidateType", f.LocalCandidateType), RemoteCandidateType: word("remoteCandidateType", f.RemoteCandidateType),
		RelayProtocol: word("relayProtocol", f.RelayProtocol), NetworkType: word("networkType", f.NetworkType), LocalAddress: f.LocalAddress, Codecs: strings.Join(codecs, " "),
	}
}
