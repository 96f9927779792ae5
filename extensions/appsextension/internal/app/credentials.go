package app

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/jsonobject"
)

// ErrNoCredential says that an app has no secret or key of an id.
var ErrNoCredential = errors.New("the app has no such credential")

// AddSecret makes a secret. The body may have notAfter, when it ends, and othersNotAfter,
// when all others end that would last longer: so the next secret follows without a gap.
func (a *App) AddSecret(raw []byte, now time.Time) (Shown, error) {
	o := body(raw, "notAfter", "othersNotAfter")
	secret := Secret{ID: newID(), CreatedAt: now.UTC().Truncate(time.Millisecond), NotAfter: o.Time("notAfter")}
	others := o.Time("othersNotAfter")
	if !secret.NotAfter.IsZero() && !secret.NotAfter.After(now) {
		o.Refuse("notAfter", "lie in the future", secret.NotAfter.Format(time.RFC3339))
	}
	if err := o.Fault(); err != nil {
		return Shown{}, err
	}
	left := slices.DeleteFunc(slices.Clone(a.Secrets), func(s Secret) bool { return s.ended(now) })
	if len(left) >= MaxSecrets {
		return Shown{}, &jsonobject.Fault{Field: "secrets", Limit: fmt.Sprintf("have at most %d entries: delete one", MaxSecrets), Got: strconv.Itoa(len(left) + 1)}
	}
	for i := range left {
		if end := left[i].NotAfter; !others.IsZero() && (end.IsZero() || end.After(others)) {
			left[i].NotAfter = others
		}
	}
	text := NewSecret()
	verifier := auth.NewVerifier(text, a.Salt, a.Iterations)
	secret.StoredKey, secret.ServerKey = verifier.StoredKey, verifier.ServerKey
	left = append(left, secret)
	a.Secrets = left
	return Shown{ID: secret.ID, Secret: text}, nil
}

// ended reports whether a secret is not good any more.
func (s *Secret) ended(now time.Time) bool { return !s.NotAfter.IsZero() && !now.Before(s.NotAfter) }

// ChangeSecret takes notAfter of a body: when the secret ends; absent: never.
func (a *App) ChangeSecret(id string, raw []byte) error {
	o := body(raw, "notAfter")
	notAfter := o.Time("notAfter")
	if err := o.Fault(); err != nil {
		return err
	}
	i := slices.IndexFunc(a.Secrets, func(s Secret) bool { return s.ID == id })
	if i < 0 {
		return ErrNoCredential
	}
	a.Secrets = slices.Clone(a.Secrets)
	a.Secrets[i].NotAfter = notAfter
	return nil
}

// DeleteSecret takes a secret away.
func (a *App) DeleteSecret(id string) error {
	left := slices.DeleteFunc(slices.Clone(a.Secrets), func(s Secret) bool { return s.ID == id })
	if len(left) == len(a.Secrets) {
		return ErrNoCredential
	}
	a.Secrets = left
	return nil
}

// AddKey registers a verification key. The body has algorithm; for ES256 publicKey, PEM or
// a JWK; for HS256 secret, or none: then one is made and returned. keyID is that of the
// JWK, or the key's thumbprint (RFC 7638), or made, where the body has none.
func (a *App) AddKey(appID string, raw []byte, vault Sealer, now time.Time) (Shown, error) {
	o := body(raw, "keyID", "algorithm", "publicKey", "secret", "disabled")
	key := Key{CreatedAt: now.UTC().Truncate(time.Millisecond), Disabled: o.Boolean("disabled")}
	if key.Algorithm = o.oneOf("algorithm", auth.AlgorithmES256, auth.AlgorithmHS256); key.Algorithm == "" {
		o.Refuse("algorithm", "be one of ES256, HS256", jsonobject.KindOf(o.Members["algorithm"]))
	}
	if _, named := o.Members["keyID"]; named {
		key.ID = o.identifier("keyID")
	}
	var shown Shown
	if o.Fault() == nil && key.Algorithm == auth.AlgorithmES256 {
		o.publicKey(&key)
	} else if o.Fault() == nil {
		shown = o.sharedKey(&key, appID, vault)
	}
	switch {
	case o.Fault() != nil:
	case slices.ContainsFunc(a.Keys, func(k Key) bool { return k.ID == key.ID }):
		o.Refuse("keyID", "be another one: the app has a key of this id", strconv.Quote(key.ID))
	case len(a.Keys) >= MaxKeys:
		o.Refuse("keys", fmt.Sprintf("have at most %d entries: delete one", MaxKeys), strconv.Itoa(len(a.Keys)+1))
	}
	if err := o.Fault(); err != nil {
		return Shown{}, err
	}
	a.Keys = append(slices.Clone(a.Keys), key)
	return Shown{ID: key.ID, Secret: shown.Secret}, nil
}

