package e2e

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// faults are the conditions of csError (interface document, section 7), each in the page.
//
// spec: AUTH-07
func (s *site) faults() map[string]subject {
	return map[string]subject{
		"WrongSecret": s.isUnknown, "Insecure": s.hasNoWebCrypto, "Unreachable": s.isUnreachable,
		"NoWebSockets": s.noWebSockets("ws-refused", "", true), "WithoutWebSocket": s.noWebSockets("ws-missing", "no-websocket", false),
		"Malformed": s.sendsNonsense, "Disrupted": s.isDisrupted,
	}
}

// isUnknown: a wrong secret and an AppID that does not exist are the same, and final.
func (s *site) isUnknown(t *testing.T, w *windows) {
	t.Helper()
	var reported [][][]string
	for name, who := range map[string][2]string{"wrong-secret": {appID, "another secret"}, "unknown-app": {"nobody", appSecret}} {
		v := w.visit(t, appOrigin, name, "")
		v.begin(who[0], quote(who[1]), "eve", s.collector.receiver)
		d := v.rests("authError")
		require.Len(t, d.Posts, 2)
		require.Equal(t, http.StatusUnauthorized, d.Posts[1].Status)
		reported = append(reported, d.Account.Init)
	}
	require.Equal(t, reported[0], reported[1], "from outside they are the same")
}

// hasNoWebCrypto: a page without TLS cannot prove that it knows a secret. A token needs none
// of that.
func (s *site) hasNoWebCrypto(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, plainOrigin, "insecure", "")
	var secure bool
	v.eval("isSecureContext", &secure)
	require.False(t, secure)
	v.begin(openAppID, quote(openAppSecret), "eve", s.collector.receiver)
	d := v.rests("authError")
	require.Contains(t, d.Account.Init[0][1], "WebCrypto")
	require.Empty(t, d.Posts)
	token := w.visit(t, plainOrigin, "insecure-token", "")
	token.begin(openAppID, gives(s.agent.sign(t, openAppID, "eve", time.Hour)), "eve", s.collector.receiver)
	token.connects()
}

// isUnreachable: csErrMsg is what the browser says. The library tries again, and says when
// it is through.
func (s *site) isUnreachable(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, appOrigin, "unreachable", "")
	nobody := freeAddress(t)
	v.begin(appID, quote(appSecret), "eve", "http://"+nobody)
	d := v.hears("httpError")
	require.NotEmpty(t, d.Posts[0].Failed)
	require.Equal(t, d.Posts[0].Failed, d.Account.Init[0][1])
	startProxy(t, nobody, s.collector.receiver)
	v.hears("httpError", "success")
}

// startProxy puts something between pages and a collector.
func startProxy(t *testing.T, address, to string) {
	t.Helper()
	target, err := url.Parse(to)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	server := &http.Server{Handler: httputil.NewSingleHostReverseProxy(target), ReadHeaderTimeout: patience}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until it is closed
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}

// noWebSockets: the network lets none through, or the browser has none. What is to be said
// goes by POST.
func (s *site) noWebSockets(name, query string, refuses bool) subject {
	return func(t *testing.T, w *windows) {
		t.Helper()
		v := w.visit(t, appOrigin, name, query)
		v.begin(appID, quote(appSecret), "eve", startFront(t, refuses, s.collector).url)
		d := v.hears("success", "wsChannelFailure", "success")
		require.Empty(t, d.Hellos)
		require.True(t, strings.HasSuffix(d.Posts[len(d.Posts)-1].URL, "/frames"))
	}
}

// sendsNonsense: a message that the collector cannot read is reported; the rest goes on.
func (s *site) sendsNonsense(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, appOrigin, "malformed", "")
	v.begin(appID, quote(appSecret), "eve", s.collector.receiver)
	v.connects()
	v.eval(`spoil = (text) => text.replace('"event":"customEvent"', '"event":"not a name"')`, nil)
	v.eval("library.sendCustomEvent(null, 'malformed', ['spoilt'])", nil)
	v.waits("hears of it", func(d diary) bool { return len(d.Account.Init) > 1 })
	v.eval("spoil = (text) => text", nil)
	v.eval("library.sendCustomEvent(null, 'malformed', ['whole'])", nil)
	d := v.hears("success", "csProtoError", "success")
	require.Contains(t, d.Account.Init[1][1], "event")
	require.Len(t, d.Hellos, 1, "the connection lives on")
}
