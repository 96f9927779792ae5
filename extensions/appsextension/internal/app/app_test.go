package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/extensions/appsextension/internal/vault"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func master(fill byte) []byte { return bytes.Repeat([]byte{fill}, auth.MinKeyBytes) }

func newVault(tb testing.TB, fills ...byte) *vault.Vault {
	tb.Helper()
	var masters [][]byte
	for _, fill := range fills {
		masters = append(masters, master(fill))
	}
	v, err := vault.New(masters...)
	require.NoError(tb, err)
	return v
}

func newApp(tb testing.TB) *App {
	tb.Helper()
	keys, err := auth.NewKeys(master(1))
	require.NoError(tb, err)
	return New("shop", keys, noon)
}

const full = `{
	"name": "Shop", "origins": ["https://a.example", "https://*.b.example:8443", "https://a.example"], "singleUse": true, "disabled": true,
	"limits": {"handshakesPerSecond": 5.5, "handshakesPerSecondPerAddress": 1, "handshakesPerSecondPerUser": 2, "connections": 100, "framesPerSecond": 20, "dailyMiB": 300}, "statsIntervalMs": 2500, "retentionHours": 48,
	"defaultConfiguration": {"peerConnection": {"iceServers": [{"urls": ["turn:t.example:3478?transport=udp"], "username": "u", "credential": "c"}, {"urls": "stun:s.example"}],
		"iceTransportPolicy": "relay", "bundlePolicy": "max-bundle", "rtcpMuxPolicy": "require", "iceCandidatePoolSize": 2}, "media": {"audio": true, "video": {"width": {"ideal": 1280}}}},
	"webhooks": [{"id": "ops", "url": "https://hooks.example/x?y=z"}, {"id": "dev", "url": "http://127.0.0.1:9000/", "secret": "0123456789abcdef0123456789abcdef"}]
}`

// spec: AUTH-03, STAT-01
func TestReplace(t *testing.T) {
	a, v := newApp(t), newVault(t, 1)
	shown, err := a.Replace("shop", []byte(full), v, noon, false)
	require.NoError(t, err)
	require.Equal(t, "Shop", a.Name)
	require.Equal(t, []string{"https://a.example", "https://*.b.example:8443"}, a.Origins)
	require.Equal(t, auth.Limits{
		HandshakesPerSecond: 5.5, HandshakesPerSecondPerAddress: 1, HandshakesPerSecondPerUser: 2, Connections: 100, FramesPerSecond: 20, DailyMiB: 300,
	}, a.Limits)
	require.Equal(t, 2500, a.StatsIntervalMs)
	require.Equal(t, 2500, a.View("shop", nil).StatsIntervalMs)
	require.Equal(t, 2500*time.Millisecond, a.Build("shop", v, noon).Auth.StatsInterval)
	require.Equal(t, 48, a.RetentionHours)
	require.Equal(t, 48, a.View("shop", nil).RetentionHours)
	require.True(t, a.SingleUse && a.Disabled)
	require.True(t, json.Valid(a.DefaultConfiguration))
	require.NotContains(t, string(a.DefaultConfiguration), "\n")

	require.Len(t, shown, 1, "the one that was made")
	require.Equal(t, "ops", shown[0].ID)
	for i, want := range []string{shown[0].Secret, "0123456789abcdef0123456789abcdef"} {
		secret, newest, err := v.Open(webhookPurpose("shop", a.Webhooks[i].ID), a.Webhooks[i].Sealed)
		require.NoError(t, err)
		require.True(t, newest)
		require.Equal(t, want, string(secret))
	}

	// What is absent goes back to its default; a webhook that stays keeps its secret.
	sealed := a.Webhooks[0].Sealed
	shown, err = a.Replace("shop", []byte(`{"webhooks":[{"id":"ops","url":"https://hooks.example/new"}]}`), v, noon.Add(time.Hour), false)
	require.NoError(t, err)
	require.Empty(t, shown)
	require.Equal(t, []Webhook{{WebhookView: WebhookView{Hook: Hook{ID: "ops", URL: "https://hooks.example/new"}, CreatedAt: noon}, Sealed: sealed}}, a.Webhooks)
	require.Empty(t, a.Name+string(a.DefaultConfiguration))
	require.Empty(t, a.Origins)
	require.False(t, a.SingleUse || a.Disabled)
	require.Zero(t, a.Limits)
	require.Zero(t, a.StatsIntervalMs+a.RetentionHours)
}

