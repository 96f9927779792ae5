package auth

import "github.com/qosrtc/qos/protocol"

// Claimed tells for whom the state of a ScramFinal was made: what the first POST claimed.
// Nothing is proved by it but that this installation made the state; it may be old or used.
func (a *Authenticator) Claimed(state string) (appID string, user protocol.UserID, ok bool) {
	var s scramState
	text, err := a.keys.openText(purposeScram, state)
	if err != nil || !s.unmarshal(text) {
		return "", protocol.UserID{}, false
	}
	return s.appID, s.user, true
}
