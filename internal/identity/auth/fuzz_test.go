package auth

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xdg-go/scram"

	"github.com/qosrtc/qos/protocol"
)

// FuzzJWT sends any token with any claim of who sends it. Nobody gets in without the
// origin server's signature; with it, only as whom it says.
//
// spec: AUTH-04, AUTH-05
func FuzzJWT(f *testing.F) {
	o := newOriginServer(f)
	keys, err := NewKeys(master("k"))
	require.NoError(f, err)
	a := New(keys, registry{"third": App{ID: "third", Keys: o.keys()}}, nil)
	body := claim(nil)
	for _, header := range []string{esHeader, hsHeader, `{"alg":"none"}`, `{"alg":"ES256","crit":[]}`, "", "null"} {
		f.Add("third", "Alice", header, body, []byte{0}, false)
		f.Add("third", "Alice", header, body, []byte{}, true)
	}
	f.Add("other", "Bob", esHeader, strings.Replace(body, "Alice", "Bob", 1), make([]byte, 64), true)
	f.Fuzz(func(t *testing.T, appID, user, header, claims string, signature []byte, signed bool) {
		token := unsigned(header, claims) + "." + encode(signature)
		if signed {
			token = o.es256(t, header, claims)
		}
		id := protocol.UserID{Name: user, Alias: user}
		reply, identity, refusal := a.JWT(&protocol.JWTRequest{AppID: appID, UserID: id, JWT: token}, page, now)
		if refusal != nil {
			require.Equal(t, protocol.CodeAuthFailed, refusal.Code)
			require.Empty(t, reply)
			return
		}
		require.True(t, signed, "nobody signed this")
		require.Equal(t, "third", appID)
		require.Contains(t, claims, "keyID")
		require.Equal(t, id, identity.User)
		_, refusal = a.Token(reply.Token, reply.Session, page, now)
		require.Nil(t, refusal)
	})
}

// FuzzScram sends any messages through both POSTs. Nobody gets in who did not know the
// secret.
//
// spec: AUTH-01
func FuzzScram(f *testing.F) {
	keys, err := NewKeys(master("k"))
	require.NoError(f, err)
	a := New(keys, registry{"123": newApp(keys, "123", []string{"secret"}, nil)}, nil)
	f.Add("123", "secret", "n,,n=123,r=abc", "c=biws,r=abc,p=", "state", true)
	f.Add("123", "wrong", "n,,n=123,r=abc", "c=biws,r=abc,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "", false)
	f.Add("unknown", "secret", "y,,n=unknown,r=", "", "AAAAAAAAAAAAAAAAAAAAAAAA", false)
	f.Fuzz(func(t *testing.T, appID, secret, first, final, state string, honest bool) {
		client, err := scram.SHA256.NewClientUnprepped(appID, secret, "")
		require.NoError(t, err)
		conversation := client.NewConversation()
		if honest {
			first, err = conversation.Step("")
			require.NoError(t, err)
		}
		challenge, refusal := a.ScramFirst(&protocol.ScramFirst{AppID: appID, UserID: alice, Scram: first}, page, now)
		if refusal == nil {
			state = challenge.State
		}
		if refusal == nil && honest {
			final, err = conversation.Step(challenge.Scram)
			require.NoError(t, err)
		}
		_, identity, refusal := a.ScramFinal(&protocol.ScramFinal{State: state, Scram: final}, page, now)
		knows := honest && appID == "123" && secret == "secret"
		require.Equal(t, knows, refusal == nil, "%v", refusal)
		if knows {
			require.Equal(t, "123", identity.AppID)
		}
	})
}

// FuzzToken sends any session token and session.
func FuzzToken(f *testing.F) {
	keys, err := NewKeys(master("k"))
	require.NoError(f, err)
	a := New(keys, registry{"123": newApp(keys, "123", []string{"secret"}, nil)}, nil)
	id := Identity{AppID: "123", User: alice, Origin: page, IssuedAt: now, ExpiresAt: now.Add(time.Hour)}
	token, err := a.issue(id)
	require.NoError(f, err)
	f.Add(token, keys.MintSession(id, now))
	f.Add("a.b.c", "019aa4d7-3afb-7c3e-9f10-2b6f0c1d2e3f")
	f.Fuzz(func(t *testing.T, token, session string) {
		_, refusal := a.Token(token, session, page, now)
		require.NotNil(t, refusal, "no token names a credential that is registered")
	})
}