// Each fault is named by its place; nothing of the app is changed then.
//
// spec: AUTH-03, STAT-01
func TestReplaceRefuses(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		a := newApp(t)
		_, err := a.Replace("shop", []byte(body), newVault(t, 1), noon, false)
		require.ErrorContains(t, err, want)
		require.Equal(t, newApp(t), a)
		require.NotContains(t, err.Error(), "hunter2")
	}
	for _, body := range []string{``, `null`, `[]`, `"x"`, `{`, `{"name"`, `{"name":}`, `{} {}`, `{}x`, `{"name":"a",}`, "{\"name\":\"\xff\"}", `{'name':1}`} {
		f(body, jsonobject.ErrNone.Error())
	}
	f(`{"label":"x"}`, `label must be left out: known here are name, origins,`)
	f(`{"Name":"x"}`, `Name must be left out`)
	f(`{"name":"a","name":"b"}`, "name must be there once")
	f(`{"secrets":[]}`, "secrets must be left out: known here are name,")
	f(`{"name":7}`, "name must be a string (got the number 7)")
	f(`{"name":"`+strings.Repeat("n", MaxNameBytes+1)+`"}`, "name must have at most 256 bytes (got 257)")
	for _, ms := range []string{"1", "1999", "20001", "1000000"} {
		f(`{"statsIntervalMs":`+ms+`}`, "statsIntervalMs must be 0 (the receiver's own) or 2000 to 20000 (got "+ms+")")
	}
	f(`{"statsIntervalMs":2000.5}`, "statsIntervalMs must be a whole number (got the number 2000.5)")
	f(`{"statsIntervalMs":"10s"}`, "statsIntervalMs must be a whole number (got a string of 3 bytes)")
	f(`{"statsIntervalMs":-1}`, "statsIntervalMs must be 0")
	f(`{"retentionHours":87601}`, "retentionHours must be 0 (the store's own) or 1 to 87600 (got 87601)")
	f(`{"retentionHours":0.5}`, "retentionHours must be a whole number (got the number 0.5)")
	f(`{"disabled":"yes"}`, "disabled must be true or false (got a string of 3 bytes)")
	f(`{"origins":{}}`, "origins must be an array (got an object)")
	f(`{"origins":["https://a.example",7]}`, "origins[1] must be a string (got the number 7)")
	f(`{"origins":["https://a.example/"]}`, `origins[0] must be no more than scheme://host:port, in lower case (got "https://a.example/")`)
	f(`{"origins":["*"]}`, `origins[0] must be scheme://host`)
	f(`{"origins":["https://*.com"]}`, `origins[0] must not be a wildcard below the public suffix com`)
	f(`{"origins":["https://*.github.io"]}`, `origins[0] must not be a wildcard below the public suffix github.io unless private_suffixes is true`)
	for _, name := range []string{`a\u0000b`, `a\nb`, `\u202eb`, `a\u2028`} {
		f(`{"name":"`+name+`"}`, "name must be UTF-8 without control characters and characters that change the direction")
	}
	f(`{"defaultConfiguration":{"media":{"audio":true,"audio":false}}}`, "defaultConfiguration.media.audio must be there once")
	f(`{"origins":["https://a.*.example"]}`, `origins[0] must have a wildcard as its first label only`)
	f(`{"origins":["https://%zz"]}`, `origins[0] must be an origin`)
	f(`{"origins":[`+strings.Repeat(`"https://a.example",`, MaxOrigins)+`"https://b.example"]}`, "origins must have at most 256 entries (got 257)")
	f(`{"limits":7}`, "limits must be an object")
	f(`{"limits":{"connections":-1}}`, "limits.connections must be 0 (the receiver's own) to 1000000 (got -1)")
	f(`{"limits":{"connections":1.5}}`, "limits.connections must be a whole number (got the number 1.5)")
	f(`{"limits":{"frames":1}}`, "limits.frames must be left out")
	f(`{"webhooks":[{"url":"https://a.example"}]}`, "webhooks[0].id must have 1 to 128 of the characters")
	f(`{"webhooks":[{"id":"a/b","url":"https://a.example"}]}`, "webhooks[0].id must")
	f(`{"webhooks":[{"id":"a","url":"http://a.example/hunter2"}]}`, "webhooks[0].url must begin with https://: http goes to loopback only")
	f(`{"webhooks":[{"id":"a","url":"https://u:hunter2@a.example"}]}`, "webhooks[0].url must have no user")
	f(`{"webhooks":[{"id":"a","url":"ftp://a.example"}]}`, "webhooks[0].url must begin with https://: it has the scheme ftp")
	f(`{"webhooks":[{"id":"a","url":"x"}]}`, "webhooks[0].url must begin with https://: it has no scheme")
	f(`{"webhooks":[{"id":"a","url":"https://a.example","secret":"hunter2"}]}`, "webhooks[0].secret must have 32 to 1024 bytes (got 7)")
	f(`{"webhooks":[{"id":"a","url":"https://a.example"},{"id":"a","url":"https://b.example"}]}`, "webhooks[1].id must be there once")
	f(`{"webhooks":["x"]}`, "webhooks[0] must be an object (got a string of 1 bytes)")
}

