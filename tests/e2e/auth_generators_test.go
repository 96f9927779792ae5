package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
)

// generators are token generators of all kinds, good and bad.
//
// spec: AUTH-04, AUTH-05, AUTH-06, AUTH-08
func (s *site) generators() map[string]subject {
	const no = "no key today"
	sign := func(app, user string, lifetime time.Duration) string { return s.agent.sign(s.t, app, user, lifetime) }
	publicAsShared := signShared(s.t, appID, s.agent.key.ID(), s.agent.publicKey()) // everybody may know it
	return map[string]subject{
		"Refused": s.asksAgain, "Returned": s.returnsAnother, "Twice": s.answersTwice, "Silent": s.answersLate, "ObjectUser": s.hasTwoNames,

		"Promised":  s.letsIn("promised", appID, "async () => "+quote(sign(appID, "eve", time.Hour))),
		"SharedKey": s.letsIn("shared-key", sharedApp, gives(signShared(s.t, sharedApp, sharedApp, sharedKey))),

		"AlwaysExpired": s.refuses("expired", sign(appID, "eve", -time.Hour)),
		"OfAnotherUser": s.refuses("another-user", sign(appID, "bob", time.Hour)),
		"OfAnotherApp":  s.refuses("another-app", sign("other", "eve", time.Hour)),
		"Confused":      s.refuses("confused", publicAsShared),

		"Throws":    s.fails("throws", "() => { throw new Error('"+no+"'); }", no),
		"Rejects":   s.fails("rejects", "async () => { throw new Error('"+no+"'); }", no),
		"Reports":   s.fails("reports", "(forcenew, callback) => callback('"+no+"')", no),
		"Nothing":   s.fails("nothing", "(forcenew, callback) => callback(null)", "the token generator gave no token"),
		"LoggedOut": s.fails("logged-out", "agent('/token', { credentials: 'omit' })", "not logged in"),
		"Outage":    s.fails("outage", "agent('/outage/token')", "cannot find out who is logged in"),
	}
}

// gives is a generator that always has the same token.
func gives(token string) string {
	return "(forcenew, callback) => callback(null, " + quote(token) + ")"
}

// asksAgain: a token that is refused may be an old one of a cache.
func (s *site) asksAgain(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, appOrigin, "refused", "")
	old, fresh := s.agent.sign(t, appID, "eve", -time.Hour), s.agent.sign(t, appID, "eve", time.Hour)
	v.begin(appID, "(forcenew, callback) => callback(null, forcenew ? "+quote(fresh)+" : "+quote(old)+")", "eve", s.collector.receiver)
	d := v.connects()
	require.Equal(t, []bool{false, true}, d.Asked)
	require.Equal(t, []string{old, fresh}, d.tokensSent())
}

// returnsAnother: a generator that returns a function, which gets the same arguments, also
// when a token was refused and must be a new one.
func (s *site) returnsAnother(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, appOrigin, "returned", "")
	old, fresh := s.agent.sign(t, appID, "eve", -time.Hour), s.agent.sign(t, appID, "eve", time.Hour)
	v.begin(appID, "() => (forcenew, callback) => { asked.push(forcenew); callback(null, forcenew ? "+quote(fresh)+" : "+quote(old)+"); }",
		"eve", s.collector.receiver)
	d := v.connects()
	require.Equal(t, []bool{false, false, true, true}, d.Asked, "the generator, then what it returned")
	require.Equal(t, []string{old, fresh}, d.tokensSent())
}

// answersTwice: the first answer counts.
func (s *site) answersTwice(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, appOrigin, "twice", "")
	first, second := s.agent.sign(t, appID, "eve", time.Hour), s.agent.sign(t, appID, "eve", time.Hour)
	v.begin(appID, "(forcenew, callback) => { callback(null, "+quote(first)+"); callback(null, "+quote(second)+"); callback('no'); }",
		"eve", s.collector.receiver)
	require.Equal(t, []string{first}, v.connects().tokensSent())
}

// answersLate: a generator without an answer for 10 s is reported; the token is used when it comes.
func (s *site) answersLate(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, appOrigin, "late", "")
	v.begin(appID, "(forcenew, callback) => { window.answer = callback; }", "eve", s.collector.receiver)
	v.waits("asks", func(d diary) bool { return len(d.Asked) == 1 })
	var over int
	v.eval("elapse(10_000)", &over)
	require.Equal(t, 2, over, "the generator and the configuration have 10 s")
	d := v.rests("tokenGenerationError")
	require.Empty(t, d.Posts)
	v.eval("answer(null, "+quote(s.agent.sign(t, appID, "eve", time.Hour))+")", nil)
	v.hears("tokenGenerationError", "success")
	v.waits("says hello", func(d diary) bool { return len(d.Hellos) == 1 })
	require.Equal(t, []bool{false}, v.diary().Asked)
}

// hasTwoNames: a token for either name of a user lets in.
func (s *site) hasTwoNames(t *testing.T, w *windows) {
	t.Helper()
	for _, name := range []string{"eve", "u-1"} {
		v := w.visit(t, appOrigin, "object-"+name, "")
		user := map[string]string{"userName": "eve", "aliasName": "u-1"}
		v.begin(appID, gives(s.agent.sign(t, appID, name, time.Hour)), user, s.collector.receiver)
		v.connects()
	}
}

// letsIn: what the generator has is good.
func (s *site) letsIn(name, app, generator string) subject {
	return func(t *testing.T, w *windows) {
		t.Helper()
		v := w.visit(t, appOrigin, name, "")
		v.begin(app, generator, "eve", s.collector.receiver)
		require.Equal(t, []bool{false}, v.connects().Asked)
	}
}

// refuses: the library asks for a newer token once, then it gives up.
func (s *site) refuses(name, token string) subject {
	return func(t *testing.T, w *windows) {
		t.Helper()
		v := w.visit(t, appOrigin, name, "")
		v.begin(appID, gives(token), "eve", s.collector.receiver)
		d := v.rests("authError")
		require.Equal(t, []bool{false, true}, d.Asked)
		require.Equal(t, []string{token, token}, d.tokensSent())
		require.Empty(t, d.Hellos)
	}
}

// fails: a generator that gives no token is reported, and asked no more.
func (s *site) fails(name, generator, message string) subject {
	return func(t *testing.T, w *windows) {
		t.Helper()
		v := w.visit(t, appOrigin, name, "")
		v.begin(appID, generator, w.user(), s.collector.receiver)
		d := v.rests("tokenGenerationError")
		require.Contains(t, d.Account.Init[0][1], message)
		require.Equal(t, []bool{false}, d.Asked)
		require.Empty(t, d.Posts, "the collector was not asked")
	}
}

// tokensSent are the JWTs that the library showed to the collector.
func (d diary) tokensSent() []string {
	var all []string
	for _, p := range d.Posts {
		var sent struct{ Type, JWT string }
		if json.Unmarshal([]byte(p.Body), &sent) == nil && sent.Type == "jwt" {
			all = append(all, sent.JWT)
		}
	}
	return all
}

// signShared makes a token with a key that both sides have.
func signShared(t *testing.T, app, keyID, secret string) string {
	t.Helper()
	key, err := agent.NewSecretKey(keyID, []byte(secret))
	require.NoError(t, err)
	claims := agent.NewClaims(app, "eve", time.Now(), time.Hour, agent.RecommendedOffset)
	token, err := key.Sign(&claims)
	require.NoError(t, err)
	return token
}
