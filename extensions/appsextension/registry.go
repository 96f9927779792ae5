package appsextension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/extensioncapabilities"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/appsextension/internal/metadata"
	"github.com/qosrtc/qos/extensions/appsextension/internal/vault"
	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/periodic"
	"github.com/qosrtc/qos/storage"
)

// source is what the registry asks of a storage extension.
type source interface {
	Settings() storage.Settings
}

// noticeKeeper is a storage extension with deliveries.
type noticeKeeper interface {
	Notices() storage.Notices
}

// removing is a storage extension whose conferences can be deleted.
type removing interface {
	Remover() storage.Remover
}

// userKeeper is a storage extension that exports and erases users.
type userKeeper interface {
	Users() storage.Users
}

// registry holds the apps. It keeps verifiers, not secrets. Who asks it reads the newest
// snapshot; one goroutine makes the next of what the configuration's files and the store
// say.
type registry struct {
	cfg       *Config
	set       component.TelemetrySettings
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder

	keys       *auth.Keys
	vault      *vault.Vault
	settings   storage.Settings // nil: none
	notices    storage.Notices  // nil: none
	remover    storage.Remover  // nil: none
	users      storage.Users    // nil: none
	exports    chan struct{}    // has a place for each export that runs
	declared   *declared
	catalogue  *catalogue
	uses       *uses
	quotas     *quotas
	management *management // nil: off
	recorder   recorder    // nil: none

	now       atomic.Pointer[snapshot]
	refreshed atomic.Int64 // when the store was last read, ms; 0: there is none
	troubles  map[string]bool
	kick      chan struct{}

	cancel context.CancelFunc
	wg     sync.WaitGroup

	retaining *periodic.Task
}

var (
	_ auth.Registry                   = (*registry)(nil)
	_ extensioncapabilities.Dependent = (*registry)(nil)
)

func newRegistry(cfg *Config, set component.TelemetrySettings, telemetry *metadata.TelemetryBuilder) *registry {
	r := &registry{
		cfg: cfg, set: set, logger: set.Logger, telemetry: telemetry, uses: newUses(), quotas: newQuotas(set.Logger),
		troubles: map[string]bool{}, kick: make(chan struct{}, 1), exports: make(chan struct{}, maxExports), cancel: func() {},
	}
	r.now.Store(&snapshot{})
	return r
}

