package qoswssreceiver

import (
	"encoding/json"

	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/protocol"
)

// owner is the user of a session.
type owner struct {
	user     protocol.UserID
	recorded protocol.UserID // user as records have it
	signed   bool            // by an origin server (third-party mode): other IDs that the page gives for its user are claims
}

func ownerOf(id auth.Identity) owner {
	return owner{user: id.User, signed: id.Credential.Kind == auth.CredentialKey}
}

// claimed returns the data of an event, which are as records have them. A local userIDChange of a signed owner has the
// alias of the new ID as a claim: a real name in it would be masked by the alias wherever it is, also as the owner's.
func (o owner) claimed(name string, data []byte) []byte {
	if !o.signed {
		return data
	}
	named := event.Names(name, data)
	if named.Of != event.Claimed && (named.Of != "local" || named.User.Alias == "" || named.User == event.User(o.recorded)) {
		return data
	}
	out, _ := json.Marshal(map[string]string{event.ClaimedUserID: named.User.Alias}) // texts: it does not fail
	return out
}

// giver returns the user who gave a feedback, and the one whom the page named in place of a signed owner.
func (o owner) giver(named protocol.UserID) (giver, claimed protocol.UserID) {
	if !o.signed || named == o.user || named == (protocol.UserID{}) {
		return named, claimed
	}
	return o.user, named
}
