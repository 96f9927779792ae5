package app

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// ErrNoCredential says that an app has no secret or key of an id.
var ErrNoCredential = errors.New("the app has no such credential")

// AddSecret makes a secret. The body may have notAfter, when it ends, and othersNotAfter,
// when all others end that would last longer: so the next secret follows without a gap.
func (a *App) AddSecret(raw []byte, now time.Time) (Shown, error) {
	var in struct {
		NotAfter       time.Time `json:"notAfter"`
		OthersNotAfter time.Time `json:"othersNotAfter"`
	}
	if err := jsonobject.Decode(raw, &in); err != nil {
		return Shown{}, err
	}
	secret := Secret{SecretView: SecretView{ID: newID(), CreatedAt: now.UTC().Truncate(time.Millisecond), NotAfter: in.NotAfter}}
	if secret.ended(now) {
		return Shown{}, &jsonobject.Fault{Field: "notAfter", Limit: "lie in the future", Got: in.NotAfter.Format(time.RFC3339)}
	}
	left := slices.DeleteFunc(slices.Clone(a.Secrets), func(s Secret) bool { return s.ended(now) })
	if len(left) >= MaxSecrets {
		return Shown{}, &jsonobject.Fault{Field: "secrets", Limit: fmt.Sprintf("have at most %d entries: delete one", MaxSecrets), Got: strconv.Itoa(len(left) + 1)}
	}
	for i := range left {
		if end := left[i].NotAfter; !in.OthersNotAfter.IsZero() && (end.IsZero() || end.After(in.OthersNotAfter)) {
			left[i].NotAfter = in.OthersNotAfter
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
	var in struct {
		NotAfter time.Time `json:"notAfter"`
	}
	if err := jsonobject.Decode(raw, &in); err != nil {
		return err
	}
	i := slices.IndexFunc(a.Secrets, func(s Secret) bool { return s.ID == id })
	if i < 0 {
		return ErrNoCredential
	}
	a.Secrets = slices.Clone(a.Secrets)
	a.Secrets[i].NotAfter = in.NotAfter
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
	var in wantedKey
	if err := jsonobject.Decode(raw, &in); err != nil {
		return Shown{}, err
	}
	key, shown, err := in.key(appID, vault)
	key.CreatedAt = now.UTC().Truncate(time.Millisecond)
	switch {
	case err != nil:
		return Shown{}, err
	case slices.ContainsFunc(a.Keys, func(k Key) bool { return k.ID == key.ID }):
		return Shown{}, &jsonobject.Fault{Field: "keyID", Limit: "be another one: the app has a key of this id", Got: strconv.Quote(key.ID)}
	case len(a.Keys) >= MaxKeys:
		return Shown{}, &jsonobject.Fault{Field: "keys", Limit: fmt.Sprintf("have at most %d entries: delete one", MaxKeys), Got: strconv.Itoa(len(a.Keys) + 1)}
	}
	a.Keys = append(slices.Clone(a.Keys), key)
	return Shown{ID: key.ID, Secret: shown}, nil
}

// wantedKey is the body of a request that registers a key.
type wantedKey struct {
	ID        *string         `json:"keyID"`
	Algorithm string          `json:"algorithm"`
	PublicKey json.RawMessage `json:"publicKey"`
	Secret    *string         `json:"secret"`
	Disabled  bool            `json:"disabled"`
}

// key returns the key, and its secret if that was made.
func (in *wantedKey) key(appID string, vault Sealer) (key Key, shown string, err error) {
	key.Algorithm, key.Disabled = in.Algorithm, in.Disabled
	if in.ID != nil {
		if key.ID = *in.ID; !ValidIdentifier(key.ID) {
			return key, "", &jsonobject.Fault{Field: "keyID", Limit: IdentifierLimit, Got: strconv.Quote(jsonobject.Clip(key.ID))}
		}
	}
	switch in.Algorithm {
	case auth.AlgorithmES256:
		return key, "", in.public(&key)
	case auth.AlgorithmHS256:
		shown, err = in.shared(&key, appID, vault)
		return key, shown, err
	}
	return key, "", &jsonobject.Fault{Field: "algorithm", Limit: "be one of ES256, HS256", Got: strconv.Quote(jsonobject.Clip(in.Algorithm))}
}

// public reads the key of ES256.
func (in *wantedKey) public(key *Key) error {
	if in.Secret != nil {
		return &jsonobject.Fault{Field: "secret", Limit: "be left out: an ES256 key has none", Got: "a secret"}
	}
	public, kid, err := ParsePublicKey(in.PublicKey)
	if err != nil {
		return &jsonobject.Fault{Field: "publicKey", Limit: err.Error(), Got: jsonobject.KindOf(in.PublicKey)}
	}
	if err := key.SetPublic(public, kid); err != nil {
		return &jsonobject.Fault{Field: "keyID", Limit: err.Error(), Got: "the kid of a JWK"}
	}
	return nil
}

// shared reads the secret of HS256, or makes and returns one.
func (in *wantedKey) shared(key *Key, appID string, vault Sealer) (shown string, err error) {
	if len(in.PublicKey) > 0 {
		return "", &jsonobject.Fault{Field: "publicKey", Limit: "be left out: an HS256 key has a secret", Got: jsonobject.KindOf(in.PublicKey)}
	}
	secret, err := chosenSecret("secret", in.Secret)
	if err != nil {
		return "", err
	}
	if key.ID == "" {
		key.ID = newID()
	}
	if secret == "" {
		secret = NewSecret()
		shown = secret
	}
	key.SetShared(appID, secret, vault)
	return shown, nil
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
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return err
	}
	k.PublicKey = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
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

// SetShared seals the secret of an HS256 key, which must have its id.
func (k *Key) SetShared(appID, secret string, vault Sealer) {
	k.Sealed = vault.Seal(keyPurpose(appID, k.ID), []byte(secret))
}

// ChangeKey takes disabled of a body.
func (a *App) ChangeKey(id string, raw []byte) error {
	var in struct {
		Disabled bool `json:"disabled"`
	}
	if err := jsonobject.Decode(raw, &in); err != nil {
		return err
	}
	i := slices.IndexFunc(a.Keys, func(k Key) bool { return k.ID == id })
	if i < 0 {
		return ErrNoCredential
	}
	a.Keys = slices.Clone(a.Keys)
	a.Keys[i].Disabled = in.Disabled
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