func TestDefaults(t *testing.T) {
	good := func(text string) {
		t.Helper()
		out, err := CheckDefaults("d", []byte(text))
		require.NoError(t, err)
		require.JSONEq(t, text, string(out))
	}
	good(`{}`)
	good(`{"media":{"audio":false,"video":{"advanced":[{"width":{"min":640}}]}}}`)
	good(`{"peerConnection":{"iceServers":[]}}`)
	good(`{"media":{"audio":{"deviceId":"a \"quoted } brace"}}}`)
	good(`{"peerConnection":{"iceServers":[{"urls":["stun:a","turns:b"],"username":"u","credential":"c"}]}}`)
	good(`{"media":{"video":{"width":1280,"frameRate":{"min":5.5,"ideal":30},"facingMode":["user","environment"],"deviceId":{"exact":"x"},"aConstraintOfTomorrow":[{}]}}}`)
	good(`{"media":{"audio":{"echoCancellation":"remote-only","noiseSuppression":{"ideal":false},"channelCount":0,"advanced":[{"anything":7}]}}}`)
	good(`{"media":{"video":{"zoom":{"ideal":2},"pan":true,"mediaSource":"camera","pointsOfInterest":[{"x":0.5,"y":1}],"advanced":[{"zoom":{"min":2}}]}}}`)
	good(`{"media":{"audio":{"mandatory":{"googEchoCancellation":true},"optional":[{"sourceId":"x"}]}}}`)
	good(`{"peerConnection":{"iceServers":[{"urls":["stun:a.example:3478","stun:[2001:db8::1]","stun:192.0.2.1:1","stun:bücher_1.example","stuns:a"]}]}}`)
	good(`{"peerConnection":{"iceServers":[{"urls":["turns:a:443?transport=tcp","turn:[::1]:1?transport=udp"],"username":" ","credential":" "}]}}`)
	for _, url := range []string{"stun:a", "stuns:a.example:5349", "turn:[2001:db8::1]:3478?transport=tcp", "turns:1.2.3.4", "stun:bücher.example"} {
		good(`{"peerConnection":{"iceServers":[{"urls":"` + url + `","username":"u","credential":"c"}]}}`)
	}
	good(`{"media":{"video":{"pan":true,"zoom":{"ideal":2},"advanced":[{"tilt":{"exact":1}}],"mediaSource":"camera"}}}`)
	good(`{"media":{"audio":{"aNewConstraint":{"exact":1}},"video":{"width":"as the browser takes it"}}}`)
	good(`{"media":{}}`)
	bad := func(text, want string) {
		t.Helper()
		_, err := CheckDefaults("d", []byte(text))
		require.ErrorContains(t, err, want)
	}
	bad(`[]`, "d must be an object (got an array)")
	bad(`{"pc":{}}`, "d.pc must be left out: known here are peerConnection, media")
	bad(`{"peerConnection":{"certificates":[]}}`, "d.peerConnection.certificates must be left out")
	bad(`{"peerConnection":{"bundlePolicy":7}}`, "d.peerConnection.bundlePolicy must be a string (got the number 7)")
	bad(`{"peerConnection":{"iceCandidatePoolSize":1.5}}`, "d.peerConnection.iceCandidatePoolSize must be a whole number")
	bad(`{"peerConnection":{"iceServers":{}}}`, "d.peerConnection.iceServers must be an array (got an object)")
	bad(`{"peerConnection":{"iceServers":["stun:a"]}}`, "d.peerConnection.iceServers[0] must be an object")
	bad(`{"peerConnection":{"iceServers":[{}]}}`, "d.peerConnection.iceServers[0].urls must be a URL stun:, stuns:, turn: or turns:, or an array of them (got nothing)")
	bad(`{"peerConnection":{"iceServers":[{"urls":"turn:a","credentialType":"x"}]}}`, "credentialType must be left out")
	for _, urls := range []string{`[]`, `{}`, `7`, `"https://a.example"`, `["turn:a",7]`, `"stun:"`, `"a"`, `["stun:a","hunter2"]`, `["stun:a",null]`, `"stun:a\u0000"`} {
		bad(`{"peerConnection":{"iceServers":[{"urls":`+urls+`}]}}`, "iceServers[0].urls must be a URL stun:")
	}
	bad(`{"media":{"audio":7}}`, "d.media.audio must be true, false or an object of constraints (got the number 7)")
	bad(`{"media":{"video":"all"}}`, "d.media.video must be true, false or an object of constraints")
	for _, condition := range []string{`"exact":1`, `"min":1`, `"max":1`, `"min":1,"ideal":5`} {
		bad(`{"media":{"video":{"tilt":{`+condition+`}}}}`, "d.media.video.tilt must be no condition, which getUserMedia refuses")
	}
	for _, source := range []string{`"window"`, `null`, `{}`, `{"ideal":"camera"}`} {
		bad(`{"media":{"video":{"mediaSource":`+source+`}}}`, "mediaSource must be camera or microphone")
	}
	for _, neither := range []string{`"audio":false`, `"video":false`, `"audio":false,"video":false`} {
		bad(`{"media":{`+neither+`}}`, "d.media must ask for audio or video: getUserMedia refuses one that asks for neither")
	}
	bad(`{"media":{"audio":`+strings.Repeat(`{"a":`, 7)+`1`+strings.Repeat(`}`, 7)+`}}`, "nested at most 8 deep")
	bad(`{"media":{"audio":{"a":"`+strings.Repeat("x", MaxDefaultBytes)+`"}}}`, "d must have at most 16384 bytes")
}

