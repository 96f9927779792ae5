package erasure

import (
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// PreCall is a pre-call test as it is stored: the row of its session at that time, and its result.
type PreCall struct {
	Row    frames.SessionRow
	Result storage.PreCallResult
}

// OwnPreCall returns what remains of a test of the user: its measurements, providers and network type, and what
// remains of the session.
func (ids *IDs) OwnPreCall(p PreCall, pseudonym string) (PreCall, error) {
	row, err := ids.OwnSession(p.Row, pseudonym)
	p.Row, p.Result = row, mapTexts(p.Result, func(string) string { return "" }, func(text string) string { text, _ = ids.Text(text); return text })
	if !keptWords["networkType"][p.Result.NetworkType] {
		p.Result.NetworkType = ""
	}
	return p, err
}

// PreCall replaces identifiers in a test of another user.
func (ids *IDs) PreCall(p PreCall) (_ PreCall, changed bool, err error) {
	p.Row.Details, changed, err = ids.Details(p.Row.Details)
	replace := func(text string) string {
		replaced, found := ids.Text(text)
		changed = changed || found
		return replaced
	}
	p.Result = mapTexts(p.Result, replace, replace)
	if !keptWords["networkType"][p.Result.NetworkType] {
		p.Result.NetworkType = replace(p.Result.NetworkType)
	}
	return p, changed, err
}

// mapTexts replaces the free texts of a result: its reason and the errors of its transports, and by label those of its
// providers. The result that is given stays as it is.
func mapTexts(r storage.PreCallResult, replace, label func(string) string) storage.PreCallResult {
	r.Reason = replace(r.Reason)
	providers := r.Providers
	r.Providers = nil
	for _, provider := range providers {
		transports := provider.Transports
		provider.Provider = label(provider.Provider)
		provider.Transports = nil
		for _, transport := range transports {
			transport.Error = replace(transport.Error)
			provider.Transports = append(provider.Transports, transport)
		}
		r.Providers = append(r.Providers, provider)
	}
	return r
}

// Owns reports whether a test of a session is the erased user's. stored is the name that the session's row has, empty
// without one.
func (e *Erasure) Owns(session [16]byte, row frames.SessionRow, stored string) bool {
	return Began(session) < e.At.UnixMilli() && (e.Names(row.UserID, row.UserAlias) || row.UserID == e.Pseudonym || stored == e.Pseudonym)
}

// LatePreCall returns a test of an app as it is to be written after the erasures of a store. stored returns the name
// that the row of its session has, empty without one.
func LatePreCall(all []*Erasure, app string, session [16]byte, p PreCall, stored func() (string, error)) (PreCall, error) {
	for _, e := range all {
		if e.AppID != app || Began(session) >= e.At.UnixMilli() {
			continue
		}
		name, err := stored()
		if err != nil {
			return p, err
		}
		if e.Owns(session, p.Row, name) {
			p, err = e.Find(true, nil).OwnPreCall(p, e.Pseudonym)
		} else {
			p, _, err = e.Find(false, nil).PreCall(p)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}