// Dependencies lets the collector start the store and the audit log first.
func (r *registry) Dependencies() []component.ID {
	var ids []component.ID
	for _, id := range []component.ID{r.cfg.Storage, r.cfg.Access} {
		if id != (component.ID{}) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Start reads or makes the keys and reads all apps. A store that cannot be read is an
// error now; later it is not.
func (r *registry) Start(ctx context.Context, host component.Host) error {
	err := r.open(ctx, host)
	if err != nil {
		return err
	}
	r.declared = newDeclared(r.cfg.Apps, r.keys, r.vault)
	r.catalogue = newCatalogue(r.vault, r.logger)
	apps, err := r.declared.load()
	if err != nil {
		return err
	}
	r.catalogue.declare(apps)
	if err := r.readStore(ctx); err != nil {
		return err
	}
	if err := r.readBytes(ctx, time.Now()); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	r.publish(time.Now())
	r.sayOpen()
	r.reseal(ctx)
	if err := r.observe(); err != nil {
		return err
	}
	if r.recorder, err = r.findRecorder(host); err != nil {
		return err
	}
	if err := r.manage(ctx, host); err != nil {
		return err
	}
	r.run()
	return nil
}

// open makes the keys and finds the store.
func (r *registry) open(ctx context.Context, host component.Host) error {
	masters, err := r.masters()
	if err != nil {
		return err
	}
	if r.keys, err = auth.NewKeys(masters...); err != nil {
		return err
	}
	if r.vault, err = vault.New(masters...); err != nil {
		return err
	}
	if !r.cfg.stored() {
		return nil
	}
	if r.settings, err = r.store(host); err != nil {
		return err
	}
	salt, err := keepSalt(ctx, r.settings, r.keys.SaltKey(), time.Now())
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	r.keys = r.keys.WithSaltKey(salt)
	return nil
}

func (r *registry) store(host component.Host) (storage.Settings, error) {
	id := r.cfg.Storage
	ext, ok := host.GetExtensions()[id]
	if !ok {
		return nil, fmt.Errorf("storage: extension %q is not there: define it and list it under service::extensions", id)
	}
	src, ok := ext.(source)
	if !ok {
		return nil, fmt.Errorf("storage: extension %q is not a storage extension", id)
	}
	settings := src.Settings()
	if settings == nil {
		return nil, fmt.Errorf("storage: extension %q has not been started", id)
	}
	if keeper, ok := ext.(noticeKeeper); ok {
		r.notices = keeper.Notices()
	}
	if one, ok := ext.(removing); ok {
		r.remover = one.Remover()
	}
	if keeper, ok := ext.(userKeeper); ok {
		r.users = keeper.Users()
	}
	return settings, nil
}

// sayOpen tells which apps of the configuration any page may use.
func (r *registry) sayOpen() {
	for i := range r.cfg.Apps {
		if len(r.cfg.Apps[i].Origins) == 0 {
			r.logger.Info("any origin may use this app; name the origins of your pages to change that", zap.String("app", r.cfg.Apps[i].ID))
		}
	}
}

// masters returns the master keys, newest first.
func (r *registry) masters() (out [][]byte, err error) {
	for i, key := range r.cfg.masterKeys() {
		at := "key_file"
		if len(r.cfg.Keys) > 0 {
			at = fmt.Sprintf("keys[%d]", i)
		}
		master, err := r.master(key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		out = append(out, master)
	}
	return out, nil
}

func (r *registry) master(c MasterKeyConfig) ([]byte, error) {
	if c.File == "" {
		return parseKey(string(c.Key))
	}
	key, made, err := readOrMakeKey(c.File)
	if err != nil {
		return nil, err
	}
	if made {
		r.logger.Info("made a new key; collectors behind one address must share it", zap.String("key_file", c.File))
	}
	return key, nil
}

// Shutdown is legal before Start and twice.
func (r *registry) Shutdown(ctx context.Context) error {
	var err error
	if r.management != nil {
		err = r.management.shutdown(ctx)
	}
	r.cancel()
	r.wg.Wait()
	r.retaining.Stop()
	r.telemetry.Shutdown()
	return err
}

// App finds an app. It takes no lock and waits for nothing.
func (r *registry) App(id string) (auth.App, bool) {
	e, ok := r.now.Load().apps[id]
	if !ok {
		return auth.App{}, false
	}
	return e.Auth, true
}

// Webhooks returns the webhooks of an app, with their secrets. It takes no lock; the answer is not
// to be changed.
func (r *registry) Webhooks(appID string) []notice.Hook {
	if e, ok := r.now.Load().apps[appID]; ok {
		return e.Hooks
	}
	return nil
}

// WebhookRules returns the rules that the app's document has, nil where it has none, and when they were set or removed
// last, zero where they never were. The answer is not to be changed.
func (r *registry) WebhookRules(appID string) (rules *notice.Override, set time.Time) {
	if e, ok := r.now.Load().apps[appID]; ok {
		return e.App.WebhookRules, e.App.WebhookRulesAt
	}
	return nil, time.Time{}
}

// DefaultConfiguration returns what pages of an app get as their default, a JSON object with peerConnection and
// media; nil where it has none. The answer is not to be changed.
func (r *registry) DefaultConfiguration(appID string) json.RawMessage {
	if e, ok := r.now.Load().apps[appID]; ok {
		return e.App.DefaultConfiguration
	}
	return nil
}

// HookedApps returns the apps that have webhooks, in ascending order. The answer is not to be changed.
func (r *registry) HookedApps() []string { return r.now.Load().hooked }

// Revision rises with every change of an app, once App shows it.
func (r *registry) Revision() uint64 { return r.now.Load().revision }

// Keys returns the keys of the installation; nil before Start.
func (r *registry) Keys() *auth.Keys { return r.keys }

// Used takes down that a secret or a verification key of an app was used with success. It
// never waits for the store.
func (r *registry) Used(appID, credentialID string, at time.Time) {
	if e, ok := r.now.Load().apps[appID]; ok && e.App.Has(credentialID) {
		r.uses.note(appID, credentialID, at)
	}
}

// isDeclared reports whether the configuration declares an app.
func (r *registry) isDeclared(id string) bool {
	return slices.ContainsFunc(r.cfg.Apps, func(a AppConfig) bool { return a.ID == id })
}

// errStoreAway is for people; the log has the rest.
var errStoreAway = errors.New("the store cannot be reached")