// The next secret follows without a gap: both are good until the old one ends.
//
// spec: AUTH-01
func TestSecrets(t *testing.T) {
	a := newApp(t)
	first, err := a.AddSecret([]byte(`{}`), noon)
	require.NoError(t, err)
	require.Len(t, first.Secret, 43, "32 bytes in base64url")
	v := auth.NewVerifier(first.Secret, a.Salt, a.Iterations)
	require.Equal(t, v.StoredKey, a.Secrets[0].StoredKey)
	require.Equal(t, v.ServerKey, a.Secrets[0].ServerKey)

	second, err := a.AddSecret([]byte(`{"othersNotAfter":"2026-03-02T12:00:00Z"}`), noon.Add(time.Hour))
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	ids := func(at time.Time) (out []string) {
		b := a.Build("shop", newVault(t, 1), at)
		for _, v := range b.Auth.Verifiers {
			out = append(out, v.ID)
		}
		return out
	}
	end := noon.Add(24 * time.Hour)
	require.Equal(t, []string{first.ID, second.ID}, ids(end.Add(-time.Millisecond)))
	require.Equal(t, end, a.Build("shop", newVault(t, 1), noon).Until)
	require.Equal(t, []string{second.ID}, ids(end))
	require.Zero(t, a.Build("shop", newVault(t, 1), end).Until)

	require.NoError(t, a.ChangeSecret(second.ID, []byte(`{"notAfter":"2026-03-01T13:00:00Z"}`)))
	require.Equal(t, []string{first.ID}, ids(noon.Add(time.Hour)))
	require.NoError(t, a.ChangeSecret(second.ID, []byte(`{}`)))
	require.Equal(t, []string{second.ID}, ids(end))
	require.NoError(t, a.DeleteSecret(second.ID))
	require.Empty(t, ids(end))
	require.ErrorIs(t, a.DeleteSecret(second.ID), ErrNoCredential)
	require.ErrorIs(t, a.ChangeSecret(second.ID, []byte(`{}`)), ErrNoCredential)

	_, err = a.AddSecret([]byte(`{"notAfter":"2026-03-01T12:00:00Z"}`), noon)
	require.ErrorContains(t, err, "notAfter must lie in the future")
	_, err = a.AddSecret([]byte(`{"notAfter":"tomorrow"}`), noon)
	require.ErrorContains(t, err, `notAfter must be a time like 2026-01-31T12:00:00Z (got "tomorrow")`)
	_, err = a.AddSecret([]byte(`{"secret":"mine"}`), noon)
	require.ErrorContains(t, err, "secret must be left out", "the server makes them")
	for len(a.Secrets) < MaxSecrets {
		_, err = a.AddSecret([]byte(`{}`), noon)
		require.NoError(t, err)
	}
	_, err = a.AddSecret([]byte(`{}`), noon)
	require.ErrorContains(t, err, "secrets must have at most 8 entries")
	_, err = a.AddSecret([]byte(`{}`), end)
	require.NoError(t, err, "one has ended and makes room")
}

