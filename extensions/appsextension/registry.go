package appsextension

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/auth"
)

// registry holds the apps. It keeps verifiers, not secrets; it is read-only after Start.
type registry struct {
	cfg    *Config
	logger *zap.Logger
	keys   *auth.Keys
	apps   map[string]auth.App
}

var _ auth.Registry = (*registry)(nil)

// Start reads or makes the key and derives the verifiers.
func (r *registry) Start(context.Context, component.Host) error {
	master, err := r.masterKey()
	if err != nil {
		return err
	}
	if r.keys, err = auth.NewKeys(master); err != nil {
		return err
	}
	r.apps = make(map[string]auth.App, len(r.cfg.Apps))
	for _, app := range r.cfg.Apps {
		secrets := make([]string, len(app.Secrets))
		for i, secret := range app.Secrets {
			secrets[i] = string(secret)
		}
		r.apps[app.ID] = auth.NewApp(r.keys, app.ID, secrets, app.Origins)
		if len(app.Origins) == 0 {
			r.logger.Info("any origin may use this app; name the origins of your pages to change that", zap.String("app", app.ID))
		}
	}
	return nil
}

func (r *registry) masterKey() ([]byte, error) {
	if r.cfg.KeyFile == "" {
		return parseKey(string(r.cfg.Key))
	}
	key, made, err := readOrMakeKey(r.cfg.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("key_file: %w", err)
	}
	if made {
		r.logger.Info("made a new key; collectors behind one address must share it", zap.String("key_file", r.cfg.KeyFile))
	}
	return key, nil
}

// Shutdown has nothing to stop.
func (*registry) Shutdown(context.Context) error { return nil }

// App finds an app. It is asked only after Start.
func (r *registry) App(id string) (auth.App, bool) {
	app, ok := r.apps[id]
	return app, ok
}

// Revision is the same for ever: the apps do not change after Start.
func (*registry) Revision() uint64 { return 0 }

// Keys returns the keys of the installation; nil before Start.
func (r *registry) Keys() *auth.Keys { return r.keys }
