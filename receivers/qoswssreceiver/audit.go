package qoswssreceiver

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/mask"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// Lines of the audit log a second in the long run, and at once: of all applications and of one. A
// line has at most about 1 KiB, so a flood writes 20 KiB a second. Grants and refusals have
// separate limits: a flood of refusals drops no grant, and one of an application drops no line of
// another.
const (
	auditRate     = 20
	auditBurst    = 600
	auditAppRate  = 5
	auditAppBurst = 150
)

// audit records each decision about an admission and its reason: a line of the logger "audit" and
// a count. A line never has a token, a secret or a proof.
type audit struct {
	log              *zap.Logger
	apps             registry
	metrics          *metadata.TelemetryBuilder
	addresses        *address.Policy
	now              func() time.Time
	decisions        atomic.Uint64 // number of decisions so far
	grants, refusals lineLimiter
}

func newAudit(log *zap.Logger, apps registry, metrics *metadata.TelemetryBuilder, addresses *address.Policy, now func() time.Time) *audit {
	return &audit{log: log.Named("audit"), apps: apps, metrics: metrics, addresses: addresses, now: now}
}

// registered returns the AppID, or "" if there is no such app: clients can invent more AppIDs than
// there is memory for.
func (a *audit) registered(appID string) string {
	if _, known := a.apps.App(appID); known {
		return appID
	}
	return ""
}

// lineLimiter limits the lines of one kind of decision.
type lineLimiter struct {
	mu   sync.Mutex
	all  lineDebt
	apps map[string]*lineDebt
}

// maxLimitedApps bounds the applications with separate limits. Beyond it all limits start again.
const maxLimitedApps = 4096

// allow reports whether an application may write one more line.
func (p *lineLimiter) allow(app string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.apps[app]
	if own == nil {
		if p.apps == nil || len(p.apps) == maxLimitedApps {
			p.apps = make(map[string]*lineDebt)
		}
		own = new(lineDebt)
		p.apps[app] = own
	}
	own.pay(auditAppRate, now)
	p.all.pay(auditRate, now)
	if own.debt > auditAppBurst-1 || p.all.debt > auditBurst-1 {
		return false
	}
	own.debt++
	p.all.debt++
	return true
}

// lineDebt is a number of written lines that falls with time.
type lineDebt struct {
	debt float64
	at   time.Time
}

func (l *lineDebt) pay(rate float64, now time.Time) {
	l.debt = math.Max(0, l.debt-rate*now.Sub(l.at).Seconds())
	l.at = now
}

// record records one decision. Its number makes each message different, because the collector
// samples equal messages (service::telemetry::logs::sampling), and shows where lines were dropped.
func (a *audit) record(d auth.Decision) {
	a.metrics.ReceiverQoswssAuthDecisions.Add(context.Background(), 1, metric.WithAttributes(
		attribute.String("method", string(d.Method)), attribute.String("reason", string(d.Reason))))
	number := a.decisions.Add(1)
	level, result, room := zapcore.WarnLevel, "refused", &a.refusals
	if d.Reason == auth.Granted {
		level, result, room = zapcore.InfoLevel, "granted", &a.grants
	}
	now := a.now()
	if d.Reason == auth.Granted && d.Method != auth.MethodToken {
		a.apps.Used(d.AppID, d.Credential.ID, now)
	}
	if !room.allow(a.registered(d.AppID), now) {
		a.metrics.ReceiverQoswssAuditLinesDropped.Add(context.Background(), 1)
		return
	}
	d.Origin = a.addresses.Text(d.Origin)
	a.hash(&d)
	a.log.Log(level, fmt.Sprintf("%s, decision %d", result, number), auditFields(d)...)
}

// hash replaces the user of a decision by a pseudonym if the application's records have pseudonyms.
func (a *audit) hash(d *auth.Decision) {
	app, _ := a.apps.App(d.AppID)
	keys := app.Recorded()
	if keys == nil {
		return
	}
	names := mask.New(2)
	names.Add(d.User.Name, keys.ID(d.User.Name))
	names.Add(d.User.Alias, keys.ID(d.User.Alias))
	d.User = protocol.UserID{Name: keys.ID(d.User.Name), Alias: keys.ID(d.User.Alias)}
	d.JTI = names.Text(d.JTI)
}

// auditFields returns the fields of a line. Empty ones are omitted.
func auditFields(d auth.Decision) []zap.Field {
	fields := []zap.Field{zap.String("method", string(d.Method)), zap.String("reason", string(d.Reason))}
	add := func(key, value string) {
		if value != "" {
			fields = append(fields, zap.String(key, clip(value)))
		}
	}
	add("app", d.AppID)
	add("user", d.User.Name)
	if d.User.Alias != d.User.Name {
		add("alias", d.User.Alias)
	}
	add("origin", d.Origin)
	add(string(d.Credential.Kind), d.Credential.ID)
	add("token", d.TokenID)
	add("jti", d.JTI)
	return fields
}

// clip bounds a text that a client chose.
func clip(s string) string { return s[:min(len(s), maxAuditBytes)] }

// maxAuditBytes is the length of a text in a line: enough for a whole jti, so that two can be distinguished.
const maxAuditBytes = 512

// observeForgotten registers the metric of evicted states and jtis.
func observeForgotten(metrics *metadata.TelemetryBuilder, a *auth.Authenticator) error {
	return metrics.RegisterReceiverQoswssAuthEvictionsCallback(func(_ context.Context, o metric.Int64Observer) error {
		o.Observe(int64(a.ForgottenStates()), metric.WithAttributes(attribute.String("used", "state")))
		o.Observe(int64(a.ForgottenJTIs()), metric.WithAttributes(attribute.String("used", "jti")))
		return nil
	})
}
