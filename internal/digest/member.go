package digest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/internal/conference"
)

func counts(of map[string]int) (out []Count) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if of[name] > 0 {
			out = append(out, Count{name, of[name]})
		}
	}
	return out
}

func memberOf(p *conference.Participant) Member {
	c := &p.Client
	m := Member{
		SiteID: c.SiteID, ApplicationVersion: c.ApplicationVersion, Browser: c.Browser, BrowserVersion: c.BrowserVersion,
		OS: p.Machine.OS, Devices: p.Machine.Devices[:min(len(p.Machine.Devices), maxDistinct)],
		MOS: value(p.MOS), Label: p.Label, Cause: causeOf(string(p.LikelyCause.Cause)), DurationMs: p.DurationMs,
	}
	if id, err := uuid.Parse(p.Session); err == nil {
		m.Session = id
	}
	for i := range p.Fabrics {
		f := fabricOf(&p.Fabrics[i])
		if len(m.Fabrics) < maxDistinct && !slices.Contains(m.Fabrics, f) {
			m.Fabrics = append(m.Fabrics, f)
		}
	}
	return m
}

func fabricOf(f *conference.Fabric) Fabric {
	var codecs []string
	for i := range f.Streams {
		if codec := f.Streams[i].Codec; codec != "" && !slices.Contains(codecs, codec) {
			codecs = append(codecs, codec)
		}
	}
	slices.SortFunc(codecs, cmp.Compare)
	return Fabric{
		Usage: f.Usage, Connected: f.State == conference.StateConnected,
		LocalCandidateType: f.LocalCandidateType, RemoteCandidateType: f.RemoteCandidateType, RelayProtocol: f.RelayProtocol,
		NetworkType: f.NetworkType, LocalAddress: f.LocalAddress, Codecs: strings.Join(codecs, " "),
	}
}
