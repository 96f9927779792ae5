package event

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// spec: INIT-03, API-06
func TestParseUser(t *testing.T) {
	for raw, want := range map[string]User{
		`"ann"`: {"ann", "ann"},
		`{"userName":"Ann Real","aliasName":"ann"}`:                       {"Ann Real", "ann"},
		`{"aliasName":"ann"}`:                                             {"ann", "ann"},
		`{"userName":null,"aliasName":"ann","more":1}`:                    {"ann", "ann"},
		`"` + strings.Repeat("x", 600) + `"`:                              {strings.Repeat("x", 512), strings.Repeat("x", 512)},
		`{"userName":"n","aliasName":"` + strings.Repeat("€", 171) + `"}`: {"n", strings.Repeat("€", 170)},
		`""`:                      {},
		`null`:                    {},
		`7`:                       {},
		`["ann"]`:                 {},
		`{}`:                      {},
		`{"userName":"Ann Real"}`: {},
		`{"aliasName":7}`:         {},
		`no JSON`:                 {},
		``:                        {},
	} {
		got, ok := ParseUser([]byte(raw))
		require.Equal(t, want, got, raw)
		require.Equal(t, want != User{}, ok, raw)
	}
}

// spec: API-06
func TestNames(t *testing.T) {
	for data, want := range map[string]Naming{
		`{"userIDType":"local","newUserID":"ann"}`:                                      {User{"ann", "ann"}, "local"},
		`{"userIDType":"remote","newUserID":{"userName":"Bob Real","aliasName":"bob"}}`: {User{"Bob Real", "bob"}, "remote"},
		`{"userIDType":"Local","newUserID":"ann"}`:                                      {User{"ann", "ann"}, ""},
		`{"newUserID":"ann"}`:                                                           {User{"ann", "ann"}, ""},
		`{"userIDType":"local"}`:                                                        {User{}, "local"},
		`{"userIDType":"local","newUserID":{"userName":"Ann Real"}}`:                    {User{}, "local"},
		`{"userIDType":1,"newUserID":"ann"}`:                                            {User{"ann", "ann"}, ""},
		`{"claimedUserID":"ann","userIDType":"local","newUserID":"bob"}`:                {User{"ann", "ann"}, Claimed},
		`no JSON`: {},
	} {
		require.Equal(t, want, Names("userIDChange", []byte(data)), data)
		if d := ParseData("userIDChange", []byte(data)); d != nil {
			require.Equal(t, want, Naming{User{d.UserID, d.Alias}, d.UserIDType}, data)
		}
	}
	require.Equal(t, Naming{User: User{"ann", "ann"}}, Names("associateMstWithUserID", []byte(`{"ssrc":1,"userID":"ann","newUserID":"bob","userIDType":"local"}`)))
	require.Zero(t, Names("customEvent", []byte(`{"userID":"ann","newUserID":"bob","userIDType":"local"}`)))
}

// A name is never empty, never longer than is kept, and text where it was text.
func FuzzParseUser(f *testing.F) {
	f.Add(`"ann"`)
	f.Add(`{"userName":"n","aliasName":"a"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		u, ok := ParseUser([]byte(raw))
		require.Equal(t, ok, u.Alias != "")
		require.Equal(t, ok, u.Name != "")
		require.LessOrEqual(t, max(len(u.Name), len(u.Alias)), MaxUserIDBytes)
		if json.Valid([]byte(raw)) {
			require.True(t, utf8.ValidString(u.Name+u.Alias))
		}
	})
}
