package jsonobject

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
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

// Names are read in their case, and of a name that is not known each is named.
//
// spec: DASH-03
func TestRead(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		o := Read([]byte(text), "roles", "scope")
		inner, _ := o.Inner("scope", "all")
		inner.Boolean("all")
		o.Texts("roles")
		if want == "" {
			require.NoError(t, o.Fault())
			return
		}
		require.EqualError(t, o.Fault(), want)
	}
	f(`{"roles":["a"],"scope":{"all":true}}`, "")
	f(`{"roles":null,"scope":null}`, "")
	f(`{"ROLES":["a"]}`, "ROLES must be left out: known here are roles, scope (got an array)")
	f(`{"roles":["a"],"Roles":["b"]}`, "Roles must be left out: known here are roles, scope (got an array)")
	f(`{"scope":{"ALL":true}}`, "scope.ALL must be left out: known here are all (got true)")
	f(`{"roles":"a"}`, "roles must be an array of strings (got a string of 1 bytes)")
	f(`{"roles":[1]}`, "roles must be an array of strings (got an array)")
	f(`{"scope":[]}`, "scope must be an object (got an array)")
	f(`[]`, ErrNone.Error())
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
