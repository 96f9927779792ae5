package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// originServer is an origin server with one key of each kind. It shares no code with the
// library that checks.
type originServer struct {
	private *ecdsa.PrivateKey
	secret  []byte
}

func newOriginServer(tb testing.TB) *originServer {
	tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)
	return &originServer{private, randomBytes(MinKeyBytes)}
}

func (o *originServer) keys() []VerificationKey {
	return []VerificationKey{
		{ID: "es", Algorithm: AlgorithmES256, Public: &o.private.PublicKey},
		{ID: "hs", Algorithm: AlgorithmHS256, Secret: o.secret},
	}
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// unsigned is the first two parts of a token.
func unsigned(header, claims string) string {
	return encode([]byte(header)) + "." + encode([]byte(claims))
}

// rs signs and returns the two numbers of the signature.
func rs(tb testing.TB, key *ecdsa.PrivateKey, text string) (r, s *big.Int) {
	tb.Helper()
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	require.NoError(tb, err)
	return r, s
}

// with puts a signature of two numbers behind a text.
func with(text string, r, s *big.Int) string {
	var both [64]byte
	r.FillBytes(both[:32])
	s.FillBytes(both[32:])
	return text + "." + encode(both[:])
}

func (o *originServer) es256(tb testing.TB, header, claims string) string {
	tb.Helper()
	text := unsigned(header, claims)
	r, s := rs(tb, o.private, text)
	return with(text, r, s)
}

func hs256(key []byte, claims string) string {
	text := unsigned(hsHeader, claims)
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return text + "." + encode(h.Sum(nil))
}

const esHeader, hsHeader = `{"alg":"ES256","typ":"JWT"}`, `{"alg":"HS256","typ":"JWT"}`

// claim is a set of claims; change lays others over the good ones, nil takes one away.
func claim(change map[string]any) string {
	all := map[string]any{
		"appID": "third", "userID": "Alice", "keyID": "es", "jti": "t-1",
		"iat": now.Unix(), "nbf": now.Unix() - 300, "exp": now.Unix() + 300,
	}
	for name, value := range change {
		all[name] = value
		if value == nil {
			delete(all, name)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// jwtFixture is an app "third" with the keys of an origin server, and an authenticator.
type jwtFixture struct {
	t     *testing.T
	a     *Authenticator
	apps  registry
	o     *originServer
	heard *heard
}

func newJWTFixture(t *testing.T) *jwtFixture {
	t.Helper()
	a, apps := testAuthenticator(t)
	o := newOriginServer(t)
	apps["third"] = App{ID: "third", Keys: o.keys(), Origins: []string{page}}
	apps["other"] = App{ID: "other", Keys: newOriginServer(t).keys()}
	return &jwtFixture{t, a, apps, o, listen(a)}
}

func (j *jwtFixture) change(how func(*App)) {
	app := j.apps["third"]
	how(&app)
	j.apps["third"] = app
}

// try asks for a session token for alice.
func (j *jwtFixture) try(token string, at time.Time) (protocol.TokenReply, Identity, *protocol.Error) {
	return j.a.JWT(&protocol.JWTRequest{AppID: "third", UserID: alice, JWT: token}, page, at)
}

func (j *jwtFixture) granted(name, token string) {
	j.t.Helper()
	_, _, refusal := j.try(token, now)
	require.Nil(j.t, refusal, "%s: %s", name, j.heard.last(j.t).Reason)
}

func (j *jwtFixture) refused(name string, want Reason, token string) {
	j.t.Helper()
	reply, identity, refusal := j.try(token, now)
	require.Equal(j.t, want, j.heard.last(j.t).Reason, name)
	require.Equal(j.t, refused(protocol.CodeAuthFailed), refusal, name)
	require.Empty(j.t, reply, name)
	require.Empty(j.t, identity, name)
}

// es signs claims as the origin server does.
func (j *jwtFixture) es(change map[string]any) string {
	return j.o.es256(j.t, esHeader, claim(change))
}

// spec: AUTH-02, AUTH-04, AUTH-05
func TestJWT(t *testing.T) {
	j := newJWTFixture(t)
	reply, identity, refusal := j.try(j.es(nil), now)
	require.Nil(t, refusal)
	require.Empty(t, reply.Scram)
	require.Equal(t, int64(7_200_000), reply.ExpiresInMs)
	require.Equal(t, j.o.keys()[0].credential(), identity.Credential)
	require.Equal(t, alice, identity.User)
	d := j.heard.last(t)
	d.issued = time.Time{}
	require.Equal(t, Decision{
		Method: MethodJWT, Reason: Granted, AppID: "third", User: alice, Origin: page,
		Credential: identity.Credential, TokenID: identity.TokenID, JTI: "t-1",
	}, d)
	again, refusal := j.a.Token(reply.Token, reply.Session, page, now.Add(2*time.Hour-time.Second))
	require.Nil(t, refusal, "two hours, though the token of the origin server ended after five minutes")
	require.Equal(t, identity.User, again.User)
	require.Equal(t, identity.Credential, again.Credential)

	j.granted("HS256, registered as such", hs256(j.o.secret, claim(map[string]any{"keyID": "hs"})))
	j.granted("only what is required", j.es(map[string]any{"iat": nil, "nbf": nil, "exp": nil, "jti": nil}))
	j.granted("claims that nobody knows", j.es(map[string]any{"x": map[string]any{"exp": 1}, "APPID": "other", "aud": 7}))
	j.granted("no typ", j.o.es256(t, `{"alg":"ES256"}`, claim(nil)))
	j.granted("typ in lower case", j.o.es256(t, `{"typ":"jwt","alg":"ES256"}`, claim(nil)))
	j.granted("white space", j.o.es256(t, ` { "alg" : "ES256" } `, " "+claim(nil)+"\n"))
}

// A key is good for its own algorithm and no other (RFC 8725, 2.1, 3.1, 3.2).
//
// spec: AUTH-05
func TestJWTAlgorithmConfusion(t *testing.T) {
	j := newJWTFixture(t)
	for _, alg := range []string{"none", "None", "NONE", "nOnE"} {
		header := fmt.Sprintf(`{"alg":%q}`, alg)
		for _, keyID := range []string{"es", "hs"} {
			text := unsigned(header, claim(map[string]any{"keyID": keyID}))
			reason := ReasonMalformed // no such algorithm
			if alg == "none" {
				reason = ReasonSignature
			}
			j.refused(alg+", no signature", reason, text+".")
			j.refused(alg+", zero signature", reason, text+"."+encode(make([]byte, 64)))
		}
	}
	// The classic: the public key, which everybody knows, taken for an HMAC secret.
	public := &j.o.private.PublicKey
	der, err := x509.MarshalPKIXPublicKey(public)
	require.NoError(t, err)
	point, err := public.Bytes()
	require.NoError(t, err)
	for name, key := range map[string][]byte{
		"DER": der, "point": point, "x": point[1:33], "empty": nil,
		"PEM":          pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
		"PEM, trimmed": []byte(strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))),
	} {
		j.refused("HS256 with the public key as "+name, ReasonAlgorithm, hs256(key, claim(nil)))
	}
	// And back: a secret is no ECDSA key.
	j.refused("ES256 for a secret", ReasonAlgorithm, j.es(map[string]any{"keyID": "hs"}))
	for _, alg := range []string{"HS384", "HS512", "RS256", "PS256", "ES384", "ES512", "EdDSA"} {
		j.refused(alg, ReasonSignature, j.o.es256(t, fmt.Sprintf(`{"alg":%q}`, alg), claim(nil)))
	}
	j.refused("es256", ReasonMalformed, j.o.es256(t, `{"alg":"es256"}`, claim(nil)))
	j.refused("no alg", ReasonMalformed, j.o.es256(t, `{"typ":"JWT"}`, claim(nil)))
	j.refused("alg null", ReasonMalformed, j.o.es256(t, `{"alg":null}`, claim(nil)))
	j.refused("alg in an array", ReasonMalformed, j.o.es256(t, `{"alg":["ES256"]}`, claim(nil)))
	j.refused("ALG", ReasonMalformed, j.o.es256(t, `{"ALG":"ES256"}`, claim(nil)))
}

// spec: AUTH-05
func TestJWTForeignKeys(t *testing.T) {
	j := newJWTFixture(t)
	stranger := newOriginServer(t)
	j.refused("a stranger's key", ReasonSignature, stranger.es256(t, esHeader, claim(nil)))
	j.refused("a stranger's secret", ReasonSignature, hs256(stranger.secret, claim(map[string]any{"keyID": "hs"})))
	for _, keyID := range []any{"ES", "es ", "unknown"} {
		j.refused("unknown keyID", ReasonKeyUnknown, j.es(map[string]any{"keyID": keyID}))
	}
	j.refused("no keyID", ReasonKeyUnknown, j.es(map[string]any{"keyID": nil}))

	// The key of another app, under the same keyID and under one of its own.
	j.change(func(app *App) {
		app.Keys = append(app.Keys, VerificationKey{ID: "mine", Algorithm: AlgorithmES256, Public: &newOriginServer(t).private.PublicKey})
	})
	j.apps["other"] = App{ID: "other", Keys: append(stranger.keys(), VerificationKey{ID: "theirs", Algorithm: AlgorithmES256, Public: &stranger.private.PublicKey})}
	j.refused("another app's key, same keyID", ReasonSignature, stranger.es256(t, esHeader, claim(nil)))
	j.refused("another app's key and keyID", ReasonKeyUnknown, stranger.es256(t, esHeader, claim(map[string]any{"keyID": "theirs"})))
	j.refused("another of its keys", ReasonSignature, j.es(map[string]any{"keyID": "mine"}))
	_, _, refusal := j.a.JWT(&protocol.JWTRequest{AppID: "other", UserID: alice, JWT: stranger.es256(t, esHeader, claim(nil))}, page, now)
	require.Equal(t, protocol.CodeAuthFailed, refusal.Code, "a token for one app at another")
	require.Equal(t, ReasonClaimApp, j.heard.last(t).Reason)

	// A key that is not fit to be one, should a registry have let it in.
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	text := unsigned(esHeader, claim(map[string]any{"keyID": "bad"}))
	r, s := rs(t, p384, text)
	for name, key := range map[string]VerificationKey{
		"P-384":        {Algorithm: AlgorithmES256, Public: &p384.PublicKey},
		"no key":       {Algorithm: AlgorithmES256},
		"short secret": {Algorithm: AlgorithmHS256, Secret: make([]byte, MinKeyBytes-1)},
		"no secret":    {Algorithm: AlgorithmHS256},
		"another":      {Algorithm: "none"},
	} {
		key.ID = "bad"
		j.change(func(app *App) { app.Keys = append(j.o.keys(), key) })
		j.refused(name, ReasonAlgorithm, text+"."+encode(append(r.FillBytes(make([]byte, 48)), s.FillBytes(make([]byte, 48))...)))
		j.refused(name, ReasonAlgorithm, hs256(key.Secret, claim(map[string]any{"keyID": "bad"})))
	}
}

// spec: AUTH-05
func TestJWTSignatures(t *testing.T) {
	j := newJWTFixture(t)
	text := unsigned(esHeader, claim(nil))
	r, s := rs(t, j.o.private, text)
	n := elliptic.P256().Params().N
	zero, one := new(big.Int), big.NewInt(1)
	for name, pair := range map[string][2]*big.Int{
		"zero": {zero, zero}, "r is zero": {zero, s}, "s is zero": {r, zero}, "r and s are n": {n, n},
		"one": {one, one}, "r is n": {n, s}, "s is n": {r, n}, "swapped": {s, r},
		"s plus one": {r, new(big.Int).Add(s, one)},
	} {
		j.refused(name, ReasonSignature, with(text, pair[0], pair[1]))
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	j.refused("none", ReasonSignature, text+".")
	j.refused("short", ReasonSignature, text+"."+encode(signature[:63]))
	j.refused("long", ReasonSignature, text+"."+encode(append(signature, 0)))
	der, err := ecdsa.SignASN1(rand.Reader, j.o.private, make([]byte, 32))
	require.NoError(t, err)
	j.refused("DER", ReasonSignature, text+"."+encode(der))
	for _, part := range []string{esHeader, claim(nil)} {
		changed := strings.Replace(text, encode([]byte(part)), encode([]byte(part+" ")), 1)
		require.NotEqual(t, text, changed)
		j.refused("changed afterwards", ReasonSignature, with(changed, r, s))
	}
	j.granted("as it was", with(text, r, s))
	// ECDSA itself takes the other s too. It is the same token, so it does no harm here;
	// TestJWTIsGoodOnce shows that it is no second token either.
	j.granted("malleated", with(text, r, new(big.Int).Sub(n, s)))
}

// A token has one form (RFC 8725, 2.4, 2.6, 3.8): two readers never read two things.
//
// spec: AUTH-04, AUTH-05
func TestJWTForm(t *testing.T) {
	j := newJWTFixture(t)
	malformed := func(name, token string) {
		t.Helper()
		j.refused(name, ReasonMalformed, token)
	}
	good := j.es(nil)
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"empty": "", "dots": "..", "two parts": parts[0] + "." + parts[1], "four parts": good + ".", "five": good + "..",
		"padded": parts[0] + "=." + parts[1] + "." + parts[2], "line end": parts[0] + "\n." + parts[1] + "." + parts[2],
		"space": " " + good, "plain base64": parts[0] + "." + parts[1] + "." + parts[2][:85] + "+",
		"return in the claims":   parts[0] + "." + parts[1][:4] + "\r\n" + parts[1][4:] + "." + parts[2],
		"bits that nobody reads": parts[0] + "." + parts[1] + "." + parts[2][:85] + next(parts[2][85]),
		"oversize":               strings.Repeat("A", protocol.MaxJWTBytes+1), "NUL": good + "\x00",
		"a letter that looks like one": strings.Replace(good, "e", "е", 1),
	} {
		malformed(name, token)
	}
	for name, header := range map[string]string{
		"alg twice": `{"alg":"none","alg":"ES256"}`, "typ twice": `{"alg":"ES256","typ":"JWT","typ":"JWT"}`,
		"crit": `{"alg":"ES256","crit":["exp"]}`, "empty crit": `{"alg":"ES256","crit":[]}`, "crit null": `{"alg":"ES256","crit":null}`,
		"b64": `{"alg":"ES256","b64":false,"crit":["b64"]}`, "JWE": `{"alg":"ES256","typ":"JWE"}`, "at+jwt": `{"alg":"ES256","typ":"at+jwt"}`,
		"typ no string": `{"alg":"ES256","typ":1}`, "array": `["ES256"]`, "null": `null`, "no JSON": `alg`,
		"two objects": `{"alg":"ES256"}{"alg":"none"}`, "cut": `{"alg":"ES256"`, "not UTF-8": "{\"alg\":\"ES256\",\"x\":\"\xff\"}",
	} {
		malformed("header: "+name, j.o.es256(t, header, claim(nil)))
	}
	body := claim(nil)
	for name, claims := range map[string]string{
		"twice": strings.Replace(body, `{`, `{"userID":"Mallory",`, 1), "twice, escaped": strings.Replace(body, `{`, `{"user\u0049D":"Mallory",`, 1),
		"unknown, twice": strings.Replace(body, `{`, `{"x":1,"x":2,`, 1), "more behind it": body + `{}`, "array": "[" + body + "]",
		"string": `"x"`, "cut": body[:len(body)-1], "not UTF-8": strings.Replace(body, "Alice", "Alice\xff", 1), "empty": "",
	} {
		malformed("claims: "+name, j.o.es256(t, esHeader, claims))
	}
	j.refused("claims: null", ReasonKeyUnknown, j.o.es256(t, esHeader, "null"))
	j.refused("claims: none", ReasonKeyUnknown, j.o.es256(t, esHeader, "{}"))
	j.granted("so the rest is right", good)
	// What other keys the header names is nobody's business.
	j.granted("header that names keys", j.o.es256(t, `{"alg":"ES256","kid":"hs","jku":"https://evil.example/k","x5u":"https://evil.example/c","x5c":["MII"],`+
		`"jwk":{"kty":"EC","crv":"P-256"}}`, body))
	evil := newOriginServer(t)
	x, err := evil.private.PublicKey.Bytes()
	require.NoError(t, err)
	header := fmt.Sprintf(`{"alg":"ES256","kid":"es","jwk":{"kty":"EC","crv":"P-256","x":%q,"y":%q}}`, encode(x[1:33]), encode(x[33:]))
	j.refused("a key that the token brings along", ReasonSignature, evil.es256(t, header, body))
}

// next is a base64url digit that differs in its last bit only.
func next(digit byte) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(digits[strings.IndexByte(digits, digit)^1])
}

// spec: AUTH-04
func TestJWTClaimTypes(t *testing.T) {
	j := newJWTFixture(t)
	long := strings.Repeat("x", maxClaimBytes+1)
	for _, name := range []string{"appID", "userID", "keyID", "jti"} {
		for _, wrong := range []any{7, true, []string{"third"}, map[string]string{}, json.RawMessage("null"), "", long} {
			j.refused(fmt.Sprintf("%s: %v", name, wrong), ReasonMalformed, j.es(map[string]any{name: wrong}))
		}
	}
	for _, name := range []string{"iat", "nbf", "exp"} {
		for _, wrong := range []any{"1763702160", true, []int{1}, json.RawMessage("null"), -1, json.RawMessage("1e400"), 1e15, json.RawMessage(`"NaN"`)} {
			j.refused(fmt.Sprintf("%s: %v", name, wrong), ReasonMalformed, j.es(map[string]any{name: wrong}))
		}
	}
	for _, name := range []string{"appID", "userID"} {
		require.Contains(t, []Reason{ReasonClaimApp, ReasonClaimUser}, func() Reason {
			_, _, refusal := j.try(j.es(map[string]any{name: nil}), now)
			require.Equal(t, protocol.CodeAuthFailed, refusal.Code)
			return j.heard.last(t).Reason
		}(), "%s is missing", name)
	}
	j.granted("fractions", j.es(map[string]any{"iat": float64(now.Unix()) + 0.25, "exp": 1.7637e9 + 1e6}))
}

// spec: AUTH-04
func TestJWTUser(t *testing.T) {
	j := newJWTFixture(t)
	f := func(want Reason, userID string, user protocol.UserID) {
		t.Helper()
		_, _, _ = j.a.JWT(&protocol.JWTRequest{AppID: "third", UserID: user, JWT: j.es(map[string]any{"userID": userID})}, page, now)
		require.Equal(t, want, j.heard.last(t).Reason, "%s as %v", userID, user)
	}
	bob := protocol.UserID{Name: "bob", Alias: "bob"}
	f(Granted, "bob", bob)
	f(Granted, "Alice", alice) // userName
	f(Granted, "u-1", alice)   // aliasName
	f(ReasonClaimUser, "bob", alice)
	f(ReasonClaimUser, "Alice", bob)
	f(ReasonClaimUser, "BOB", bob)
	f(ReasonClaimUser, "bob ", bob)
	f(ReasonClaimUser, "Alice,u-1", alice)
}

// A request without a userID is one of the user whom the token names, and of nobody else.
//
// spec: AUTH-04, LIB-09
func TestJWTNamesTheUser(t *testing.T) {
	j := newJWTFixture(t)
	ask := func(claims map[string]any) (Identity, *protocol.Error) {
		_, identity, refusal := j.a.JWT(&protocol.JWTRequest{AppID: "third", JWT: j.es(claims)}, page, now)
		return identity, refusal
	}
	longest := strings.Repeat("b", protocol.MaxIDBytes)
	for _, name := range []string{"bob", longest} {
		identity, refusal := ask(map[string]any{"userID": name})
		require.Nil(t, refusal)
		require.Equal(t, protocol.UserID{Name: name, Alias: name}, identity.User)
	}
	for _, claims := range []map[string]any{{"userID": nil}, {"userID": longest + "b"}} {
		_, refusal := ask(claims)
		require.NotNil(t, refusal)
		require.Equal(t, ReasonClaimUser, j.heard.last(t).Reason)
	}
	j.change(func(app *App) { app.RevokedUsers = map[string]time.Time{"bob": now.Add(time.Minute)} })
	_, refusal := ask(map[string]any{"userID": "bob"})
	require.NotNil(t, refusal)
	require.Equal(t, ReasonUserRevoked, j.heard.last(t).Reason)
}

// spec: AUTH-04
func TestJWTTimes(t *testing.T) {
	j := newJWTFixture(t)
	issued := time.Unix(now.Unix(), 0)
	token := j.es(map[string]any{"iat": issued.Unix(), "nbf": issued.Unix() - 300, "exp": issued.Unix() + 300})
	f := func(want Reason, token string, after time.Duration) {
		t.Helper()
		_, _, refusal := j.try(token, issued.Add(after))
		require.Equal(t, want, j.heard.last(t).Reason, "%v", after)
		if want != Granted {
			require.Equal(t, refused(protocol.CodeAuthFailed), refusal)
		}
	}
	const ms = time.Millisecond
	f(Granted, token, 300*time.Second+Leeway-ms)
	f(ReasonExpiredJWT, token, 300*time.Second+Leeway)
	f(Granted, token, -Leeway) // iat is the later of the two beginnings
	f(ReasonNotYet, token, -Leeway-ms)
	notBefore := j.es(map[string]any{"iat": nil, "nbf": issued.Unix()})
	f(Granted, notBefore, -Leeway)
	f(ReasonNotYet, notBefore, -Leeway-ms)
	forever := j.es(map[string]any{"iat": nil, "nbf": nil, "exp": nil})
	f(Granted, forever, 100*365*24*time.Hour)
	f(ReasonExpiredJWT, j.es(map[string]any{"exp": 0}), 0)
}

// spec: AUTH-04
func TestJWTIsGoodOnce(t *testing.T) {
	j := newJWTFixture(t)
	token := j.es(nil)
	j.granted("once", token)
	j.granted("again, where the app does not mind", token)
	j.change(func(app *App) { app.SingleUse = true })
	j.granted("for the first time since", token)
	j.refused("replayed", ReasonJTIReplayed, token)
	j.refused("the same jti in another token", ReasonJTIReplayed, j.es(map[string]any{"exp": now.Unix() + 200}))
	text := token[:strings.LastIndexByte(token, '.')]
	r, s := rs(t, j.o.private, text)
	n := elliptic.P256().Params().N
	j.refused("malleated", ReasonJTIReplayed, with(text, r, new(big.Int).Sub(n, s)))
	j.granted("another jti", j.es(map[string]any{"jti": "t-2"}))
	j.refused("no jti", ReasonJTIMissing, j.es(map[string]any{"jti": nil}))
	j.refused("no end", ReasonLifetime, j.es(map[string]any{"jti": "t-3", "exp": nil}))
	limit := now.Add(MaxSingleUseLifetime + Leeway).Unix()
	j.refused("ends too late", ReasonLifetime, j.es(map[string]any{"jti": "t-3", "exp": limit + 1}))
	last := j.es(map[string]any{"jti": "t-3", "exp": limit})
	j.granted("just in time; and refused tokens used nothing up", last)
	_, _, refusal := j.try(last, time.Unix(limit, 0).Add(Leeway-time.Second))
	require.NotNil(t, refusal, "remembered as long as it is good")
	require.Equal(t, ReasonJTIReplayed, j.heard.last(t).Reason)

	// A refusal for the origin does not use a token up, and names of two apps do not meet.
	once := j.es(map[string]any{"jti": "t-4"})
	_, _, refusal = j.a.JWT(&protocol.JWTRequest{AppID: "third", UserID: alice, JWT: once}, "https://evil.example", now)
	require.Equal(t, protocol.CodeOriginDenied, refusal.Code)
	j.granted("after a refusal", once)
	require.Zero(t, j.a.ForgottenJTIs())

	// A client that was asked to wait comes again with the same token.
	full := &protocol.Error{Code: protocol.CodeThrottled}
	request := &protocol.JWTRequest{AppID: "third", UserID: alice, JWT: j.es(map[string]any{"jti": "t-5"})}
	_, _, refusal = j.a.JWT(request, page, now, func(Identity) *protocol.Error { return full })
	require.Equal(t, full, refusal)
	_, _, refusal = j.a.JWT(request, page, now)
	require.Nil(t, refusal)
	_, _, refusal = j.a.JWT(request, page, now, func(Identity) *protocol.Error { return full })
	require.Equal(t, protocol.CodeAuthFailed, refusal.Code, "and no more than that")
	j.refused("after all that", ReasonJTIReplayed, request.JWT)
}

// spec: AUTH-03
func TestJWTOrigin(t *testing.T) {
	j := newJWTFixture(t)
	for _, origin := range []string{"", "null", "https://evil.example"} {
		_, _, refusal := j.a.JWT(&protocol.JWTRequest{AppID: "third", UserID: alice, JWT: j.es(nil)}, origin, now)
		require.Equal(t, refused(protocol.CodeOriginDenied), refusal, origin)
		_, _, refusal = j.a.JWT(&protocol.JWTRequest{AppID: "third", UserID: alice, JWT: newOriginServer(t).es256(t, esHeader, claim(nil))}, origin, now)
		require.Equal(t, refused(protocol.CodeAuthFailed), refusal, "only a client that has proved itself learns about origins")
	}
	_, _, refusal := j.a.JWT(&protocol.JWTRequest{AppID: "third", UserID: alice, JWT: j.es(nil)}, strings.Repeat("o", MaxOriginBytes+1), now)
	require.Equal(t, protocol.CodeAuthFailed, refusal.Code)
}

// spec: AUTH-02, AUTH-04
func TestJWTRevocation(t *testing.T) {
	j := newJWTFixture(t)
	_, identity, refusal := j.try(j.es(nil), now)
	require.Nil(t, refusal)
	whole := j.apps["third"]
	j.change(func(app *App) { app.Keys = app.Keys[1:] })
	require.Equal(t, protocol.CodeAuthFailed, j.a.Recheck(identity, now).Code)
	require.Equal(t, ReasonCredentialGone, j.heard.last(t).Reason)
	require.Equal(t, "es", j.heard.last(t).Credential.ID)
	j.refused("a key that is gone", ReasonKeyUnknown, j.es(nil))

	for name, other := range map[string]VerificationKey{
		"another key of the same keyID": {ID: "es", Algorithm: AlgorithmES256, Public: &newOriginServer(t).private.PublicKey},
		"another algorithm":             {ID: "es", Algorithm: AlgorithmHS256, Secret: j.o.secret},
	} {
		j.change(func(app *App) { app.Keys = []VerificationKey{other} })
		require.Equal(t, protocol.CodeAuthFailed, j.a.Recheck(identity, now).Code, name)
		require.Equal(t, ReasonCredentialGone, j.heard.last(t).Reason, name)
	}
	j.apps["third"] = whole
	require.Nil(t, j.a.Recheck(identity, now))

	j.change(func(app *App) { app.RevokedBefore = now.Add(time.Second) })
	j.refused("issued before", ReasonAppRevoked, j.es(nil))
	j.refused("issued nobody knows when", ReasonAppRevoked, j.es(map[string]any{"iat": nil}))
	j.granted("issued after", j.es(map[string]any{"iat": now.Unix() + 2}))
	j.apps["third"] = whole
	j.change(func(app *App) { app.RevokedUsers = map[string]time.Time{"u-1": now.Add(time.Second)} })
	j.refused("one user", ReasonUserRevoked, j.es(nil))
	j.apps["third"] = whole
	j.change(func(app *App) { app.Disabled = true })
	j.refused("the app is off", ReasonAppDisabled, j.es(nil))
}

// spec: AUTH-01, AUTH-05
func TestUnknownAppLooksKnownToJWT(t *testing.T) {
	j := newJWTFixture(t)
	f := func(want Reason, appID, token string) {
		t.Helper()
		_, _, refusal := j.a.JWT(&protocol.JWTRequest{AppID: appID, UserID: alice, JWT: token}, "https://evil.example", now)
		require.Equal(t, refused(protocol.CodeAuthFailed), refusal)
		require.Equal(t, want, j.heard.last(t).Reason)
	}
	token := newOriginServer(t).es256(t, esHeader, claim(nil))
	f(ReasonSignature, "third", token)
	f(ReasonAppUnknown, "unknown", token)
	f(ReasonKeyUnknown, "123", token)
}

func TestVerificationKeyCheck(t *testing.T) {
	o := newOriginServer(t)
	for _, key := range o.keys() {
		require.NoError(t, key.Check())
		require.True(t, key.fit())
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	nowhere := ecdsa.PublicKey{Curve: elliptic.P256(), X: big.NewInt(1), Y: big.NewInt(1)} //nolint:staticcheck // no way to make it but this
	for name, key := range map[string]VerificationKey{
		"P-384":        {Algorithm: AlgorithmES256, Public: &p384.PublicKey},
		"off curve":    {Algorithm: AlgorithmES256, Public: &nowhere},
		"no public":    {Algorithm: AlgorithmES256},
		"both":         {Algorithm: AlgorithmES256, Public: &o.private.PublicKey, Secret: o.secret},
		"both, HS256":  {Algorithm: AlgorithmHS256, Public: &o.private.PublicKey, Secret: o.secret},
		"short":        {Algorithm: AlgorithmHS256, Secret: o.secret[1:]},
		"no algorithm": {Public: &o.private.PublicKey},
		"RS256":        {Algorithm: "RS256", Public: &o.private.PublicKey},
	} {
		require.Error(t, key.Check(), name)
	}
}
