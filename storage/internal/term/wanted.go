package term

import "github.com/qosrtc/qos/storage"

// Wanted is one condition of a search: a conference has a term of one value, of one of the
// kinds from First to Last.
type Wanted struct {
	Low, High   Term // all terms of the value in the apps that are searched
	First, Last Kind
	// ConferenceID fulfils the condition too, where it is not empty.
	ConferenceID string
	// AliasesOnly is true where a conference that has the value as a real name does not fulfil the condition, whatever else
	// has it: a reader who may not see the name finds nothing by it.
	AliasesOnly bool
}

// Names returns the bounds of the terms of the value as a real name, of kind Name, in the apps that are searched.
func (w Wanted) Names() (low, high Term) { return w.Low &^ (1<<kindBits - 1), w.High }

// Fits says whether a term between Low and High is one of the kinds.
func (w Wanted) Fits(t Term) bool { return w.First <= t.Kind() && t.Kind() <= w.Last }

// Of returns the conditions of a search that terms answer.
func Of(q storage.Query) (out []Wanted) {
	add := func(value string, first, last Kind) {
		if value != "" {
			w := wanted(q.AppID, value, first, last)
			w.AliasesOnly = q.AliasesOnly
			out = append(out, w)
		}
	}
	user := Name
	if q.AliasesOnly {
		user = Alias
	}
	add(q.UserID, user, Alias)
	first, last := Additional, Last
	if q.AdditionalKey != "" {
		first = ofKey(q.AdditionalKey)
		last = first
	}
	add(q.AdditionalID, first, last)
	add(q.SiteID, Site, Site)
	add(q.ApplicationVersion, Version, Version)
	add(q.Any, user, Last)
	if q.Any != "" {
		out[len(out)-1].ConferenceID = q.Any
	}
	return out
}

// OfPreCalls returns the conditions of a search of pre-call tests that terms answer, the narrowest first.
func OfPreCalls(q storage.PreCallQuery) []Wanted {
	out := Of(storage.Query{
		AppID: q.AppID, UserID: q.UserID, SiteID: q.SiteID, ApplicationVersion: q.ApplicationVersion,
		AdditionalID: q.AdditionalID, AdditionalKey: q.AdditionalKey, AliasesOnly: q.AliasesOnly,
	})
	switch {
	case q.Failed:
		out = append(out, wanted(q.AppID, failedValue(q.Provider), Last, Last))
	case q.Provider != "":
		out = append(out, wanted(q.AppID, providerValue(q.Provider), Last, Last))
	}
	return out
}

func wanted(app, value string, first, last Kind) Wanted {
	w := Wanted{First: first, Last: last, Low: valuePart(value)}
	if app == "" {
		w.High = w.Low | (1<<lowBits - 1)
		return w
	}
	w.Low |= appPart(app)
	w.Low, w.High = w.Low|Term(first), w.Low|Term(last)
	return w
}
