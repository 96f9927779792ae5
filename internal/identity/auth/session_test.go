package auth

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// spec: AUTH-02
func TestSessionBelongsToItsIdentity(t *testing.T) {
	keys := testKeys(t)
	id := Identity{AppID: "123", User: alice, Origin: page}
	session := keys.MintSession(id, now)
	require.True(t, protocol.ValidSession(session), session)
	require.Equal(t, "019aa4d7-3afb", session[:13], "begins with its time")
	require.True(t, keys.CheckSession(session, id))
	renewed := id
	renewed.TokenID, renewed.ExpiresAt, renewed.Credential = "other", now.Add(time.Hour), Credential{Kind: CredentialKey, ID: "k"}
	require.True(t, keys.CheckSession(session, renewed), "a renewed token, with another secret or key")

	f := func(name string, session string, change func(*Identity)) {
		t.Helper()
		other := id
		change(&other)
		require.False(t, keys.CheckSession(session, other), name)
	}
	f("another app", session, func(i *Identity) { i.AppID = "124" })
	f("another user", session, func(i *Identity) { i.User.Name = "Bob" })
	f("another alias", session, func(i *Identity) { i.User.Alias = "u-2" })
	f("another origin", session, func(i *Identity) { i.Origin = "https://b.example" })
	f("texts that run together", session, func(i *Identity) { i.AppID, i.User.Name = "123Ali", "ce" })
	same := func(*Identity) {}
	f("empty", "", same)
	f("no hex", strings.Repeat("x", 36), same)
	f("short", session[:len(session)-2], same)
	f("long", session+"00", same)
	for i, c := range session {
		if c != '-' {
			f("another digit", session[:i]+other(c)+session[i+1:], same)
		}
	}
	require.NotEqual(t, session, keys.MintSession(id, now))
}

func other(digit rune) string {
	if digit == '0' {
		return "1"
	}
	return "0"
}

// spec: AUTH-02
func TestTokenWantsASessionOfItsOwn(t *testing.T) {
	a, _ := testAuthenticator(t)
	mine, _, refusal := login(t, a, "open", "Paßwort fi", page)
	require.Nil(t, refusal)
	elsewhere, _, refusal := login(t, a, "open", "Paßwort fi", "https://b.example")
	require.Nil(t, refusal)
	renewed, _, refusal := login(t, a, "open", "Paßwort fi", page)
	require.Nil(t, refusal)

	_, refusal = a.Token(renewed.Token, mine.Session, page, now)
	require.Nil(t, refusal, "a session goes on under a renewed token")
	heard := listen(a)
	_, refusal = a.Token(mine.Token, elsewhere.Session, page, now)
	require.Equal(t, protocol.CodeAuthFailed, refusal.Code)
	require.Equal(t, ReasonSessionWrong, heard.last(t).Reason)
	_, refusal = a.Token(mine.Token, "019aa480-4e3b-7c3e-9f10-2b6f0c1d2e3f", page, now)
	require.NotNil(t, refusal, "minted by the client")
}
