// Package term defines the search terms of conferences besides the conferenceID, and their
// form in an engine's index: the names of participants, current and former, and the
// values that applications passed to initialize().
//
// A term is one number. Its upper 48 bits are from the SHA-256 of the value, the next 12
// from that of the AppID, and the lowest 4 are the kind of the value. So all terms of a value are
// adjacent, app by app: a search of one app reads one range, and a search of all apps reads
// a range for each app that has the value. The chance that one of ten million values has the
// same 48 bits as the value of a search is 1 in 28 million: good enough for searches, while
// erasures compare the values themselves.
package term

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

// Term is a value in the index.
type Term int64

// Kind is the kind of a value: a term's lowest 4 bits.
type Kind int64

// The kinds. The kinds of one search condition are consecutive.
const (
	Name       Kind = iota // a user's real name, where it is not the alias
	Alias                  // a user's alias
	Site                   // a siteID
	Version                // an applicationVersion
	Additional             // an additionalID, from here on by its key
	Last       Kind = 15   // an additionalID whose key is not in protocol.AdditionalIDKeys
)

const (
	kindBits = 4
	appBits  = 12
	lowBits  = kindBits + appBits
)

// MaxPerConference bounds the terms of one conference: some thousand participants with different
// names.
const MaxPerConference = 4096

// New returns the term of a value of an app.
func New(app string, kind Kind, value string) Term {
	return valuePart(value) | appPart(app) | Term(kind)
}

func valuePart(value string) Term {
	sum := sha256.Sum256([]byte(value))
	return Term(binary.BigEndian.Uint64(sum[:8]) &^ (1<<lowBits - 1))
}

func appPart(app string) Term {
	sum := sha256.Sum256([]byte(app))
	return Term(binary.BigEndian.Uint16(sum[:2])) & (1<<appBits - 1) << kindBits
}

// Kind returns the kind of the value.
func (t Term) Kind() Kind { return Kind(t & (1<<kindBits - 1)) }

// String returns the kind as in storage.Conference.Matched.
func (k Kind) String() string {
	switch {
	case k == Name || k == Alias:
		return storage.MatchedUser
	case k == Site:
		return storage.MatchedSite
	case k == Version:
		return storage.MatchedVersion
	case int(k-Additional) < len(protocol.AdditionalIDKeys):
		return protocol.AdditionalIDKeys[k-Additional]
	}
	return storage.MatchedAdditional
}

// kindOfKey returns the kind of an additionalID.
func kindOfKey(key string) Kind {
	if i := slices.Index(protocol.AdditionalIDKeys, key); i >= 0 {
		return Additional + Kind(i)
	}
	return Last
}

// OfSession returns the terms of a participant.
func OfSession(app, user, alias string, details map[string]string) []Term {
	out := appendUser(nil, app, user, alias)
	for name, value := range details {
		if value == "" {
			continue
		}
		key, additional := strings.CutPrefix(name, semconv.AdditionalPrefix)
		switch {
		case additional:
			out = append(out, New(app, kindOfKey(key), value))
		case name == semconv.SiteID:
			out = append(out, New(app, Site, value))
		case name == semconv.ApplicationVersion:
			out = append(out, New(app, Version, value))
		}
	}
	return out
}

// OfPreCall returns the terms of a pre-call test, those of its session and of the providers that it tested, each once.
func OfPreCall(p *storage.PreCall) []Term {
	out := OfSession(p.Session.AppID, p.Session.UserID, p.Session.UserAlias, p.Session.Details)
	add := func(value string) { out = append(out, New(p.Session.AppID, Last, value)) }
	for i := range p.Result.Providers {
		name := p.Result.Providers[i].Provider
		add(providerValue(name))
		if _, failed := p.Result.Failed(name); failed && name != "" {
			add(failedValue(name))
		}
	}
	if _, failed := p.Result.Failed(""); failed {
		add(failedValue(""))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// providerValue and failedValue return values that cannot be equal to an additionalID.
func providerValue(provider string) string { return "provider\x00" + provider }

func failedValue(provider string) string { return "failed\x00" + provider }

// appendUser appends the names of a user: a name that equals the alias is one term.
func appendUser(out []Term, app, user, alias string) []Term {
	if alias != "" {
		out = append(out, New(app, Alias, alias))
	}
	if user != "" && user != alias {
		out = append(out, New(app, Name, user))
	}
	return out
}

// Kept is the terms of a conference; true for terms of records of activity.
type Kept map[Term]bool

// Add adds terms and returns those to write, and the number dropped because of MaxPerConference.
// If a term is added both ways, recorded stays true.
func (k Kept) Add(terms []Term, recorded bool) (write []Term, dropped int) {
	for _, t := range terms {
		before, known := k[t]
		switch {
		case known && (before || !recorded):
			continue
		case !known && len(k) >= MaxPerConference:
			dropped++
			continue
		}
		k[t] = recorded
		write = append(write, t)
	}
	return write, dropped
}
