package qoswssreceiver

import (
	"encoding/json"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/protocol"
)

// owner is the user of a session.
type owner struct {
	user     protocol.UserID
	recorded protocol.UserID // user with the IDs that records have
	signed   bool            // by an origin server (third-party mode): other IDs that the page gives for its user are claims
}

func ownerOf(id auth.Identity) owner {
	return owner{user: id.User, signed: id.Credential.Kind == auth.CredentialKey}
}

// claimedData returns the data of an event for its record. In a local userIDChange of a signed owner the alias of the
// new ID is a claim: a real name in it would be masked by the alias wherever it occurs, also where it is the owner's.
func (o owner) claimedData(name string, data []byte) []byte {
	if !o.signed {
		return data
	}
	named := event.Names(name, data)
	if named.Of != event.Claimed && (named.Of != "local" || named.User.Alias == "" || named.User == event.User(o.recorded)) {
		return data
	}
	out, _ := json.Marshal(map[string]string{event.ClaimedUserID: named.User.Alias}) // a map of texts: no error
	return out
}

// feedbackUser returns the user who gave a feedback, and the user whom the page named instead of a signed owner.
func (o owner) feedbackUser(named protocol.UserID) (giver, claimed protocol.UserID) {
	if !o.signed || named == o.user || named == (protocol.UserID{}) {
		return named, claimed
	}
	return o.user, named
}