// spec: AUTH-02
func TestRevoke(t *testing.T) {
	a := newApp(t)
	f := func(body, want string) {
		t.Helper()
		_, err := a.Revoke("shop", []byte(body), newVault(t, 1), noon)
		require.ErrorContains(t, err, want)
	}
	f(`{}`, "all must be true, or user or before be there")
	f(`{"all":true,"user":"alice"}`, "all must stand alone")
	f(`{"before":"2026-03-01T12:02:00Z"}`, "before must not lie in the future")
	f(`{"everybody":true}`, "everybody must be left out")
	require.Zero(t, a.RevokedBefore)

	what, err := a.Revoke("shop", []byte(`{"before":"2026-03-01T11:00:00Z"}`), newVault(t, 1), noon)
	require.NoError(t, err)
	require.Equal(t, "all", what)
	require.Equal(t, noon.Add(-time.Hour), a.RevokedBefore)
	_, err = a.Revoke("shop", []byte(`{"all":true}`), newVault(t, 1), noon.Add(time.Millisecond))
	require.NoError(t, err)
	require.Equal(t, noon.Add(time.Second), a.RevokedBefore, "tokens bear whole seconds")
	_, err = a.Revoke("shop", []byte(`{"before":"2026-03-01T10:00:00Z"}`), newVault(t, 1), noon)
	require.NoError(t, err)
	require.Equal(t, noon.Add(time.Second), a.RevokedBefore, "it never moves back")

	what, err = a.Revoke("shop", []byte(`{"user":"alice"}`), newVault(t, 1), noon)
	require.NoError(t, err)
	require.Equal(t, "user", what)
	require.Equal(t, map[string]time.Time{"alice": noon.Add(time.Second)}, a.RevokedUsers)
	require.Equal(t, a.RevokedUsers, a.Build("shop", newVault(t, 1), noon).Auth.RevokedUsers)
	later := noon.Add(RevocationLifetime)
	_, err = a.Revoke("shop", []byte(`{"user":"bob"}`), newVault(t, 1), later.Add(2*time.Second))
	require.NoError(t, err)
	require.Len(t, a.RevokedUsers, 2, "a third-party token without exp is good for as long")
	for i := range MaxRevokedUsers - 2 {
		_, err = a.Revoke("shop", fmt.Appendf(nil, `{"user":"early %d"}`, i), newVault(t, 1), noon)
		require.NoError(t, err)
	}
	_, err = a.Revoke("shop", []byte(`{"user":"bob"}`), newVault(t, 1), later.Add(2*time.Second))
	require.NoError(t, err)
	require.Len(t, a.RevokedUsers, MaxRevokedUsers, "who is there needs no room")
	_, err = a.Revoke("shop", []byte(`{"user":"user 0"}`), newVault(t, 1), later.Add(2*time.Second))
	require.NoError(t, err)
	require.Len(t, a.RevokedUsers, 2, "for want of room: no session token is left that the others could refuse")

	for i := range MaxRevokedUsers - 1 {
		_, err = a.Revoke("shop", fmt.Appendf(nil, `{"user":"user %d"}`, i), newVault(t, 1), later)
		require.NoError(t, err)
	}
	_, err = a.Revoke("shop", []byte(`{"user":"one more"}`), newVault(t, 1), later)
	require.ErrorContains(t, err, "user must be one of at most 500 that are revoked at a time: revoke all")
	_, err = a.Revoke("shop", []byte(`{"user":"bob"}`), newVault(t, 1), later)
	require.NoError(t, err, "who is there may be revoked again")
}

func TestDocument(t *testing.T) {
	a, v := newApp(t), newVault(t, 1)
	_, err := a.Replace("shop", []byte(full), v, noon, false)
	require.NoError(t, err)
	shown, err := a.AddSecret([]byte(`{}`), noon)
	require.NoError(t, err)
	key, err := a.AddKey("shop", []byte(`{"algorithm":"HS256"}`), v, noon)
	require.NoError(t, err)
	_, err = a.Revoke("shop", []byte(`{"user":"alice"}`), newVault(t, 1), noon)
	require.NoError(t, err)
	body, err := a.Encode()
	require.NoError(t, err)
	for _, secret := range []string{shown.Secret, key.Secret, "0123456789abcdef0123456789abcdef"} {
		require.NotContains(t, string(body), secret)
	}
	again, err := Decode(body)
	require.NoError(t, err)
	require.Equal(t, a, again)

	f := func(body, want string) {
		t.Helper()
		_, err := Decode([]byte(body))
		require.ErrorContains(t, err, want)
	}
	f(`{`, "damaged")
	f(`{"version":2}`, "a newer version of this program wrote it")
	f(`{"version":1}`, "damaged")
	f(strings.Replace(string(body), `"iterations":4096`, `"iterations":1`, 1), "damaged")
}

