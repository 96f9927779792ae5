package auth

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// The benchmarks of refusals show side by side that the time does not tell what was wrong:
// BenchmarkScram for an unknown app, one without secrets, one that is off, and wrong
// secrets of apps that have one and two of them; BenchmarkJWT the same for keys. What the
// time depends on is the algorithm that the token itself names.

func benchmarkAuthenticator(b *testing.B) (*Authenticator, *originServer) {
	b.Helper()
	keys, err := NewKeys(master("k"))
	require.NoError(b, err)
	o := newOriginServer(b)
	off := newApp(keys, "off", []string{"secret"}, nil)
	off.Disabled = true
	return New(keys, registry{
		"one": newApp(keys, "one", []string{"secret"}, nil),
		"two": newApp(keys, "two", []string{"secret", "another"}, nil),
		"nil": {ID: "nil", Salt: keys.Salt("nil"), Iterations: Iterations, Keys: o.keys()},
		"off": off,
	}, nil), o
}

// wrongProof has the right form and no more.
const wrongProof = ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="

func BenchmarkScram(b *testing.B) {
	a, _ := benchmarkAuthenticator(b)
	for name, id := range map[string]string{"UnknownApp": "???", "AppOff": "off", "NoSecrets": "nil", "WrongSecret": "one", "WrongSecretOfTwo": "two"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				state := scramState{appID: id, user: alice, origin: page, clientFirst: "n,,n=" + id + ",r=abc", nonce: "0123456789", at: now}
				app, _ := a.app(id)
				_, proved := prove(app, a.candidates(app), &state, "c=biws,r=abc0123456789"+wrongProof)
				require.Nil(b, proved)
			}
		})
	}
}

func BenchmarkJWT(b *testing.B) {
	a, o := benchmarkAuthenticator(b)
	stranger := newOriginServer(b)
	unknown := map[string]any{"keyID": "?"}
	hs := map[string]any{"keyID": "hs"}
	for name, req := range map[string]*protocol.JWTRequest{
		"ES256/UnknownApp":     {AppID: "???", JWT: stranger.es256(b, esHeader, claim(nil))},
		"ES256/UnknownKey":     {AppID: "nil", JWT: stranger.es256(b, esHeader, claim(unknown))},
		"ES256/WrongAlgorithm": {AppID: "nil", JWT: stranger.es256(b, esHeader, claim(hs))},
		"ES256/WrongSignature": {AppID: "nil", JWT: stranger.es256(b, esHeader, claim(nil))},
		"ES256/Granted":        {AppID: "nil", JWT: o.es256(b, esHeader, claim(map[string]any{"appID": "nil"}))},
		"HS256/UnknownApp":     {AppID: "???", JWT: hs256(stranger.secret, claim(hs))},
		"HS256/UnknownKey":     {AppID: "nil", JWT: hs256(stranger.secret, claim(unknown))},
		"HS256/WrongAlgorithm": {AppID: "nil", JWT: hs256(stranger.secret, claim(nil))},
		"HS256/WrongSignature": {AppID: "nil", JWT: hs256(stranger.secret, claim(hs))},
	} {
		b.Run(name, func(b *testing.B) {
			req.UserID = alice
			for b.Loop() {
				_, _, _ = a.JWT(req, page, now)
			}
		})
	}
}

func BenchmarkToken(b *testing.B) {
	a, o := benchmarkAuthenticator(b)
	reply, _, refusal := a.JWT(&protocol.JWTRequest{
		AppID: "nil", UserID: alice, JWT: o.es256(b, esHeader, claim(map[string]any{"appID": "nil"})),
	}, page, now)
	require.Nil(b, refusal)
	for b.Loop() {
		_, refusal := a.Token(reply.Token, reply.Session, page, now)
		require.Nil(b, refusal)
	}
}
