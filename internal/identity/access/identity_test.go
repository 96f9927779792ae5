package access

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Two accounts have one name only where issuer and subject are the same, and no local user has it.
//
// spec: DASH-03
func TestIdentitiesDoNotCollide(t *testing.T) {
	seen := map[string]Identity{}
	for _, i := range []Identity{
		{Issuer: "https://a.example", Subject: "1"},
		{Issuer: "https://b.example", Subject: "1"},
		{Issuer: "https://a.example", Subject: "2"},
		{Issuer: "https://a.example", Subject: "1 "},
		{Issuer: "https://a.exampl", Subject: "e1"},
		{Issuer: "https://a.example\x00", Subject: "1"},
		{Issuer: "https://a.example", Subject: "\x001"},
		{Issuer: "https://a.example", Subject: "admin"},
		{Issuer: "https://A.example", Subject: "admin"},
	} {
		name := i.UserName()
		require.NotContains(t, seen, name, "%v", i)
		seen[name] = i
		require.True(t, IsIdentityName(name))
		require.Error(t, CheckUserName(name))
		require.Less(t, len(name), 64)
		named := i
		named.Name = "another name"
		require.Equal(t, name, named.UserName())
	}
	require.False(t, IsIdentityName("admin"))
}

// A name shows what it is: it has one line, and no character changes the text around it.
//
// spec: DASH-03
func TestShownName(t *testing.T) {
	for text, want := range map[string]string{
		"Ada Lovelace":               "Ada Lovelace",
		"  Ada \t\r\n Lovelace ":     "Ada Lovelace",
		"Zoe\u0308":                  "Zo\u00eb",
		"\u202eadmin\u202c":          "admin",
		"\u2067a\u2069\u200fb\u061c": "ab",
		"a\x00b\x1bc\x7fd\u0085e":    "abcd e",
		"a\u200bb\ufeffc\ue000d":     "abcd",
		"a\xffb":                     "ab",
		"\u2028line":                 "line",
		"":                           "",
		"\u200b\u202e":               "",
		"山田 太郎":                      "山田 太郎",
	} {
		require.Equal(t, want, ShownName(text), "%q", text)
	}
	long := ShownName(strings.Repeat("é", 5000))
	require.Equal(t, MaxShownName, utf8.RuneCountInString(long))
	require.True(t, strings.HasSuffix(long, "…"))
}

// A user of a provider has no password, and does not count as an administrator who remains.
//
// spec: DASH-03
func TestUsersOfAProvider(t *testing.T) {
	u := User{Roles: []Role{Admin}, Scope: Scope{All: true}, Identity: &Identity{Issuer: "https://a.example", Subject: "1"}}
	require.NoError(t, u.Check())
	require.False(t, u.Manages())
	local := u
	local.Identity = nil
	require.True(t, local.Manages())
	u.Password = "hash"
	require.ErrorContains(t, u.Check(), "password must be empty")
	u.Password, u.Identity.Subject = "", ""
	require.ErrorContains(t, u.Check(), "subject must have 1 to 255 bytes (got 0)")
	body, err := local.Encode()
	require.NoError(t, err)
	require.NotContains(t, string(body), "identity", "documents of local users are as before")
}
