package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

const shop = "/api/v1/apps/shop"

// api sends a request to the management API and decodes the answer.
func api[T any](t *testing.T, d deployment, method, path string, status int, text string, headers ...string) (v T) {
	t.Helper()
	body := send(t, method, "http://"+d.management+path, token, status, text, headers...)
	require.NoError(t, json.Unmarshal(body, &v), string(body))
	return v
}

// verifies reports whether a receiver that has some secrets accepts a notification.
func verifies(t *testing.T, n notification, secrets ...string) bool {
	t.Helper()
	for _, secret := range secrets {
		verifier, err := standardwebhooks.NewWebhook(secret)
		require.NoError(t, err)
		if verifier.Verify(n.text, n.header) == nil {
			return true
		}
	}
	return false
}

// The secret of a webhook rotates by the management API. Meanwhile a receiver verifies with the old
// one, with the new one, and with both; afterwards with the new one alone.
//
// spec: OUT-03
func TestSecretRotation(t *testing.T) {
	t.Parallel()
	const older, newer = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	type made struct{ ID, Secret string }
	r := newReceiver(t)
	d := deploy(t, r, "")
	api[any](t, d, http.MethodPut, shop, http.StatusCreated, fmt.Sprintf(`{"webhooks":[{"id":"w","url":%q,"secret":%q}]}`, r.URL, older), "If-None-Match", "*")
	// next returns a notification with so many signatures: the exporter has read the change.
	next := func(signatures int) (n notification) {
		require.Eventually(t, func() bool {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+d.management+shop+"/webhooks/w/test", http.NoBody)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+token)
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			if res.StatusCode != http.StatusAccepted { // it has not read the app yet
				return false
			}
			all := r.await(t, len(r.all())+1)
			n = all[len(all)-1]
			return len(strings.Fields(n.header.Get("webhook-signature"))) == signatures
		}, harness.Patience, 50*time.Millisecond)
		return n
	}
	n := next(1)
	require.True(t, verifies(t, n, older))
	require.False(t, verifies(t, n, newer))

	got := api[made](t, d, http.MethodPost, shop+"/webhooks/w/secret", http.StatusCreated, fmt.Sprintf(`{"secret":%q}`, newer))
	require.Equal(t, made{"w", ""}, got)
	n = next(2)
	require.True(t, verifies(t, n, older))
	require.True(t, verifies(t, n, newer))
	require.True(t, verifies(t, n, newer, older))

	api[made](t, d, http.MethodPost, shop+"/webhooks/w/secret", http.StatusCreated, fmt.Sprintf(`{"secret":%q,"previousUntil":"2026-01-01T00:00:00Z"}`, newer))
	n = next(1)
	require.False(t, verifies(t, n, older), "the rotation was ended")
	require.True(t, verifies(t, n, newer, older))

	got = api[made](t, d, http.MethodPost, shop+"/webhooks/w/secret", http.StatusCreated, "")
	n = next(2)
	require.True(t, verifies(t, n, got.Secret), "one that the API made")
	require.True(t, verifies(t, n, newer))
	require.False(t, verifies(t, n, older))
}

// An app has thresholds of its own by the management API, from the next evaluation on.
//
// spec: OUT-02
func TestRulesOfAnApp(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	d := deploy(t, r, "")
	document := func(rules string) string {
		return fmt.Sprintf(`{"webhooks":[{"id":"w","url":%q}],"webhookRules":{"reasons":{"failedConferences":%s}}}`, r.URL, rules)
	}
	type app struct{ Revision int64 }
	api[app](t, d, http.MethodPut, shop, http.StatusCreated, document(`{"individual":false,"threshold":0.7,"minSamples":4,"windowMs":600000}`), "If-None-Match", "*")
	login := api[struct{ Secret string }](t, d, http.MethodPost, shop+"/secrets", http.StatusCreated, "")
	client := &http.Client{Timeout: harness.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	require.Eventually(t, func() bool { // the receiver knows the app
		_, err := authtest.Login(t.Context(), client, d.URL(), harness.Origin, "shop", login.Secret, protocol.UserID{Name: "ann", Alias: "ann"})
		return err == nil
	}, harness.Patience, 20*time.Millisecond)
	for i := range 4 {
		callOf(t, d.Collector, "shop", login.Secret, fmt.Sprint("call ", i), i > 1)
	}
	require.Eventually(t, func() bool { return d.Metrics().Sum("otelcol_qoswebhook_points") == 4 }, harness.Patience, 20*time.Millisecond)
	one := api[app](t, d, http.MethodGet, shop, http.StatusOK, "")
	api[app](t, d, http.MethodPut, shop, http.StatusOK, document(`{"individual":false,"threshold":0.4,"minSamples":4,"windowMs":1200000}`), "If-Match", fmt.Sprintf(`"%d"`, one.Revision))
	n := r.await(t, 1)[0]
	require.Equal(t, []any{"shop", "interval", 2.0, 0.4, 0.5}, []any{n.body["appId"], n.body["triggerType"], n.body["actualValue"], n.body["threshold"], n.body["fractionalValue"]})
	require.Equal(t, []string{"call 2", "call 3"}, follow(t, n.body["url"].(string)))
}
