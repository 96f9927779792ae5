package app

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/internal/serve/loopback"
)

// Sealer seals what is kept.
type Sealer interface {
	Seal(purpose string, secret []byte) string
	Open(purpose, sealed string) (secret []byte, newest bool, err error)
}

// Shown is a secret that is returned once, to its maker.
type Shown struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"` // empty: the caller has it
}

// wantedWebhook is a webhook in the body of a request.
type wantedWebhook struct {
	Hook

	Secret *string `json:"secret"`
}

// Replace takes the members of a body in place of an app's own; those that are absent go
// back to their defaults. Credentials and revocations stay. privateSuffixes is that of auth.CheckOrigin. It returns
// the secrets that it made for webhooks, and changes nothing where it returns an error.
func (a *App) Replace(id string, raw []byte, vault Sealer, now time.Time, privateSuffixes bool) ([]Shown, error) {
	var in struct {
		Settings

		Webhooks []wantedWebhook `json:"webhooks"`
	}
	if err := jsonobject.Decode(raw, &in); err != nil {
		return nil, err
	}
	if err := in.check(privateSuffixes); err != nil {
		return nil, err
	}
	next := a.Clone()
	next.Settings, next.UserIDs = in.Settings, a.UserIDs
	if !reflect.DeepEqual(next.WebhookRules, a.WebhookRules) {
		next.WebhookRulesAt = now.UTC().Truncate(time.Millisecond)
	}
	shown, err := next.setWebhooks(id, in.Webhooks, vault, now)
	if err == nil {
		err = next.setUserIDs(in.UserIDs, id, vault)
	}
	if err != nil {
		return nil, err
	}
	*a = *next
	return shown, nil
}

// setWebhooks replaces the webhooks. One whose id was there before keeps its secret unless another
// comes with it; a new one gets one where its format needs one and none comes with it.
func (a *App) setWebhooks(appID string, in []wantedWebhook, vault Sealer, now time.Time) (shown []Shown, err error) {
	if len(in) > MaxWebhooks {
		return nil, &jsonobject.Fault{Field: "webhooks", Limit: fmt.Sprintf("have at most %d entries", MaxWebhooks), Got: strconv.Itoa(len(in))}
	}
	before := a.Webhooks
	a.Webhooks = nil
	for i, one := range in {
		at := fmt.Sprintf("webhooks[%d].", i)
		hook := Webhook{WebhookView: WebhookView{Hook: one.Hook, CreatedAt: now.UTC().Truncate(time.Millisecond)}}
		if err := hook.Check(at); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(a.Webhooks, func(h Webhook) bool { return h.ID == hook.ID }) {
			return nil, &jsonobject.Fault{Field: at + "id", Limit: "be there once", Got: strconv.Quote(hook.ID) + " twice"}
		}
		secret, err := webhookSecret(at+"secret", one.Secret)
		if err != nil {
			return nil, err
		}
		if was := slices.IndexFunc(before, func(h Webhook) bool { return h.ID == hook.ID }); was >= 0 {
			hook.follow(&before[was], secret != "" && !before[was].signsWith(appID, secret, vault), now)
		}
		if secret == "" && hook.Sealed == "" && notice.Format(hook.Format).NeedsSecret() {
			secret = NewWebhookSecret()
			shown = append(shown, Shown{ID: hook.ID, Secret: secret})
		}
		if secret != "" {
			hook.SetSecret(appID, secret, vault)
		}
		a.Webhooks = append(a.Webhooks, hook)
	}
	return shown, nil
}

// RotationLifetime is how long the secret before signs beside a new one.
const RotationLifetime = 24 * time.Hour

// follow takes over what a webhook of this id had. A secret that is replaced signs for a while.
func (w *Webhook) follow(before *Webhook, replaced bool, now time.Time) {
	w.CreatedAt, w.Sealed, w.Previous, w.PreviousUntil = before.CreatedAt, before.Sealed, before.Previous, before.PreviousUntil
	if replaced {
		w.Previous, w.PreviousUntil = before.Sealed, now.UTC().Truncate(time.Millisecond).Add(RotationLifetime)
	}
}

// SetPrevious seals the secret that signs too, of a webhook that has its id.
func (w *Webhook) SetPrevious(appID, secret string, vault Sealer) {
	w.Previous = vault.Seal(webhookPurpose(appID, w.ID), []byte(secret))
}

// Secrets returns the secrets that sign at a time, the newest first, without those that cannot be
// opened.
func (w *Webhook) Secrets(appID string, vault Sealer, now time.Time) (secrets []string) {
	sealed := []string{w.Sealed}
	if w.Previous != "" && (w.PreviousUntil.IsZero() || now.Before(w.PreviousUntil)) {
		sealed = append(sealed, w.Previous)
	}
	for _, text := range sealed {
		if secret, _, err := vault.Open(webhookPurpose(appID, w.ID), text); err == nil {
			secrets = append(secrets, string(secret))
		}
	}
	return secrets
}

