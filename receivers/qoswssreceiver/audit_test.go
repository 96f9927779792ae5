package qoswssreceiver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/protocol"
)

// audited starts a collector whose log can be read.
func audited(t *testing.T) (*collector, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	return startCollector(t, with(func(r *wssReceiver) { r.set.Logger = zap.New(core) })), logs
}

// spec: AUTH-03, AUTH-04
func TestAuditHasALineForEachDecision(t *testing.T) {
	c, logs := audited(t)
	number := 0
	line := func(result string, want map[string]any) {
		t.Helper()
		number++
		all := logs.FilterLoggerName("audit").All()
		_ = logs.TakeAll()
		require.Len(t, all, 1)
		require.Equal(t, fmt.Sprintf("%s, decision %d", result, number), all[0].Message)
		got := all[0].ContextMap()
		if token, there := got["token"]; there { // another one each time
			require.Len(t, token, 16)
			got["token"] = ""
		}
		require.Equal(t, want, got)
	}
	verifier := c.receiver.shared.apps.(*testApps).apps["demo"].Verifiers[0].ID
	grant := c.login("demo", testOrigin)
	line("granted", map[string]any{"method": "scram", "reason": "granted", "app": "demo", "user": "alice", "alias": "a1", "origin": testOrigin, "secret": verifier, "token": ""})
	p := c.dial(testOrigin)
	p.hello(grant, 0)
	p.hear("welcome")
	line("granted", map[string]any{"method": "token", "reason": "granted", "app": "demo", "user": "alice", "alias": "a1", "origin": testOrigin, "secret": verifier, "token": ""})
	p = c.dial("https://evil.example.org")
	p.hello(grant, 0)
	p.hear("bye")
	line("refused", map[string]any{"method": "token", "reason": "origin_changed", "app": "demo", "user": "alice", "alias": "a1", "origin": "https://evil.example.org", "secret": verifier, "token": ""})

	_, _ = c.post("auth", testOrigin, thirdParty(t, "bob", func(c jwt.MapClaims) { c["jti"] = "j-1" }))
	line("granted", map[string]any{"method": "jwt", "reason": "granted", "app": "third", "user": "bob", "origin": testOrigin, "key": "hs", "jti": "j-1", "token": ""})
	_, _ = c.post("auth", "", thirdParty(t, "bob", func(c jwt.MapClaims) { c["jti"] = "j-2" }))
	line("refused", map[string]any{"method": "jwt", "reason": "origin_denied", "app": "third", "user": "bob", "key": "hs", "jti": "j-2"})
}

// spec: AUTH-01, AUTH-04
func TestLogHasNoSecrets(t *testing.T) {
	c, logs := audited(t)
	grant := c.login("demo", testOrigin)
	p := c.dial(testOrigin)
	p.hello(grant, 0)
	p.hear("welcome")
	p = c.dial("")
	p.hello(grant, 0)
	p.hear("bye")
	third := thirdParty(t, "bob", unchanged)
	_, _ = c.post("auth", testOrigin, third)
	_, _ = c.post("auth", "", third)
	_, _ = c.post("auth", testOrigin, strings.Replace(third, "bob", "eve", 1))
	_, _ = c.post("auth?token="+grant.Token, testOrigin, third)
	request, refusal := protocol.DecodeAuth([]byte(third))
	require.Nil(t, refusal)
	require.GreaterOrEqual(t, logs.Len(), 6)
	for _, entry := range logs.All() {
		text := fmt.Sprint(entry.Message, entry.ContextMap())
		for _, secret := range []string{grant.Token, testSecret, thirdSecret, request.(*protocol.JWTRequest).JWT, grant.Token[strings.LastIndexByte(grant.Token, '.')+1:], ",p="} {
			require.NotContains(t, text, secret)
		}
	}
}

// A flood fills no disk, and hides neither a grant nor another application.
func TestAuditIsBounded(t *testing.T) {
	c, logs := audited(t)
	now := time.Unix(1763702160, 0)
	a := newAudit(c.receiver.set.Logger, c.receiver.shared.apps, c.receiver.metrics, c.receiver.shared.addresses, func() time.Time { return now })
	flood := func(appID string) int {
		const many = 10_000
		_ = logs.TakeAll()
		for range many {
			a.record(auth.Decision{Method: auth.MethodScram, Reason: auth.ReasonProofWrong, AppID: appID})
		}
		return logs.Len()
	}
	require.Equal(t, auditAppBurst, flood("demo"))
	require.EqualValues(t, 10_000-auditAppBurst, c.counted("receiver_qoswss_audit_lines_dropped", ""))
	require.EqualValues(t, 10_000, c.counted("receiver_qoswss_auth_decisions", "proof_wrong"))
	a.record(auth.Decision{Method: auth.MethodScram, Reason: auth.Granted, AppID: "demo", User: protocol.UserID{Name: strings.Repeat("x", maxAuditBytes+1)}})
	require.Equal(t, 1, logs.FilterMessage("granted, decision 10001").Len())
	require.Len(t, logs.FilterMessage("granted, decision 10001").All()[0].ContextMap()["user"], maxAuditBytes)
	require.Equal(t, auditAppBurst, flood("strict"), "another application has lines of its own")

	unknown := 0
	for i := range 1000 {
		_ = logs.TakeAll()
		a.record(auth.Decision{Method: auth.MethodScram, Reason: auth.ReasonAppUnknown, AppID: fmt.Sprint("made up ", i)})
		unknown += logs.Len()
	}
	require.Equal(t, auditAppBurst, unknown, "those that do not exist are one")
	require.Equal(t, auditBurst-3*auditAppBurst, flood("third"))

	now = now.Add(time.Second)
	require.Equal(t, auditAppRate, flood("demo"))
	now = now.Add(time.Hour)
	require.Equal(t, auditAppBurst, flood("demo"))
	now = now.Add(-time.Minute)
	require.Zero(t, flood("demo"), "a clock that was set back gives nothing away")
}
