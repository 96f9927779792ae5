package userid

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// spec: INIT-03, API-06
func TestParse(t *testing.T) {
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
		got, ok := Parse([]byte(raw))
		require.Equal(t, want, got, raw)
		require.Equal(t, want != User{}, ok, raw)
	}
}

// spec: API-06
func TestParseChange(t *testing.T) {
	for data, want := range map[string]Change{
		`{"userIDType":"local","newUserID":"ann"}`:                                      {User: User{"ann", "ann"}},
		`{"userIDType":"remote","newUserID":{"userName":"Bob Real","aliasName":"bob"}}`: {true, User{"Bob Real", "bob"}},
		`{"userIDType":"Local","newUserID":"ann"}`:                                      {},
		`{"newUserID":"ann"}`:                                                           {},
		`{"userIDType":"local"}`:                                                        {},
		`{"userIDType":"local","newUserID":{"userName":"Ann Real"}}`:                    {},
		`{"userIDType":1,"newUserID":"ann"}`:                                            {},
		`no JSON`:                                                                       {},
	} {
		got, ok := ParseChange([]byte(data))
		require.Equal(t, want != Change{}, ok, data)
		if ok {
			require.Equal(t, want, got, data)
		}
	}
}

// A name is never empty, never longer than is kept, and text where it was text.
func FuzzParse(f *testing.F) {
	f.Add(`"ann"`)
	f.Add(`{"userName":"n","aliasName":"a"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		u, ok := Parse([]byte(raw))
		require.Equal(t, ok, u.Alias != "")
		require.Equal(t, ok, u.Name != "")
		require.LessOrEqual(t, max(len(u.Name), len(u.Alias)), MaxBytes)
		if json.Valid([]byte(raw)) {
			require.True(t, utf8.ValidString(u.Name+u.Alias))
		}
	})
}
