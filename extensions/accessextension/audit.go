package accessextension

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/storage"
)

// failureRate is how many entries failed attempts may cause.
var failureRate = throttle.PerSecond(1, 60)

// Record writes an entry into the audit log.
func (k *keeper) Record(ctx context.Context, e access.Entry) error {
	var body []byte
	if len(e.Body) > 0 {
		var err error
		if body, err = json.Marshal(e.Body); err != nil {
			return err
		}
	}
	at := e.At
	if at.IsZero() {
		at = k.now()
	}
	err := k.accounts.AddAudit(ctx, []storage.AuditEntry{{
		At: at.UTC().Truncate(time.Millisecond), Actor: cut(e.Actor), Action: e.Action, AppID: cut(e.AppID), Target: cut(e.Target), Body: body,
	}})
	if err != nil {
		k.telemetry.QosaccessStoreErrors.Add(ctx, 1)
		k.log.Error("an audit entry was not written", zap.String("action", e.Action), zap.Error(err))
	}
	return err
}

// cut keeps a text within what the store takes.
func cut(text string) string {
	if len(text) <= storage.MaxIDBytes {
		return text
	}
	text = text[:storage.MaxIDBytes]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

// Read is Record for an entry of a visitor that a page may repeat every few seconds: it writes one
// an hour for each login, action, app, target and details.
func (k *keeper) Read(ctx context.Context, v *access.Visitor, e access.Entry) error {
	key := keyOf(v, e)
	if v.Login != "" && k.reads.recent(key, k.now()) {
		return nil
	}
	e.Actor = v.Name
	if err := k.Record(ctx, e); err != nil {
		return err
	}
	k.reads.note(key, k.now())
	return nil
}

func keyOf(v *access.Visitor, e access.Entry) string {
	return strings.Join([]string{v.Login, v.Name, e.Action, e.AppID, e.Target, fmt.Sprint(e.Body)}, "\x00")
}

// Refused records that the rights of a visitor do not permit a request: of which app (empty for none), for what target,
// and why. Like Read it writes one entry an hour of the same, and like failed attempts no more than failureRate. A
// refusal is answered even if it cannot be recorded.
func (k *keeper) Refused(ctx context.Context, v *access.Visitor, appID, target, why string) {
	e := access.Entry{Actor: v.Name, Action: access.ActionRefused, AppID: appID, Target: target, Body: map[string]any{"reason": why}}
	key := keyOf(v, e)
	if k.reads.recent(key, k.now()) || !k.limited(ctx, e) {
		return
	}
	k.reads.note(key, k.now())
}

// limited records an entry that visitors without rights cause, unless there are too many. It reports whether it did.
func (k *keeper) limited(ctx context.Context, e access.Entry) bool {
	if k.failures.Take(1, failureRate, k.now()) > 0 {
		k.telemetry.QosaccessAuditDropped.Add(ctx, 1)
		return false
	}
	return k.Record(ctx, e) == nil // an error was logged and counted
}

// failed records a failed attempt, unless there are too many. The user is empty where there is
// none: the name may be a password that was typed into the wrong field.
func (k *keeper) failed(ctx context.Context, user string, network netip.Prefix, why string) {
	k.limited(ctx, access.Entry{Actor: user, Action: access.ActionSignInFail, Body: from(network, "reason", why)})
}

// from returns the members of an entry: where a request came from, truncated, and one more.
func from(network netip.Prefix, name, value string) map[string]any {
	body := map[string]any{name: value}
	if network.IsValid() {
		bits := 48
		if network.Addr().Is4() {
			bits = 24
		}
		body["network"] = netip.PrefixFrom(network.Addr(), bits).Masked().String()
	}
	return body
}

// Bounds of the reads that are remembered.
const (
	readAgain = time.Hour
	maxReads  = 20_000
)

// reads are the reads that were recorded of late.
type reads struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (r *reads) recent(key string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.at[key]
	return ok && now.Sub(at) < readAgain
}

// note remembers a read. It forgets all others where there are too many: they are recorded again.
func (r *reads) note(key string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil || len(r.at) >= maxReads {
		r.at = map[string]time.Time{}
	}
	r.at[key] = now
}
