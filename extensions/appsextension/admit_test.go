package appsextension

import (
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	"github.com/xdg-go/scram"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/protocol"
)

// client asks for tokens at a collector as a page would.
type client struct {
	*auth.Authenticator
	user protocol.UserID
}

const shopPage = "https://shop.example"

// login runs the handshake of app-secret mode.
func (c client) login(t *testing.T, secret string) (protocol.TokenReply, *protocol.Error) {
	t.Helper()
	user, err := scram.SHA256.NewClientUnprepped("shop", secret, "")
	require.NoError(t, err)
	conversation := user.NewConversation()
	text, err := conversation.Step("")
	require.NoError(t, err)
	first, refusal := c.ScramFirst(&protocol.ScramFirst{AppID: "shop", UserID: c.user, Scram: text}, shopPage, time.Now())
	require.Nil(t, refusal)
	text, err = conversation.Step(first.Scram)
	require.NoError(t, err)
	reply, _, refusal := c.ScramFinal(&protocol.ScramFinal{State: first.State, Scram: text}, shopPage, time.Now())
	return reply, refusal
}

// What one collector's API makes admits at another, in both modes, until it is revoked,
// disabled or taken away there.
//
// spec: AUTH-01, AUTH-02, AUTH-04, AUTH-05
func TestWhatIsMadeAdmits(t *testing.T) {
	store := newSQLite(t)
	r, other := startOn(t, store), startOn(t, store)
	r.create(`{"origins":["` + shopPage + `"]}`)
	secret := into[app.Shown](t, r.must(http.StatusCreated, http.MethodPost, shop+"/secrets", ""))
	key := into[keyMade](t, r.must(http.StatusCreated, http.MethodPost, shop+"/keys", `{"algorithm":"HS256"}`))
	other.eventually("both", func(s auth.App, _ bool) bool { return len(s.Verifiers) == 1 && len(s.Keys) == 1 })

	alice := client{auth.New(other.Keys(), other.registry, nil), protocol.UserID{Name: "alice", Alias: "alice"}}
	reply, refusal := alice.login(t, secret.Secret)
	require.Nil(t, refusal)
	_, refusal = alice.login(t, secret.Secret+"x")
	require.Equal(t, protocol.CodeAuthFailed, refusal.Code)
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"appID": "shop", "userID": "alice", "keyID": key.ID, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	}).SignedString([]byte(key.Secret))
	require.NoError(t, err)
	third := func() *protocol.Error {
		_, _, refusal := alice.JWT(&protocol.JWTRequest{AppID: "shop", UserID: alice.user, JWT: signed}, shopPage, time.Now())
		return refusal
	}
	require.Nil(t, third())
	identity, refusal := alice.Token(reply.Token, reply.Session, shopPage, time.Now())
	require.Nil(t, refusal)
	require.Nil(t, alice.Recheck(identity, time.Now()))

	r.must(http.StatusOK, http.MethodPut, shop+"/keys/"+key.ID, `{"disabled":true}`)
	other.eventually("a disabled key", func(s auth.App, _ bool) bool { return len(s.Keys) == 0 })
	require.NotNil(t, third())
	r.must(http.StatusOK, http.MethodPost, shop+"/revoke", `{"user":"alice"}`)
	other.eventually("a revocation", func(s auth.App, _ bool) bool { return len(s.RevokedUsers) == 1 })
	require.NotNil(t, alice.Recheck(identity, time.Now()))
	_, refusal = alice.Token(reply.Token, reply.Session, shopPage, time.Now())
	require.NotNil(t, refusal)
	r.must(http.StatusNoContent, http.MethodDelete, shop+"/secrets/"+secret.ID, "")
	other.eventually("no secret", func(s auth.App, _ bool) bool { return len(s.Verifiers) == 0 })
	_, refusal = alice.login(t, secret.Secret)
	require.Equal(t, protocol.CodeAuthFailed, refusal.Code)
}