func TestView(t *testing.T) {
	a, v := newApp(t), newVault(t, 1)
	_, err := a.Replace("shop", []byte(full), v, noon, false)
	require.NoError(t, err)
	secret, err := a.AddSecret([]byte(`{}`), noon)
	require.NoError(t, err)
	key, err := a.AddKey("shop", []byte(`{"algorithm":"HS256","keyID":"k"}`), v, noon)
	require.NoError(t, err)
	view := a.View("shop", LastUse{secret.ID: noon, "k": noon.Add(time.Minute)})
	require.Equal(t, []SecretView{{ID: secret.ID, CreatedAt: noon, LastUsedAt: noon}}, view.Secrets)
	require.Equal(t, []KeyView{{ID: "k", Algorithm: "HS256", CreatedAt: noon, LastUsedAt: noon.Add(time.Minute)}}, view.Keys)
	text, err := json.Marshal(view)
	require.NoError(t, err)
	encode := func(b []byte) string {
		text, err := json.Marshal(b)
		require.NoError(t, err)
		return string(text)
	}
	for _, hidden := range []string{
		secret.Secret, key.Secret, encode(a.Salt), encode(a.Secrets[0].StoredKey), encode(a.Secrets[0].ServerKey), a.Keys[0].Sealed, a.Webhooks[0].Sealed, "storedKey",
	} {
		require.NotContains(t, string(text), strings.Trim(hidden, `"`))
	}
}

// spec: AUTH-05
func TestCheckID(t *testing.T) {
	for _, good := range []string{"a", "a/b", "ü", "…", strings.Repeat("i", 256)} {
		require.NoError(t, CheckID(good))
	}
	for _, bad := range []string{"", ".", "..", "a\x00", "a\n", "\xff", strings.Repeat("i", 257), "a\u0085", "a b", " a", "a\u200b", "\u202ea", "a\u00a0"} {
		require.Error(t, CheckID(bad), "%q", bad)
	}
}

// FuzzBodies: no body of the management API brings it down or past its bounds, and one
// that is refused changes nothing.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{full, `{}`, `{"algorithm":"HS256","keyID":"k"}`, `{"notAfter":"2030-01-01T00:00:00Z"}`, `{"all":true}`, `{"user":"a","before":"2026-01-01T00:00:00Z"}`, `{"a":[[[`, `{"limits":{"connections":1e9}}`, `{"userIDs":"hash"}`} {
		f.Add([]byte(seed))
	}
	v := newVault(f, 1)
	edits := []func(*App, []byte) error{
		func(a *App, b []byte) error { _, err := a.Replace("shop", b, v, noon, false); return err },
		func(a *App, b []byte) error { _, err := a.AddSecret(b, noon); return err },
		func(a *App, b []byte) error { _, err := a.AddKey("shop", b, v, noon); return err },
		func(a *App, b []byte) error { _, err := a.Revoke("shop", b, v, noon); return err },
		func(a *App, b []byte) error { return a.RotateUserIDKey("shop", b, v) },
		func(a *App, b []byte) error { return a.ChangeKey("k", b) },
		func(a *App, b []byte) error { return a.ChangeSecret("s", b) },
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, edit := range edits {
			a := newApp(t)
			if err := edit(a, body); err != nil {
				require.Equal(t, newApp(t), a, "refused, but changed")
				continue
			}
			text, err := a.Encode()
			require.NoError(t, err)
			again, err := Decode(text)
			require.NoError(t, err)
			second, err := again.Encode()
			require.NoError(t, err)
			require.Equal(t, string(text), string(second))
			require.Empty(t, a.Build("shop", v, noon).Unusable)
			require.True(t, len(a.Origins) <= MaxOrigins && len(a.Webhooks) <= MaxWebhooks && len(a.DefaultConfiguration) <= MaxDefaultBytes)
			require.False(t, slices.ContainsFunc(a.Origins, func(o string) bool { return auth.CheckOrigin(o, false) != nil }))
		}
	})
}
