package jsonobject

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// spec: AUTH-05, AUTH-08
func TestCheck(t *testing.T) {
	for _, good := range []string{`{}`, ` {"a":1} `, `{"a":{"a":1},"b":[{"a":1},{"a":2}]}`, `{"a":"{\"a\":1,\"a\":2}"}`, `{"a":"\\","b":["a","a"],"A":1}`, `{"":null}`} {
		require.NoError(t, Check([]byte(good)), good)
	}
	for _, bad := range []string{``, ` `, `null`, `[]`, `"x"`, `7`, `{`, `{"a"`, `{"a":}`, `{} {}`, `{}x`, `{"a":1,}`, "{\"a\":\"\xff\"}", `{'a':1}`, `{"a":01}`, "\ufeff{}"} {
		require.ErrorIs(t, Check([]byte(bad)), ErrNone, bad)
	}
	for text, path := range map[string]string{
		`{"a":1,"a":1}`:                                      "a",
		`{"a":1,"b":{},"a":2}`:                               "a",
		`{"a":1,"\u0061":2}`:                                 "a",
		`{"scope":{"all":true,"all":false}}`:                 "scope.all",
		`{"a":[{},{"b":[0,[{"c":1,"c":2}]]}]}`:               "a[1].b[1][0].c",
		`{"":1,"":2}`:                                        "",
		`{"\ud800":1,"\udfff":2}`:                            "\ufffd",
		`{"` + strings.Repeat("n", 300) + `":{"a":1,"a":2}}`: strings.Repeat("n", 100) + "…",
	} {
		var fault *Fault
		require.ErrorAs(t, Check([]byte(text)), &fault, text)
		require.Equal(t, &Fault{Field: path, Limit: "be there once", Got: "it twice"}, fault)
	}
}

// Names are read in their case, and each fault has the path of its member, its limit and what came.
//
// spec: DASH-03
func TestDecode(t *testing.T) {
	type inner struct {
		All   bool  `json:"all"`
		Count int64 `json:"count"`
	}
	type document struct {
		inner
		Roles []string          `json:"roles"`
		Scope inner             `json:"scope"`
		Rules *map[string]inner `json:"rules"`
		Share float64           `json:"share"`
		At    time.Time         `json:"at"`
		Raw   json.RawMessage   `json:"raw"`
		Own   string
	}
	f := func(text, want string) {
		t.Helper()
		err := Decode([]byte(text), &document{})
		if want == "" {
			require.NoError(t, err)
			return
		}
		require.EqualError(t, err, want)
	}
	f(`{"roles":["a"],"scope":{"all":true}}`, "")
	f(`{"roles":null,"scope":null,"rules":null,"share":null,"at":null,"raw":null,"all":null,"count":null}`, "")
	f(`{"ROLES":["a"]}`, "ROLES must be left out: known here are all, count, roles, scope, rules, share, at, raw (got an array)")
	f(`{"roles":["a"],"Roles":["b"]}`, "Roles must be left out: known here are all, count, roles, scope, rules, share, at, raw (got an array)")
	f(`{"inner":{}}`, "inner must be left out: known here are all, count, roles, scope, rules, share, at, raw (got an object)")
	f(`{"Own":"x"}`, "Own must be left out: known here are all, count, roles, scope, rules, share, at, raw (got a string of 1 bytes)")
	f(`{"scope":{"ALL":true}}`, "scope.ALL must be left out: known here are all, count (got true)")
	f(`{"scope":{"all":true,"all":false}}`, "scope.all must be there once (got it twice)")
	f(`{"roles":"a"}`, "roles must be an array (got a string of 1 bytes)")
	f(`{"roles":["a",1]}`, "roles[1] must be a string (got the number 1)")
	f(`{"roles":[null]}`, "roles[0] must be a string (got null)")
	f(`{"scope":[]}`, "scope must be an object (got an array)")
	f(`{"rules":{"a":{"count":1.5}}}`, "rules.a.count must be a whole number (got the number 1.5)")
	f(`{"rules":{"a":[]}}`, "rules.a must be an object (got an array)")
	f(`{"count":"1"}`, "count must be a whole number (got a string of 1 bytes)")
	f(`{"count":1e300}`, "count must be a whole number (got the number 1e300)")
	f(`{"share":1e400}`, "share must be a number (got the number 1e400)")
	f(`{"all":"secret"}`, "all must be true or false (got a string of 6 bytes)")
	f(`{"at":7}`, "at must be a string (got the number 7)")
	f(`{"at":"1999-01-01T00:00:00Z"}`, `at must be a time like 2026-01-31T12:00:00Z (got "1999-01-01T00:00:00Z")`)
	f(`{} {}`, ErrNone.Error())
	f(`[]`, ErrNone.Error())

	var got document
	require.NoError(t, Decode([]byte(`{"all":true,"count":1e3,"roles":["a","b"],"rules":{"x":{"count":2}},"share":0.5,"at":"2026-01-31T13:00:00.0009+01:00","raw": {"a": 1}}`), &got))
	require.Equal(t, document{
		inner: inner{true, 1000}, Roles: []string{"a", "b"}, Rules: &map[string]inner{"x": {Count: 2}}, Share: 0.5,
		At: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), Raw: json.RawMessage(`{"a": 1}`),
	}, got)
}

// FuzzCheck: a valid object passes exactly if the decoder of the standard library reads no name twice in it.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":1,"a":2}`, `{"a":{"b":[1,{"c":2}]},"\u0061":3}`, `{"a":"\"}{"}`, `{"a":1}{`, "{\"\\ud800\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := Check(text)
		if !utf8.Valid(text) || !json.Valid(text) || !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
			require.ErrorIs(t, err, ErrNone)
			return
		}
		if readsTwice(json.NewDecoder(bytes.NewReader(text))) {
			require.ErrorAs(t, err, new(*Fault))
			return
		}
		require.NoError(t, err)
		members, err := Members(text)
		require.NoError(t, err)
		require.NotNil(t, members)
	})
}

// readsTwice reads one valid value and reports whether an object in it has a member twice.
func readsTwice(d *json.Decoder) (twice bool) {
	token, _ := d.Token()
	delim, nested := token.(json.Delim)
	if !nested {
		return false
	}
	names := map[string]bool{}
	for d.More() {
		if delim == '{' {
			name, _ := d.Token()
			twice = twice || names[name.(string)]
			names[name.(string)] = true
		}
		inner := readsTwice(d)
		twice = twice || inner
	}
	_, _ = d.Token()
	return twice
}

func BenchmarkMembers(b *testing.B) {
	claims := []byte(`{"appID":"shop","userID":"alice@example.org","keyID":"2026-11","iat":1763702160,"nbf":1763702100,"exp":1763702460,"jti":"4f0b7c1e9a"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Members(claims); err != nil {
			b.Fatal(err)
		}
	}
}
