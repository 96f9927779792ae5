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

	"github.com/qosrtc/qos/internal/address"
	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/mask"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// How many lines a second the audit log takes for long, and at once: of all applications
// and of one. A line has at most about 1 KiB, so a flood writes 20 KiB a second. Grants and
// refusals are counted apart: a flood of refusals hides no grant, and one of an application
// hides no line of another.
const (
	auditRate     = 20
	auditBurst    = 600
	auditAppRate  = 5
	auditAppBurst = 150
)

// audit keeps the record of who was admitted and who was not, and why: a line of the logger
// "audit" and a count for each decision. It never has a token, a secret or a proof.
type audit struct {
	log              *zap.Logger
	apps             registry
	metrics          *metadata.TelemetryBuilder
	addresses        *address.Policy
	now              func() time.Time
	made             atomic.Uint64 // decisions so far
	grants, refusals page
}

func newAudit(log *zap.Logger, apps registry, metrics *metadata.TelemetryBuilder, addresses *address.Policy, now func() time.Time) *audit {
	return &audit{log: log.Named("audit"), apps: apps, metrics: metrics, addresses: addresses, now: now}
}

// registered is the AppID, or nothing where there is no such app: strangers can make up
// more of them than there is memory.
func (a *audit) registered(appID string) string {
	if _, known := a.apps.App(appID); known {
		return appID
	}
	return ""
}

// page counts the lines that one kind of decision has written of late.
type page struct {
	mu   sync.Mutex
	all  lines
	apps map[string]*lines
}

// maxPageApps is of how many applications lines are counted apart; then all begin anew.
const maxPageApps = 4096

// allow reports whether there is room for one more line of an application.
func (p *page) allow(app string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.apps[app]
	if own == nil {
		if p.apps == nil || len(p.apps) == maxPageApps {
			p.apps = make(map[string]*lines)
		}
		own = new(lines)
		p.apps[app] = own
	}
	own.pay(auditAppRate, now)
	p.all.pay(auditRate, now)
	if own.owed > auditAppBurst-1 || p.all.owed > auditBurst-1 {
		return false
	}
	own.owed++
	p.all.owed++
	return true
}

// lines are those that were written and that the time since has not paid for.
type lines struct {
	owed float64
	at   time.Time
}

func (l *lines) pay(rate float64, now time.Time) {
	l.owed = math.Max(0, l.owed-rate*now.Sub(l.at).Seconds())
	l.at = now
}

// decided records one decision. Its number in the message makes each message another one,
// for the collector thins out messages that are the same (service::telemetry::logs::sampling),
// and shows where lines were dropped.
func (a *audit) decided(d auth.Decision) {
	a.metrics.ReceiverQoswssAuthDecisions.Add(context.Background(), 1, metric.WithAttributes(
		attribute.String("method", string(d.Method)), attribute.String("reason", string(d.Reason))))
	number := a.made.Add(1)
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

// hash replaces the user of a decision by its pseudonym, if the application's records have that.
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

// auditFields are those of a line. What is empty is left out.
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

// clip bounds what a stranger can write into the log.
func clip(s string) string { return s[:min(len(s), maxAuditBytes)] }

// maxAuditBytes is how much of a text a line has: all of a jti, so that two can be distinguished.
const maxAuditBytes = 512

// observeForgotten shows how much of what was used is not remembered any more.
func observeForgotten(metrics *metadata.TelemetryBuilder, a *auth.Authenticator) error {
	return metrics.RegisterReceiverQoswssAuthEvictionsCallback(func(_ context.Context, o metric.Int64Observer) error {
		o.Observe(int64(a.ForgottenStates()), metric.WithAttributes(attribute.String("used", "state")))
		o.Observe(int64(a.ForgottenJTIs()), metric.WithAttributes(attribute.String("used", "jti")))
		return nil
	})
}
