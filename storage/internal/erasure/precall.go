package erasure

import (
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// PreCall is a stored pre-call test: the row of its session at that time, and its result.
type PreCall struct {
	Row    frames.SessionRow
	Result storage.PreCallResult
}

// OwnPreCall erases the content of a test of the user. Its measurements, providers and network type remain, and the
// data that OwnSession keeps.
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

// mapTexts returns a copy of a result with replaced free texts: by replace its reason and the errors of its
// transports, by label the names of its providers.
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

// Owns reports whether a test belongs to the erased user. stored is the user in the session's row, empty without one.
func (e *Erasure) Owns(session [16]byte, row frames.SessionRow, stored string) bool {
	return Began(session) < e.At.UnixMilli() && (e.Names(row.UserID, row.UserAlias) || row.UserID == e.Pseudonym || stored == e.Pseudonym)
}

// LatePreCall applies the erasures of a store to a test of an app. stored returns the user in its session's row, or "".
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
