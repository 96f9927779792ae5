package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

const (
	managerToken = "the-token-of-an-operator-in-a-test" // of the apps extension's management API
	throttledApp = "throttled-in-"                      // one for each browser, for one login in five seconds
)

// registered are applications that change while pages are open, and one that is slow.
//
// spec: AUTH-02, AUTH-05, AUTH-07
func (s *site) registered() map[string]subject {
	return map[string]subject{"Revoked": s.isRevoked, "Throttled": s.waits}
}

// isRevoked: an application that an operator makes, with a secret and a key that the page
// uses. When they are taken away the open session ends, and the library tries no more than
// it may.
func (s *site) isRevoked(t *testing.T, w *windows) {
	t.Helper()
	app := "kept-" + w.kind
	s.manage(t, http.MethodPut, app, map[string]any{"origins": []string{appOrigin}}, nil)
	s.manage(t, http.MethodPost, app+"/keys", map[string]string{
		"keyID": s.agent.key.ID(), "algorithm": "ES256", "publicKey": s.agent.publicKey(),
	}, nil)
	var secret struct{ ID, Secret string }
	s.manage(t, http.MethodPost, app+"/secrets", map[string]any{}, &secret)
	token := s.agent.sign(t, app, "eve", time.Hour)
	browser.Eventually(t, patience, "the collector knows "+app, func() (bool, string) {
		status, body := s.login(t, app, "eve", token)
		return status == http.StatusOK, body
	})

	keyed, secretive := w.visit(t, appOrigin, "revoked-key", ""), w.visit(t, appOrigin, "revoked-secret", "")
	keyed.begin(app, gives(token), "eve", s.collector.receiver)
	secretive.begin(app, quote(secret.Secret), "eve", s.collector.receiver)
	keyed.connects()
	secretive.connects()

	s.manage(t, http.MethodDelete, app+"/keys/"+url.PathEscape(s.agent.key.ID()), nil, nil)
	d := keyed.rests("success", "authError")
	require.Equal(t, []bool{false, false, true}, d.Asked, "one fresh login, with a new token at last")
	require.Len(t, d.Hellos, 1)
	require.Equal(t, []string{"success"}, secretive.diary().csErrors(), "what was not revoked goes on")
	s.manage(t, http.MethodDelete, app+"/secrets/"+secret.ID, nil, nil)
	secretive.rests("success", "authError")
}

// waits: who comes too often waits as long as the collector says, and then is let in.
func (s *site) waits(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, appOrigin, "throttled", "")
	app := throttledApp + w.kind
	token := s.agent.sign(t, app, "eve", time.Hour)
	for range 2 { // as often as one may at once
		status, body := s.login(t, app, "eve", token)
		require.Equal(t, http.StatusOK, status, body)
	}
	v.begin(app, gives(token), "eve", s.collector.receiver)
	d := v.hears("httpError", "success")
	require.Len(t, d.Posts, 2, "the second time was late enough")
	require.Equal(t, http.StatusTooManyRequests, d.Posts[0].Status)
	var refusal struct {
		Code         string
		RetryAfterMs float64
	}
	require.NoError(t, json.Unmarshal([]byte(d.Posts[0].Text), &refusal))
	require.Equal(t, "throttled", refusal.Code)
	require.Positive(t, refusal.RetryAfterMs)
}

// login is the handshake of a page with a token, without the page.
func (s *site) login(t *testing.T, app, user, token string) (status int, body string) {
	t.Helper()
	text := jsonOf(map[string]string{"type": "jwt", "appID": app, "userID": user, "jwt": token})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.collector.receiver+"/auth", strings.NewReader(text))
	require.NoError(t, err)
	req.Header.Set("Origin", appOrigin)
	return send(t, req)
}

// manage asks the management API, which must do it.
func (s *site) manage(t *testing.T, method, path string, body, into any) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	if body == nil {
		raw = nil
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.management+"/api/v1/apps/"+path, bytes.NewReader(raw))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+managerToken)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPut {
		req.Header.Set("If-None-Match", "*")
	}
	status, answer := send(t, req)
	require.Less(t, status, 300, answer)
	if into != nil {
		require.NoError(t, json.Unmarshal([]byte(answer), into))
	}
}

func send(t *testing.T, req *http.Request) (status int, body string) {
	t.Helper()
	client := &http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(raw)
}
