package app

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/jsonobject"
	"github.com/qosrtc/qos/internal/loopback"
	"github.com/qosrtc/qos/internal/notice"
	"github.com/qosrtc/qos/protocol"
)

// Sealer seals what is kept.
type Sealer interface {
	Seal(purpose string, secret []byte) string
	Open(purpose, sealed string) (secret []byte, newest bool, err error)
}

// Shown is a secret that is returned once, to its maker.
type Shown struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// members of an app that are changed by routes of their own.
var ownRoutes = []string{"secrets", "keys", "revokedBefore", "revokedUsers", "userIDKeys"} //nolint:gochecknoglobals // a constant

// Replace takes the members of a body in place of an app's own; those that are absent go
// back to their defaults. Credentials and revocations stay. privateSuffixes is that of auth.CheckOrigin. It returns
// the secrets that it made for webhooks, and changes nothing where it returns an error.
func (a *App) Replace(id string, raw []byte, vault Sealer, now time.Time, privateSuffixes bool) ([]Shown, error) {
	o := body(raw, "name", "origins", "singleUse", "limits", "statsIntervalMs", "retentionHours", "defaultConfiguration", "webhooks", "webhookRules", "disabled", "userIDs")
	for _, name := range ownRoutes {
		if value, there := o.Members[name]; there {
			return nil, &jsonobject.Fault{Field: name, Limit: "be left out: it has routes of its own", Got: jsonobject.KindOf(value)}
		}
	}
	next := a.Clone()
	next.Name, next.SingleUse, next.Disabled = o.Text("name", MaxNameBytes), o.Boolean("singleUse"), o.Boolean("disabled")
	if err := CheckName(next.Name); err != nil {
		o.Fail(err)
	}
	next.Origins = o.origins("origins", privateSuffixes)
	next.Limits, next.StatsIntervalMs = o.limits("limits"), o.statsInterval("statsIntervalMs")
	next.RetentionHours = o.retention("retentionHours")
	next.DefaultConfiguration = checkDefaults(o, "defaultConfiguration")
	var shown []Shown
	next.Webhooks, shown = o.webhooks(id, a.Webhooks, vault, now)
	if next.WebhookRules = o.webhookRules("webhookRules"); !reflect.DeepEqual(next.WebhookRules, a.WebhookRules) {
		next.WebhookRulesAt = now.UTC().Truncate(time.Millisecond)
	}
	o.setUserIDs(next, id, vault)
	if err := o.Fault(); err != nil {
		return nil, err
	}
	*a = *next
	return shown, nil
}

func (o object) origins(name string, privateSuffixes bool) (out []string) {
	for i, raw := range o.List(name, MaxOrigins) {
		at := fmt.Sprintf("%s[%d]", name, i)
		origin := o.With(at, raw).Text(at, auth.MaxOriginBytes)
		if o.Fault() != nil {
			return nil
		}
		if err := auth.CheckOrigin(origin, privateSuffixes); err != nil {
			o.Refuse(at, originLimit(err), fmt.Sprintf("%q", jsonobject.Clip(origin)))
			return nil
		}
		if !slices.Contains(out, origin) {
			out = append(out, origin)
		}
	}
	return out
}

// originLimit makes a limit of what CheckOrigin says.
func originLimit(err error) string {
	text := err.Error()
	for _, verb := range []string{"must ", "may "} {
		if limit, ok := strings.CutPrefix(text, verb); ok {
			return limit
		}
	}
	return "be an origin, scheme://host:port (it " + text + ")"
}

func (o object) limits(name string) (l auth.Limits) {
	limits, ok := o.object(name, "handshakesPerSecond", "handshakesPerSecondPerAddress", "handshakesPerSecondPerUser", "connections", "framesPerSecond", "dailyMiB")
	if !ok {
		return l
	}
	return auth.Limits{
		HandshakesPerSecond:           limits.Number("handshakesPerSecond"),
		HandshakesPerSecondPerAddress: limits.Number("handshakesPerSecondPerAddress"),
		HandshakesPerSecondPerUser:    limits.Number("handshakesPerSecondPerUser"),
		Connections:                   limits.Count("connections"),
		FramesPerSecond:               limits.Count("framesPerSecond"),
		DailyMiB:                      limits.Count("dailyMiB"),
	}
}

// statsInterval reads an interval in ms; 0 where it is absent.
func (o object) statsInterval(name string) int {
	ms := o.Count(name)
	if !CheckStatsInterval(time.Duration(ms) * time.Millisecond) {
		o.Refuse(name, fmt.Sprintf("be 0 (the receiver's own) or %d to %d", protocol.MinStatsInterval.Milliseconds(), protocol.MaxStatsInterval.Milliseconds()), strconv.Itoa(ms))
		return 0
	}
	return ms
}

