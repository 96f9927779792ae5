package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// generators are token generators of all kinds, good and bad.
//
// spec: AUTH-06
func (s *site) generators() map[string]subject {
	return map[string]subject{
		"Refused": func(t *testing.T, w *windows) {
			t.Helper()
			v := w.visit(t, appOrigin, "refused", "")
			old, fresh := s.agent.sign(t, appID, "eve", -time.Hour), s.agent.sign(t, appID, "eve", time.Hour)
			v.begin(appID, "(forcenew, callback) => callback(null, forcenew ? "+quote(fresh)+" : "+quote(old)+")", "eve", s.collector.receiver)
			d := v.connects()
			require.Equal(t, []bool{false, true}, d.Asked)
			require.Equal(t, []string{old, fresh}, d.tokensSent())
		},
		"AlwaysExpired": func(t *testing.T, w *windows) {
			t.Helper()
			s.isRefused(t, w, "expired", s.agent.sign(t, appID, "eve", -time.Hour), "eve")
		},
		"OfAnotherUser": func(t *testing.T, w *windows) {
			t.Helper()
			s.isRefused(t, w, "another-user", s.agent.sign(t, appID, "bob", time.Hour), "eve")
		},
		"OfAnotherApp": func(t *testing.T, w *windows) {
			t.Helper()
			s.isRefused(t, w, "another-app", s.agent.sign(t, "other", "eve", time.Hour), "eve")
		},
		"ObjectUser": func(t *testing.T, w *windows) {
			t.Helper()
			v := w.visit(t, appOrigin, "object", "")
			token := s.agent.sign(t, appID, "alias of eve", time.Hour)
			user := map[string]string{"userName": "eve", "aliasName": "alias of eve"}
			v.begin(appID, "(forcenew, callback) => callback(null, "+quote(token)+")", user, s.collector.receiver)
			v.connects()
		},
		"Returned": func(t *testing.T, w *windows) {
			t.Helper()
			v := w.visit(t, appOrigin, "returned", "")
			token := s.agent.sign(t, appID, "eve", time.Hour)
			v.begin(appID, "() => (forcenew, callback) => { asked.push(forcenew); callback(null, "+quote(token)+"); }", "eve", s.collector.receiver)
			require.Equal(t, []bool{false, false}, v.connects().Asked, "both got the same argument")
		},
		"Promised": func(t *testing.T, w *windows) {
			t.Helper()
			v := w.visit(t, appOrigin, "promised", "")
			v.begin(appID, "async () => "+quote(s.agent.sign(t, appID, "eve", time.Hour)), "eve", s.collector.receiver)
			v.connects()
		},
		"Twice": func(t *testing.T, w *windows) {
			t.Helper()
			v := w.visit(t, appOrigin, "twice", "")
			first, second := s.agent.sign(t, appID, "eve", time.Hour), s.agent.sign(t, appID, "eve", time.Hour)
			v.begin(appID, "(forcenew, callback) => { callback(null, "+quote(first)+"); callback(null, "+quote(second)+"); callback('no'); }", "eve", s.collector.receiver)
			require.Equal(t, []string{first}, v.connects().tokensSent())
		},
		"Silent":    s.answersLate,
		"Throws":    s.fails("throws", "() => { throw new Error('no key today'); }", "no key today"),
		"Rejects":   s.fails("rejects", "async () => { throw new Error('no key today'); }", "no key today"),
		"Reports":   s.fails("reports", "(forcenew, callback) => callback('no key today')", "no key today"),
		"Nothing":   s.fails("nothing", "(forcenew, callback) => callback(null)", "the token generator gave no token"),
		"LoggedOut": s.fails("logged-out", "agent('/token', { credentials: 'omit' })", "not logged in"),
		"Outage":    s.fails("outage", "agent('/outage/token')", "cannot find out who is logged in"),
	}
}

// isRefused: the library asks for a newer token once, then it gives up.
func (s *site) isRefused(t *testing.T, w *windows, name, token, user string) {
	t.Helper()
	v := w.visit(t, appOrigin, name, "")
	v.begin(appID, "(forcenew, callback) => callback(null, "+quote(token)+")", user, s.collector.receiver)
	d := v.rests("authError")
	require.Equal(t, []bool{false, true}, d.Asked)
	require.Equal(t, []string{token, token}, d.tokensSent())
	require.Empty(t, d.Hellos)
}

// fails: a generator that gives no token is told of, and asked no more.
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

// answersLate: who does not answer for 10 s is told of; the token is used when it comes.
func (s *site) answersLate(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, appOrigin, "late", "")
	v.begin(appID, "(forcenew, callback) => { window.answer = callback; }", "eve", s.collector.receiver)
	v.waits(10*time.Second, "asks", func(d diary) bool { return len(d.Asked) == 1 })
	var over int
	v.eval("elapse(10_000)", &over)
	require.Equal(t, 1, over, "it waits for 10 s")
	d := v.rests("tokenGenerationError")
	require.Empty(t, d.Posts)
	v.eval("answer(null, "+quote(s.agent.sign(t, appID, "eve", time.Hour))+")", nil)
	v.hears("tokenGenerationError", "success")
	v.waits(20*time.Second, "says hello", func(d diary) bool { return len(d.Hellos) == 1 })
	require.Equal(t, []bool{false}, v.diary().Asked)
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
