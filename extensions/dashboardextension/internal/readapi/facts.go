package readapi

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/internal/contrast"
	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/digest"
	"github.com/qosrtc/qos/storage"
)

// parameterFact selects conferences of which one participant has a fact: "browserVersion:firefox 144". Several facts
// are of the same participant.
const parameterFact = "fact"

// maxFacts bounds the facts of a request.
const maxFacts = 8

// maxSetupMs bounds a setup delay that is searched for, in ms: the limit of a notification has the same bound.
const maxSetupMs = 1_000_000

// maxRTTMs bounds a round-trip time that is searched for, in ms, likewise.
const maxRTTMs = 1_000_000

// outcomeFailed stands for the outcomes of conferences that failed.
const outcomeFailed = "failed"

// digestFilter reads the conditions on conferences of which digests have the facts.
func (p *parameters) digestFilter() digest.Filter {
	f := digest.Filter{
		Outcome: p.word("outcome", outcomes()), Label: p.word("quality", labels), Cause: p.word("cause", causes()),
		MinMOS: p.score("scoreFrom"), MaxMOS: p.score("scoreTo"),
		MinSetupMs: p.integer("setupFrom", 1, maxSetupMs, 0), MaxRating: int(p.integer("ratingTo", 1, 5, 0)),
		AboveRTTMs: p.above("rttAbove", maxRTTMs), AboveLoss: p.above("lossAbove", 1),
		Function: p.text("function"), Issue: p.word("issue", issueKinds()),
		Site: p.text("site"), ApplicationVersion: p.text("version"),
		Browser: p.text("browser"), BrowserVersion: p.text("browserVersion"),
	}
	if f.Outcome == outcomeFailed {
		f.Outcome, f.Failed = "", true
	}
	if f.MinMOS > 0 && f.MaxMOS > 0 && f.MinMOS > f.MaxMOS {
		p.fail("scoreTo", "must not be less than scoreFrom")
	}
	return f
}

// score reads a score from 1 to 5; absent is 0.
func (p *parameters) score(field string) float64 {
	v := p.raw(field)
	if v == "" {
		return 0
	}
	score, err := strconv.ParseFloat(v, 64)
	if err != nil || !(score >= 1 && score <= 5) { // NaN is in no range
		p.fail(field, "must be a number from 1 to 5")
	}
	return score
}

// above reads a number above 0 and at most highest; absent is 0.
func (p *parameters) above(field string, highest float64) float64 {
	v := p.raw(field)
	if v == "" {
		return 0
	}
	number, err := strconv.ParseFloat(v, 64)
	if err != nil || !(number > 0 && number <= highest) { // NaN is in no range
		p.fail(field, fmt.Sprintf("must be a number above 0 and at most %g", highest))
	}
	return number
}

func issueKinds() (out []string) {
	for _, kind := range detect.Kinds {
		out = append(out, string(kind))
	}
	return out
}

// facts reads the parameters of facts.
func (p *parameters) facts() (out []contrast.Fact) {
	all := p.values[parameterFact]
	if len(all) > maxFacts {
		p.fail(parameterFact, fmt.Sprintf("stands %d times, at most %d are allowed", len(all), maxFacts))
		return nil
	}
	for _, text := range all {
		attribute, value, _ := strings.Cut(text, ":")
		if !slices.Contains(contrast.Attributes(), attribute) || value == "" {
			p.fail(parameterFact, "must be an attribute and a value, such as siteID:berlin; the attributes are "+strings.Join(contrast.Attributes(), ", "))
			return nil
		}
		out = append(out, contrast.Fact{Attribute: attribute, Value: value})
	}
	return out
}

// digestCondition reads the conditions of a search that the store has no index of; nil without any.
func (p *parameters) digestCondition() condition {
	facts, all := p.facts(), p.digestFilter()
	f := digest.Filter{
		MinSetupMs: all.MinSetupMs, AboveRTTMs: all.AboveRTTMs, AboveLoss: all.AboveLoss, MaxRating: all.MaxRating,
		Function: all.Function, Issue: all.Issue, Browser: all.Browser, BrowserVersion: all.BrowserVersion,
	}
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
var factWords = map[string]string{ //nolint:gochecknoglobals // a constant
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
	own := map[string]string{contrast.App: "app", contrast.Site: "site", contrast.ApplicationVersion: "version"}
	for _, f := range facts {
		if name := own[f.Attribute]; name != "" && !search.Has(name) {
			search.Set(name, f.Value)
		}
		if len(facts) > 1 || own[f.Attribute] == "" {
			search.Add(parameterFact, f.Attribute+":"+f.Value)
		}
	}
}
