package qoswssreceiver

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
)

func ownedBy(credential auth.CredentialKind, users *users) *translator {
	id := auth.Identity{AppID: testAppID, User: protocol.UserID{Name: "mallory", Alias: "mallory"}, Credential: auth.Credential{Kind: credential}}
	return newTranslator(endpoint{testAppID, ownerOf(id), testHello()}, &address.Policy{}, users)
}

// A user whose ID an origin server signed cannot become another one. With a secret in the page an ID proves nothing.
//
// spec: AUTH-04, API-06, API-08
func TestSignedUserStaysTheOwner(t *testing.T) {
	signed, secret := ownedBy(auth.CredentialKey, nil), ownedBy(auth.CredentialSecret, nil)
	add := func(tr *translator, frame protocol.Frame) map[string]any {
		tr.add(frame, arrival)
		return records(tr.take())[0].Attributes().AsRaw()
	}
	scope := protocol.Scope{Fabric: testFabric()}
	change := func(tr *translator, data string) string {
		return add(tr, &protocol.Event{Header: header(1), Scope: scope, Event: "userIDChange", Data: []byte(data)})[semconv.EventData].(string)
	}
	const local = `{"userIDType":"local","newUserID":"victim"}`
	require.JSONEq(t, `{"claimedUserID":"victim"}`, change(signed, local))
	for _, data := range []string{
		`{"userIDType":"local","newUserID":{"userName":"mallory","aliasName":"victim"}}`, `{"claimedUserID":{"userName":"mallory","aliasName":"victim"},"userIDType":"local"}`,
	} {
		require.JSONEq(t, `{"claimedUserID":"victim"}`, change(signed, data), "the name of the owner is no name of the victim's")
	}
	for _, same := range []string{`{"userIDType":"remote","newUserID":"victim"}`, `{"userIDType":"local","newUserID":"mallory"}`} {
		require.JSONEq(t, same, change(signed, same))
	}
	require.JSONEq(t, local, change(secret, local))

	feedback := func(tr *translator, user string) [3]any {
		m := add(tr, &protocol.Feedback{Header: header(2), Scope: scope, UserID: protocol.UserID{Name: user, Alias: user}, Overall: 1})
		return [3]any{m[semconv.FeedbackUserID], m[semconv.FeedbackUserAlias], m[semconv.FeedbackUserClaimed]}
	}
	require.Equal(t, [3]any{"mallory", "mallory", "victim"}, feedback(signed, "victim"))
	require.Equal(t, [3]any{"mallory", "mallory", nil}, feedback(signed, "mallory"))
	require.Equal(t, [3]any{"victim", "victim", nil}, feedback(secret, "victim"))
}

// However a page writes a userIDChange, what is recorded renames nobody to a user that was not signed.
//
// spec: AUTH-04
func TestNoFormOfAChangeRenamesASignedUser(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		member := func() string {
			name := rapid.SampledFrom([]string{"userIDType", "useridtype", "USERIDTYPE", "newUserID", "NewUserId", "newuserid", "claimedUserID", "userID"}).Draw(rt, "name")
			value := rapid.SampledFrom([]string{`"local"`, `"remote"`, `"victim"`, `"mallory"`, `{"userName":"victim","aliasName":"mallory"}`, `{"ALIASNAME":"victim"}`, `null`, `7`}).Draw(rt, "value")
			return fmt.Sprintf("%q:%s", name, value)
		}
		data := "{" + member() + "," + member() + "," + member() + "," + member() + "}"
		users, owner := usersOf(hashing(), testAppID, func() {}), testKeys("k").ID("mallory")
		if rapid.Bool().Draw(rt, "plain") {
			users, owner = nil, "mallory"
		}
		tr := ownedBy(auth.CredentialKey, users)
		tr.add(&protocol.Event{Header: header(1), Scope: protocol.Scope{Fabric: testFabric()}, Event: "userIDChange", Data: []byte(data)}, arrival)
		stored, _ := records(tr.take())[0].Attributes().Get(semconv.EventData)
		readings := []event.Naming{event.Names("userIDChange", []byte(stored.Str()))}
		if d := event.ParseData("userIDChange", []byte(stored.Str())); d != nil { // of which conferences are folded
			readings = append(readings, event.Naming{User: event.User{Name: d.UserID, Alias: d.Alias}, Of: d.UserIDType})
		}
		for _, named := range readings {
			if named.Of == "local" && named.User.Alias != "" {
				require.Equal(rt, event.User{Name: owner, Alias: owner}, named.User, data)
			}
		}
	})
}