// webhookSecret returns a secret that signs webhooks; empty where none was chosen.
func webhookSecret(name string, secret *string) (string, error) {
	text, err := chosenSecret(name, secret)
	if err != nil {
		return "", err
	}
	if err := CheckWebhookSecret(text); err != nil {
		return "", &jsonobject.Fault{Field: name, Limit: err.Error(), Got: fmt.Sprintf("a string of %d bytes", len(text))}
	}
	return text, nil
}

// webhookSecretPrefix begins the secrets of Standard Webhooks; Base64 follows.
const webhookSecretPrefix = "whsec_"

// CheckWebhookSecret reports what a secret that signs webhooks must do and does not.
func CheckWebhookSecret(secret string) error {
	text, prefixed := strings.CutPrefix(secret, webhookSecretPrefix)
	if !prefixed {
		return nil
	}
	if key, err := base64.StdEncoding.DecodeString(text); err != nil || len(key) < minWebhookKeyBytes {
		return limitError(fmt.Sprintf("have Base64 of at least %d bytes after %s", minWebhookKeyBytes, webhookSecretPrefix))
	}
	return nil
}

// minWebhookKeyBytes is the least that Standard Webhooks recommends.
const minWebhookKeyBytes = 24

// NewWebhookSecret makes a secret as Standard Webhooks has it, of 32 random bytes.
func NewWebhookSecret() string {
	b := make([]byte, 32)
	rand.Read(b)
	return webhookSecretPrefix + base64.StdEncoding.EncodeToString(b)
}

// SetSecret seals the secret of a webhook, which must have its id.
func (w *Webhook) SetSecret(appID, secret string, vault Sealer) {
	w.Sealed = vault.Seal(webhookPurpose(appID, w.ID), []byte(secret))
}

// IdentifierLimit is what ValidIdentifier requires, in words.
var IdentifierLimit = fmt.Sprintf("have 1 to %d of the characters A-Z a-z 0-9 - _ . ~ :, and not be . or ..", MaxCredentialIDBytes)

// ValidIdentifier reports whether a text may be the ID of a credential or a webhook, which go into paths and logs.
func ValidIdentifier(id string) bool {
	return identifier.MatchString(id) && id != "." && id != ".."
}

var identifier = regexp.MustCompile(fmt.Sprintf(`^[-A-Za-z0-9_.~:]{1,%d}$`, MaxCredentialIDBytes))

// limitError says what something must do.
type limitError string

// Error implements error.
func (e limitError) Error() string { return string(e) }

// CheckWebhookURL reports what a webhook's URL must do and does not. Plain HTTP would tell
// the network what is sent.
func CheckWebhookURL(text string) error {
	if len(text) == 0 || len(text) > MaxURLBytes {
		return limitError(fmt.Sprintf("have 1 to %d bytes (got %d)", MaxURLBytes, len(text)))
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.ContainsFunc(text, unicode.IsControl):
		return limitError("be a URL, such as https://hooks.example.org/qos: it cannot be parsed")
	case u.Scheme != "https" && u.Scheme != "http":
		return limitError("begin with https://: it has " + schemeOf(u))
	case u.Hostname() == "":
		return limitError("have a host after " + u.Scheme + "://")
	case u.Port() != "" && !validPort(u.Port()):
		return limitError("have a port from 1 to 65535")
	case u.User != nil || u.Fragment != "":
		return limitError("have no user, password or fragment")
	case u.Scheme == "http" && !loopback.Host(u.Hostname()):
		return limitError("begin with https://: http goes to loopback only")
	}
	return nil
}

func validPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

// schemeOf names the scheme of a URL that has a wrong one. A longer word may be a secret.
func schemeOf(u *url.URL) string {
	const longest = 16
	switch {
	case u.Scheme == "":
		return "no scheme"
	case len(u.Scheme) > longest:
		return "another scheme"
	}
	return "the scheme " + u.Scheme
}

// chosenSecret returns a secret that somebody chose; its bytes are those of the text. It is empty where none was.
func chosenSecret(name string, secret *string) (string, error) {
	if secret == nil {
		return "", nil
	}
	return *secret, checkLength(name, *secret, MinSecretBytes, MaxSecretBytes)
}

// checkLength reports a text that has not from least to most bytes.
func checkLength(name, text string, least, most int) error {
	limit := fmt.Sprintf("have at most %d bytes", most)
	if least > 0 {
		limit = fmt.Sprintf("have %d to %d bytes", least, most)
	}
	if n := len(text); n < least || n > most {
		return &jsonobject.Fault{Field: name, Limit: limit, Got: strconv.Itoa(n)}
	}
	return nil
}

// NewSecret makes a secret: 32 random bytes in base64url.
func NewSecret() string {
	b := make([]byte, 32)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// newID names a credential.
func newID() string {
	b := make([]byte, 8)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// The purposes for which secrets are sealed name all that they belong to, so that none can
// be moved. AppIDs have no control characters, or come from the operator.
func keyPurpose(appID, keyID string) string { return "key\x00" + appID + "\x00" + keyID }

func webhookPurpose(appID, hookID string) string { return "webhook\x00" + appID + "\x00" + hookID }
