package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/notice"
)

// An app has rules of its own for its webhooks, which the view shows and the document keeps. Without
// the member it has none.
//
// spec: OUT-02
func TestWebhookRules(t *testing.T) {
	a, v := newApp(t), newVault(t, 1)
	const rules = `{"windowMs":600000,"reasons":{"lowQuality":{"threshold":0,"minSamples":5,"limit":2.5,"interval":false},"failedConferences":{"holdDownMs":0}}}`
	_, err := a.Replace("shop", []byte(`{"webhookRules":`+rules+`}`), v, noon, false)
	require.NoError(t, err)
	want := &notice.Override{
		Times: notice.Times{WindowMs: new(int64(600_000))},
		Reasons: map[notice.Reason]notice.RuleOverride{
			notice.LowQuality:        {Threshold: new(0.0), MinSamples: new(5), Limit: new(2.5), Interval: new(false)},
			notice.FailedConferences: {Times: notice.Times{HoldDownMs: new(int64(0))}},
		},
	}
	require.Equal(t, want, a.WebhookRules)
	body, err := a.Encode()
	require.NoError(t, err)
	back, err := Decode(body)
	require.NoError(t, err)
	require.Equal(t, want, back.WebhookRules)
	require.Equal(t, want, back.View("shop", nil).WebhookRules)
	require.Equal(t, noon, back.WebhookRulesAt)
	_, err = a.Replace("shop", []byte(`{"name":"Shop","webhookRules":`+rules+`}`), v, noon.Add(time.Hour), false)
	require.NoError(t, err)
	require.Equal(t, noon, a.WebhookRulesAt, "they are those of before")
	_, err = a.Replace("shop", []byte(`{}`), v, noon.Add(2*time.Hour), false)
	require.NoError(t, err)
	require.Nil(t, a.WebhookRules)
	require.Equal(t, noon.Add(2*time.Hour), a.WebhookRulesAt)
}

// A member that is wrong is named with its path, its limit and the kind of what came; nothing changes.
//
// spec: OUT-02
func TestWebhookRulesFaults(t *testing.T) {
	a, v := newApp(t), newVault(t, 1)
	for rules, want := range map[string]string{
		`[]`:                 "webhookRules must be an object (got an array)",
		`{"window":1}`:       "webhookRules.window must be left out: known here are windowMs, holdDownMs, recoveryMs, reasons (got the number 1)",
		`{"windowMs":1}`:     "webhookRules.windowMs must be 60000 to 86400000 ms (got 1)",
		`{"windowMs":"1h"}`:  "webhookRules.windowMs must be a whole number (got a string of 2 bytes)",
		`{"recoveryMs":1.5}`: "webhookRules.recoveryMs must be a whole number (got the number 1.5)",
		`{"reasons":{"fails":{}}}`: "webhookRules.reasons.fails must be left out: known here are failedConferences, partiallyFailedConferences, " +
			"droppedConferences, highSetupDelays, highRoundTripTime, highPacketLoss, lowQuality, dissatisfactoryUserFeedback, preCallFailures (got a rule)",
		`{"reasons":{"lowQuality":1}}`:                       "webhookRules.reasons.lowQuality must be an object (got the number 1)",
		`{"reasons":{"lowQuality":{"limit":"x"}}}`:           "webhookRules.reasons.lowQuality.limit must be a number (got a string of 1 bytes)",
		`{"reasons":{"lowQuality":{"limit":9}}}`:             "webhookRules.reasons.lowQuality.limit must be 1 to 5 (got 9)",
		`{"reasons":{"lowQuality":{"minSamples":2.5}}}`:      "webhookRules.reasons.lowQuality.minSamples must be a whole number (got the number 2.5)",
		`{"reasons":{"lowQuality":{"threshold":1}}}`:         "webhookRules.reasons.lowQuality.threshold must be at least 0 and below 1 (got 1)",
		`{"reasons":{"lowQuality":{"interval":1}}}`:          "webhookRules.reasons.lowQuality.interval must be true or false (got the number 1)",
		`{"reasons":{"lowQuality":{"holdDownMs":-1}}}`:       "webhookRules.reasons.lowQuality.holdDownMs must be 0 to 604800000 ms (got -1)",
		`{"reasons":{"droppedConferences":{"limit":0.5}}}`:   "webhookRules.reasons.droppedConferences.limit must be left out: an outcome has no limit (got 0.5)",
		`{"reasons":{"lowQuality":{},"lowQuality":{}}}`:      "webhookRules.reasons.lowQuality must be there once (got it twice)",
		`{"reasons":{"lowQuality":{"individual":"hunter"}}}`: "webhookRules.reasons.lowQuality.individual must be true or false (got a string of 6 bytes)",
	} {
		_, err := a.Replace("shop", []byte(fmt.Sprintf(`{"name":"other","webhookRules":%s}`, rules)), v, noon, false)
		require.EqualError(t, err, want)
		require.Nil(t, a.WebhookRules)
		require.Empty(t, a.Name)
	}
}