// retention reads a time in hours; 0 where it is absent.
func (o object) retention(name string) int {
	hours := o.Count(name)
	if !CheckRetention(hours) {
		o.Refuse(name, fmt.Sprintf("be 0 (the store's own) or 1 to %d", MaxRetentionHours), strconv.Itoa(hours))
		return 0
	}
	return hours
}

// webhooks reads webhooks. One whose id was there before keeps its secret unless another
// comes with it; a new one gets one where its format needs one and none comes with it.
func (o object) webhooks(appID string, before []Webhook, vault Sealer, now time.Time) (out []Webhook, shown []Shown) {
	for i, raw := range o.List("webhooks", MaxWebhooks) {
		entry := o.entry(fmt.Sprintf("webhooks[%d]", i), raw, "id", "url", "secret", "format")
		hook := Webhook{ID: entry.identifier("id"), URL: entry.webhookURL("url"), Format: entry.format("format"), CreatedAt: now.UTC().Truncate(time.Millisecond)}
		if slices.ContainsFunc(out, func(h Webhook) bool { return h.ID == hook.ID }) {
			entry.Refuse("id", "be there once", fmt.Sprintf("%q twice", jsonobject.Clip(hook.ID)))
		}
		secret := entry.webhookSecret("secret")
		if o.Fault() != nil {
			return nil, nil
		}
		if at := slices.IndexFunc(before, func(h Webhook) bool { return h.ID == hook.ID }); at >= 0 {
			hook.follow(&before[at], secret != "" && !before[at].signsWith(appID, secret, vault), now)
		}
		if secret == "" && hook.Sealed == "" && notice.Format(hook.Format).NeedsSecret() {
			secret = NewWebhookSecret()
			shown = append(shown, Shown{ID: hook.ID, Secret: secret})
		}
		if secret != "" {
			hook.SetSecret(appID, secret, vault)
		}
		out = append(out, hook)
	}
	return out, shown
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

// format reads the name of a format.
func (o object) format(name string) string {
	format := o.Text(name, MaxNameBytes)
	if o.Fault() == nil && !notice.ValidFormat(format) {
		o.Refuse(name, "be one of "+strings.Join(notice.Formats, ", "), jsonobject.KindOf(o.Members[name]))
	}
	return format
}

// webhookSecret reads a secret that signs webhooks.
func (o object) webhookSecret(name string) string {
	secret := o.secret(name)
	if o.Fault() == nil && CheckWebhookSecret(secret) != nil {
		o.Refuse(name, CheckWebhookSecret(secret).Error(), jsonobject.KindOf(o.Members[name]))
	}
	return secret
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

// identifier reads a name that goes into paths and logs.
func (o object) identifier(name string) string {
	id := o.Text(name, MaxCredentialIDBytes)
	if o.Fault() == nil && !ValidIdentifier(id) {
		o.Refuse(name, IdentifierLimit, fmt.Sprintf("%q", jsonobject.Clip(id)))
	}
	return id
}

// IdentifierLimit is what ValidIdentifier requires, in words.
var IdentifierLimit = fmt.Sprintf("have 1 to %d of the characters A-Z a-z 0-9 - _ . ~ :, and not be . or ..", MaxCredentialIDBytes) //nolint:gochecknoglobals // a constant

// ValidIdentifier reports whether a text may be the ID of a credential or a webhook, which go into paths and logs.
func ValidIdentifier(id string) bool {
	if id == "" || len(id) > MaxCredentialIDBytes || id == "." || id == ".." {
		return false
	}
	for _, r := range id {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && !strings.ContainsRune("-_.~:", r) {
			return false
		}
	}
	return true
}

// webhookURL reads a URL to which notifications may go. It is not quoted in a fault: its
// path or query may be secret.
func (o object) webhookURL(name string) string {
	text := o.Text(name, MaxURLBytes)
	if o.Fault() == nil && CheckWebhookURL(text) != nil {
		o.Refuse(name, CheckWebhookURL(text).Error(), jsonobject.KindOf(o.Members[name]))
	}
	return text
}

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
	case err != nil || hasControl(text):
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

// secret reads a secret that somebody chose; its bytes are those of the text.
func (o object) secret(name string) string {
	secret := o.Text(name, MaxSecretBytes)
	if _, there := o.Members[name]; there && o.Fault() == nil && len(secret) < MinSecretBytes {
		o.Refuse(name, fmt.Sprintf("have at least %d bytes", MinSecretBytes), fmt.Sprintf("a string of %d bytes", len(secret)))
	}
	return secret
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
