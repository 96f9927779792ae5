package accessextension

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/extensioncapabilities"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/accessextension/internal/metadata"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/periodic"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/storage"
)

// source is the storage extension that has the users.
type source interface {
	Settings() storage.Settings
	Accounts() storage.Accounts
}

// storeTimeout ends a request whose store does not answer.
const storeTimeout = 10 * time.Second

// sweepEvery is the time between two sweeps of logins, links and audit entries.
const sweepEvery = 10 * time.Minute

// keeper owns users, logins and the audit log. Other extensions find it through the host and use
// Handlers, Visitor, Refuse, Record and Read.
type keeper struct {
	cfg       *Config
	set       component.TelemetrySettings
	log       *zap.Logger
	telemetry *metadata.TelemetryBuilder
	now       func() time.Time
	timeout   time.Duration // storeTimeout; longer in tests, which a busy machine may slow down
	out       io.Writer     // where the first password and the link are printed

	settings  storage.Settings
	accounts  storage.Accounts
	passwords *access.Passwords
	lockout   *access.Lockout
	devices   atomic.Pointer[access.DeviceKeys]
	failures  *throttle.Table // audit entries that failed attempts may still cause
	lines     *throttle.Table // lines of the log that they may still cause
	provider  *identityProvider
	proxies   []netip.Prefix
	limits    access.Limits
	reads     reads

	sweeping *periodic.Task
}

var _ extensioncapabilities.Dependent = (*keeper)(nil)

func newKeeper(cfg *Config, set component.TelemetrySettings, telemetry *metadata.TelemetryBuilder) *keeper {
	k := &keeper{cfg: cfg, set: set, log: set.Logger, telemetry: telemetry, now: time.Now, timeout: storeTimeout, out: os.Stderr}
	k.devices.Store(&access.DeviceKeys{})
	return k
}

// Dependencies lets the collector start the store first.
func (k *keeper) Dependencies() []component.ID { return []component.ID{k.cfg.Storage} }

// Start makes the first administrator where there is no user.
func (k *keeper) Start(ctx context.Context, host component.Host) error {
	if err := k.store(host); err != nil {
		return err
	}
	var err error
	if k.proxies, err = k.cfg.proxies(); err != nil {
		return err
	}
	if k.passwords, err = access.NewPasswords(); err != nil {
		return err
	}
	k.lockout = access.NewLockout(k.now())
	k.failures, k.lines = throttle.NewTable(1, k.now()), throttle.NewTable(1, k.now())
	k.limits = access.Limits{Absolute: k.cfg.AbsoluteTimeout, Idle: k.cfg.IdleTimeout}
	if err := k.startProvider(ctx, host); err != nil {
		return err
	}
	if err := k.first(ctx); err != nil {
		return fmt.Errorf("first administrator: %w", err)
	}
	if err := k.printLink(ctx); err != nil {
		return fmt.Errorf("sign-in link: %w", err)
	}
	if err := k.readDevices(ctx); err != nil {
		return fmt.Errorf("keys of devices: %w", err)
	}
	k.sweeping = periodic.Start(sweepEvery, func(ctx context.Context, _ time.Time) { k.sweep(ctx, k.now()) })
	return nil
}

// Shutdown is legal before Start and twice.
func (k *keeper) Shutdown(context.Context) error {
	k.sweeping.Stop()
	k.provider.close()
	k.telemetry.Shutdown()
	return nil
}

func (k *keeper) store(host component.Host) error {
	id := k.cfg.Storage
	ext, ok := host.GetExtensions()[id]
	if !ok {
		return fmt.Errorf("storage: extension %q is not there: define it and list it under service::extensions", id)
	}
	src, ok := ext.(source)
	if !ok {
		return fmt.Errorf("storage: extension %q is not a storage extension", id)
	}
	k.settings, k.accounts = src.Settings(), src.Accounts()
	if k.settings == nil || k.accounts == nil {
		return fmt.Errorf("storage: extension %q has not been started", id)
	}
	return nil
}

// sweep deletes logins, links, API tokens and audit entries that have ended, and reads the keys of devices anew.
func (k *keeper) sweep(ctx context.Context, now time.Time) {
	for what, sweep := range map[string]func() error{
		"logins": func() error {
			return k.accounts.ForgetLogins(ctx, now.Add(-k.limits.Absolute), now.Add(-k.limits.Idle-access.SeeEvery))
		},
		"audit entries": func() error { return k.accounts.ForgetAudit(ctx, now.Add(-k.cfg.AuditRetention), maxAuditNumber) },
		"links":         func() error { return k.forgetLinks(ctx, now) },
		"API tokens":    func() error { return k.forgetTokens(ctx, now) },
		"device keys":   func() error { return k.readDevices(ctx) },
	} {
		if err := sweep(); err != nil && ctx.Err() == nil {
			k.telemetry.QosaccessStoreErrors.Add(ctx, 1)
			k.log.Error("old entries were not deleted", zap.String("of", what), zap.Error(err))
		}
	}
}
