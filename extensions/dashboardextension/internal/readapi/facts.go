package readapi

import (
	"context"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/call/contrast"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

// unindexed are the parameters of a search that the store has no index of.
var unindexed = slices.DeleteFunc(parametersOf[digest.Filter](), func(d parameter) bool { return d.sets(reflect.TypeFor[storage.Query]()) })

// digestCondition reads the conditions of a search that the store has no index of; nil without any.
func (p *parameters) digestCondition() condition {
	var f digest.Filter
	p.fill(&f, unindexed)
	facts := p.facts()
	if len(facts) == 0 && f == (digest.Filter{}) {
		return nil
	}
	var builder digest.Builder
	var decoder digest.Decoder
	var d digest.Digest
	return func(_ context.Context, c *storage.Conference) (bool, error) {
		if c.Summary == nil || len(c.Summary.Digest) == 0 {
			return false, nil
		}
		builder.Add(c.AppID, c.Start, c.Summary.Digest)
		one := builder.Columns()
		if found := f.In(one)(one.Row(0)); !found || len(facts) == 0 {
			return found, nil
		}
		if decoder.Decode(c.Summary.Digest, &d) != nil {
			return false, nil
		}
		item := contrast.Of(c.AppID, &d, false)
		return item.Has(facts), nil
	}
}

// factWords are the words before the value of an attribute.
var factWords = map[string]string{
	contrast.App: "app", contrast.Site: "site", contrast.ApplicationVersion: "app version", contrast.Browser: "browser", contrast.BrowserVersion: "browser",
	contrast.OS: "operating system", contrast.Device: "device", contrast.Usage: "usage", contrast.LocalCandidateType: "local candidate",
	contrast.RemoteCandidateType: "remote candidate", contrast.RelayProtocol: "relay protocol", contrast.NetworkType: "network",
	contrast.LocalAddress: "address prefix", contrast.Codec: "codec",
}

// factText returns facts as "browser firefox 144, site berlin".
func factText(facts []contrast.Fact) string {
	parts := make([]string, len(facts))
	for i, f := range facts {
		parts[i] = factWords[f.Attribute] + " " + f.Value
	}
	return strings.Join(parts, ", ")
}

// addFacts adds facts to the parameters of a search: those that a term index finds by their own parameter, once each.
func addFacts(search url.Values, facts []contrast.Fact) {
	for _, f := range facts {
		own := slices.IndexFunc(parameterTable, func(d parameter) bool { return d.attribute == f.Attribute })
		if own >= 0 && !search.Has(parameterTable[own].name) {
			search.Set(parameterTable[own].name, f.Value)
		}
		if len(facts) > 1 || own < 0 {
			search.Add(parameterFact, f.Attribute+":"+f.Value)
		}
	}
}
