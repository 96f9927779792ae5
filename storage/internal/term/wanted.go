package term

import "github.com/qosrtc/qos/storage"

// Wanted is one condition of a search: a conference must have a term of one value, of a
// kind from First to Last.
type Wanted struct {
	Low, High   Term // range of all terms of the value in the searched apps
	First, Last Kind
	// ConferenceID fulfils the condition too, if it is not empty.
	ConferenceID string
	// AliasesOnly reports whether a conference with the value as a real name does not fulfil the condition, whatever else
	// has the value: a user who may not see real names must not find anything by them.
	AliasesOnly bool
}

// Names returns the range of the terms of the value as a real name, of kind Name, in the searched apps.
func (w Wanted) Names() (low, high Term) { return w.Low &^ (1<<kindBits - 1), w.High }

// Fits reports whether a term between Low and High is of a kind from First to Last.
func (w Wanted) Fits(t Term) bool { return w.First <= t.Kind() && t.Kind() <= w.Last }

// Of returns the conditions of a query that are answered by terms.
func Of(q storage.Query) (out []Wanted) {
	add := func(value string, first, last Kind) {
		if value != "" {
			w := newWanted(q.AppID, value, first, last)
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
		first = kindOfKey(q.AdditionalKey)
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

// OfPreCalls returns the conditions of a query of pre-call tests that are answered by terms, the narrowest first.
func OfPreCalls(q storage.PreCallQuery) []Wanted {
	out := Of(storage.Query{
		AppID: q.AppID, UserID: q.UserID, SiteID: q.SiteID, ApplicationVersion: q.ApplicationVersion,
		AdditionalID: q.AdditionalID, AdditionalKey: q.AdditionalKey, AliasesOnly: q.AliasesOnly,
	})
	switch {
	case q.OnlyFailed:
		out = append(out, newWanted(q.AppID, failedValue(q.Provider), Last, Last))
	case q.Provider != "":
		out = append(out, newWanted(q.AppID, providerValue(q.Provider), Last, Last))
	}
	return out
}

func newWanted(app, value string, first, last Kind) Wanted {
	w := Wanted{First: first, Last: last, Low: valuePart(value)}
	if app == "" {
		w.High = w.Low | (1<<lowBits - 1)
		return w
	}
	w.Low |= appPart(app)
	w.Low, w.High = w.Low|Term(first), w.Low|Term(last)
	return w
}