// publicKey reads the key of ES256.
func (o object) publicKey(key *Key) {
	if _, there := o.Members["secret"]; there {
		o.Refuse("secret", "be left out: an ES256 key has none", jsonobject.KindOf(o.Members["secret"]))
		return
	}
	public, kid, err := ParsePublicKey(o.Members["publicKey"])
	if err != nil {
		o.Refuse("publicKey", err.Error(), jsonobject.KindOf(o.Members["publicKey"]))
		return
	}
	if err := key.SetPublic(public, kid); err != nil {
		o.Refuse("keyID", err.Error(), "the kid of a JWK")
	}
}

// ParsePublicKey reads a public key from a JSON string with PEM or a JSON object that is a
// JWK; id is the JWK's.
func ParsePublicKey(raw json.RawMessage) (public *ecdsa.PublicKey, id string, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		public, err = ParsePEM(text)
		return public, "", err
	}
	if len(raw) == 0 || raw[0] != '{' {
		return nil, "", errPEMOrJWK
	}
	return ParseJWK(raw)
}

var errPEMOrJWK = errors.New("be a string with a public key in PEM, or a JWK")

// SetPublic gives a key its public key; one that has no id gets id, or the thumbprint.
func (k *Key) SetPublic(public *ecdsa.PublicKey, id string) (err error) {
	if k.PublicKey, err = x509.MarshalPKIXPublicKey(public); err != nil {
		return err
	}
	if k.ID == "" {
		k.ID = id
	}
	if k.ID == "" {
		k.ID, err = thumbprint(public)
	}
	if err == nil && !ValidIdentifier(k.ID) {
		err = limitError(IdentifierLimit)
	}
	return err
}

// sharedKey reads the secret of HS256, or makes one.
func (o object) sharedKey(key *Key, appID string, vault Sealer) (shown Shown) {
	if _, there := o.Members["publicKey"]; there {
		o.Refuse("publicKey", "be left out: an HS256 key has a secret", jsonobject.KindOf(o.Members["publicKey"]))
		return shown
	}
	secret := o.secret("secret")
	if o.Fault() != nil {
		return shown
	}
	if key.ID == "" {
		key.ID = newID()
	}
	if secret == "" {
		secret = NewSecret()
		shown.Secret = secret
	}
	key.SetShared(appID, secret, vault)
	return shown
}

// SetShared seals the secret of an HS256 key, which must have its id.
func (k *Key) SetShared(appID, secret string, vault Sealer) {
	k.Sealed = vault.Seal(keyPurpose(appID, k.ID), []byte(secret))
}

// ChangeKey takes disabled of a body.
func (a *App) ChangeKey(id string, raw []byte) error {
	o := body(raw, "disabled")
	disabled := o.Boolean("disabled")
	if err := o.Fault(); err != nil {
		return err
	}
	i := slices.IndexFunc(a.Keys, func(k Key) bool { return k.ID == id })
	if i < 0 {
		return ErrNoCredential
	}
	a.Keys = slices.Clone(a.Keys)
	a.Keys[i].Disabled = disabled
	return nil
}

// DeleteKey takes a key away.
func (a *App) DeleteKey(id string) error {
	left := slices.DeleteFunc(slices.Clone(a.Keys), func(k Key) bool { return k.ID == id })
	if len(left) == len(a.Keys) {
		return ErrNoCredential
	}
	a.Keys = left
	return nil
}