// A secret that is replaced signs beside the new one until its end, which is 24 h later unless the body
// says otherwise. The secret that signs already is no other.
//
// spec: OUT-03
func TestRotateWebhook(t *testing.T) {
	const first, second = "0123456789abcdef0123456789abcdef", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	a, v := newApp(t), newVault(t, 1)
	document := func(secret string) []byte {
		return fmt.Appendf(nil, `{"webhooks":[{"id":"w","url":"https://a.example","secret":%q},{"id":"x","url":"https://a.example"}]}`, secret)
	}
	_, err := a.Replace("shop", document(first), v, noon, false)
	require.NoError(t, err)
	secrets := func(at time.Time) []string { return a.Build("shop", v, at).Hooks[0].Secrets }
	rotate := func(body string, at time.Time) Shown {
		shown, err := a.RotateWebhook("shop", "w", []byte(body), v, at)
		require.NoError(t, err)
		require.Equal(t, "w", shown.ID)
		return shown
	}
	day := noon.Add(RotationLifetime)
	require.Empty(t, rotate(fmt.Sprintf(`{"secret":%q}`, second), noon).Secret)
	require.Equal(t, []string{second, first}, secrets(day.Add(-1)))
	require.Equal(t, []string{second}, secrets(day))
	require.Equal(t, day, a.Build("shop", v, noon).Until)
	require.Equal(t, day, a.View("shop", nil).Webhooks[0].PreviousUntil)

	_, err = a.Replace("shop", document(second), v, noon.Add(time.Hour), false)
	require.NoError(t, err)
	require.Equal(t, []string{second, first}, secrets(day.Add(-1)), "the same secret again is no rotation")
	require.Equal(t, []string{second}, secrets(day))

	rotate(fmt.Sprintf(`{"secret":%q,"previousUntil":"2026-03-03T12:00:00Z"}`, second), noon.Add(time.Hour))
	require.Equal(t, []string{second, first}, secrets(noon.Add(48*time.Hour-1)), "the rotation takes longer")
	rotate(fmt.Sprintf(`{"secret":%q,"previousUntil":"2026-03-01T00:00:00Z"}`, second), noon.Add(time.Hour))
	require.Equal(t, []string{second}, secrets(noon.Add(time.Hour)), "the rotation ends")

	made := rotate(`{}`, noon.Add(time.Hour)).Secret
	require.NoError(t, CheckWebhookSecret(made))
	require.Equal(t, []string{made, second}, secrets(noon.Add(2*time.Hour)))

	for body, want := range map[string]string{
		`{"secret":"hunter2"}`:                               "secret must have 32 to 1024 bytes (got 7)",
		`{"previousUntil":"2026-04-01T00:00:00Z"}`:           "previousUntil must be at most 30 days ahead (got 2026-04-01T00:00:00Z)",
		`{"previous":"x"}`:                                   "previous must be left out: known here are secret, previousUntil (got a string of 1 bytes)",
		`{"secret":"whsec_AAAA` + `BBBBBBBBBBBBBBBBBBBBBB"}`: "secret must have Base64 of at least 24 bytes after whsec_ (got a string of 32 bytes)",
	} {
		_, err := a.RotateWebhook("shop", "w", []byte(body), v, noon)
		require.EqualError(t, err, want)
	}
	_, err = a.RotateWebhook("shop", "none", []byte(`{}`), v, noon)
	require.ErrorIs(t, err, ErrNoWebhook)
	require.Equal(t, []string{made, second}, secrets(noon.Add(2*time.Hour)))
}

// Whatever part of a webhook's URL is wrong, the error names it, and no part of the URL that may be secret.
//
// spec: OUT-03
func TestWebhookURL(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		scheme := rapid.SampledFrom([]string{"https", "http", "file", "ftp", "HTTPS", "", "gopher"}).Draw(r, "scheme")
		host := rapid.SampledFrom([]string{"hooks.example.org", "localhost", "[::1]:8080", "", ":443", "hooks.example.org:0", "localhost:65536", "hooks.example.org:65535"}).Draw(r, "host")
		path := rapid.SampledFrom([]string{"", "/hunter2", "/" + strings.Repeat("x", MaxURLBytes), "/a#b", "/\x01", "?k=hunter2"}).Draw(r, "path")
		text := strings.TrimPrefix(scheme+"://", "://") + host + path
		err := CheckWebhookURL(text)
		want := ""
		switch local := strings.HasPrefix(host, "localhost") || host == "[::1]:8080"; {
		case len(text) == 0 || len(text) > MaxURLBytes:
			want = "have 1 to 2048 bytes"
		case strings.HasSuffix(path, "\x01"), scheme == "" && (host == "[::1]:8080" || host == ":443"):
			want = "be a URL"
		case !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
			want = "begin with https://: it has "
		case host == "" || host == ":443":
			want = "have a host after "
		case strings.HasSuffix(host, ":0"), strings.HasSuffix(host, ":65536"):
			want = "have a port from 1 to 65535"
		case strings.HasSuffix(path, "#b"):
			want = "have no user, password or fragment"
		case scheme == "http" && !local:
			want = "http goes to loopback only"
		}
		if want == "" {
			require.NoError(r, err, text)
			return
		}
		require.ErrorContains(r, err, want, "%.60s", text)
		require.NotContains(r, err.Error(), "hunter2")
	})
}

// The services of Slack and Teams verify nothing, so that no secret is made for them; one that is given is kept.
//
// spec: OUT-03
func TestFormatsWithoutSecret(t *testing.T) {
	for _, format := range notice.Formats {
		a, v := newApp(t), newVault(t, 1)
		shown, err := a.Replace("shop", []byte(`{"webhooks":[{"id":"w","url":"https://a.example","format":"`+format+`"}]}`), v, noon, false)
		require.NoError(t, err)
		needs := format == string(notice.Native) || format == string(notice.PagerDuty)
		require.Equal(t, needs, len(shown) == 1, format)
		require.Equal(t, needs, len(a.Webhooks[0].Secrets("shop", v, noon)) == 1, format)
		shown, err = a.Replace("shop", []byte(`{"webhooks":[{"id":"w","url":"https://a.example"}]}`), v, noon, false)
		require.NoError(t, err)
		require.Equal(t, !needs, len(shown) == 1, "native has one")
	}
}
