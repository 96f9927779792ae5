package appsextension

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/extensions/appsextension/internal/vault"
	"github.com/qosrtc/qos/internal/identity/auth"
)

// declared makes apps of the configuration, and again when a file of it changed. What it
// derived of a secret it keeps, for that is slow on purpose.
type declared struct {
	apps      []AppConfig
	keys      *auth.Keys
	vault     *vault.Vault
	files     *files
	verifiers map[verifierOf]auth.Verifier
	failing   bool // the last time
}

// verifierOf is the secret of an app.
type verifierOf struct{ appID, secret string }

func newDeclared(apps []AppConfig, keys *auth.Keys, v *vault.Vault) *declared {
	return &declared{apps: apps, keys: keys, vault: v, files: newFiles(), verifiers: map[verifierOf]auth.Verifier{}}
}

// load reads the files and returns all apps by id, or an error that names the first that
// is wrong.
func (d *declared) load() (map[string]*app.App, error) {
	out := make(map[string]*app.App, len(d.apps))
	next := make(map[verifierOf]auth.Verifier, len(d.verifiers))
	var errs []error
	for i := range d.apps {
		made, err := d.app(&d.apps[i], fmt.Sprintf("apps[%d]", i), next)
		errs = append(errs, err)
		out[d.apps[i].ID] = made
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	d.verifiers = next
	return out, nil
}

func (d *declared) app(c *AppConfig, at string, verifiers map[verifierOf]auth.Verifier) (*app.App, error) {
	a := &app.App{Settings: c.Settings, Salt: d.keys.Salt(c.ID), Iterations: auth.Iterations}
	a.StatsIntervalMs, a.RetentionHours = int(c.StatsInterval.Milliseconds()), int(c.Retention/time.Hour)
	if !c.RevokedBefore.IsZero() {
		a.RevokedBefore = c.RevokedBefore.UTC()
	}
	var err error
	a.DefaultConfiguration, err = c.defaults()
	return a, errors.Join(err, d.secrets(a, c, at, verifiers), d.verificationKeys(a, c, at), d.webhooks(a, c, at), d.userIDs(a, c, at))
}

func (d *declared) secrets(a *app.App, c *AppConfig, at string, verifiers map[verifierOf]auth.Verifier) error {
	for _, secret := range c.Secrets {
		a.Secrets = append(a.Secrets, d.secret(a, c.ID, string(secret), verifiers))
	}
	for i, named := range c.NamedSecrets {
		at := fmt.Sprintf("%s.named_secrets[%d]", at, i)
		text, err := d.files.either(string(named.Secret), named.File)
		if err == nil {
			err = checkSecret("it", text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		secret := d.secret(a, c.ID, text, verifiers)
		if named.ID != "" {
			secret.ID = named.ID
		}
		if !named.NotAfter.IsZero() {
			secret.NotAfter = named.NotAfter.UTC()
		}
		a.Secrets = append(a.Secrets, secret)
	}
	return nil
}

func (d *declared) secret(a *app.App, appID, text string, verifiers map[verifierOf]auth.Verifier) app.Secret {
	of := verifierOf{appID, text}
	v, known := d.verifiers[of]
	if !known {
		v = auth.NewVerifier(text, a.Salt, a.Iterations)
	}
	verifiers[of] = v
	return app.Secret{SecretView: app.SecretView{ID: v.ID}, StoredKey: v.StoredKey, ServerKey: v.ServerKey}
}

func (d *declared) verificationKeys(a *app.App, c *AppConfig, at string) error {
	for i := range c.Keys {
		at := fmt.Sprintf("%s.keys[%d]", at, i)
		key, err := d.verificationKey(c.ID, &c.Keys[i], at)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(a.Keys, func(k app.Key) bool { return k.ID == key.ID }) {
			return fmt.Errorf("%s.key_id %q is that of another key too", at, key.ID)
		}
		a.Keys = append(a.Keys, key)
	}
	return nil
}

func (d *declared) verificationKey(appID string, c *KeyConfig, at string) (app.Key, error) {
	if c.algorithm() == auth.AlgorithmES256 {
		text, err := d.files.either(c.PublicKey, c.PublicKeyFile)
		if err != nil {
			return app.Key{}, fmt.Errorf("%s.public_key_file: %w", at, err)
		}
		return c.public(at, text)
	}
	key := app.Key{KeyView: app.KeyView{ID: c.ID, Algorithm: auth.AlgorithmHS256, Disabled: c.Disabled}}
	text, err := d.strong(string(c.Secret), c.SecretFile, at)
	if err == nil {
		key.SetShared(appID, text, d.vault)
	}
	return key, err
}

// strong returns a secret that no person types.
func (d *declared) strong(text, path, at string) (string, error) {
	text, err := d.files.either(text, path)
	if err != nil {
		return "", fmt.Errorf("%s.secret_file: %w", at, err)
	}
	return text, checkStrong(at+".secret", text)
}

func (d *declared) webhooks(a *app.App, c *AppConfig, at string) error {
	for i, hook := range c.Webhooks {
		at := fmt.Sprintf("%s.webhooks[%d]", at, i)
		made := app.Webhook{WebhookView: app.WebhookView{Hook: hook.Hook}}
		if hook.Secret != "" || hook.SecretFile != "" {
			secret, err := d.strong(string(hook.Secret), hook.SecretFile, at)
			if err != nil {
				return err
			}
			if err := app.CheckWebhookSecret(secret); err != nil {
				return fmt.Errorf("%s.secret must %w", at, err)
			}
			made.SetSecret(c.ID, secret, d.vault)
		}
		if hook.PreviousSecret != "" {
			made.SetPrevious(c.ID, string(hook.PreviousSecret), d.vault)
		}
		a.Webhooks = append(a.Webhooks, made)
	}
	return nil
}
