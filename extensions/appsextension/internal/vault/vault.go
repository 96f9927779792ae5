// Package vault seals secrets that are kept in the store with keys of the installation,
// so that a copy of the store alone gives none away.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// info tells the vault's keys from all others that follow from a master key.
const info = "qos 1 vault"

// ErrSeal says that a text was sealed by another installation or for another purpose, or
// was changed.
var ErrSeal = errors.New("the seal is broken, or the key that made it is gone")

// Vault seals with the newest master key and opens with any.
type Vault struct {
	seals []cipher.AEAD // newest first
}

// New returns the vault of master keys, newest first.
func New(masters ...[]byte) (*Vault, error) {
	v := &Vault{}
	for _, master := range masters {
		key, err := hkdf.Key(sha256.New, master, nil, info, sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("derive the vault's key: %w", err)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("vault: %w", err)
		}
		seal, err := cipher.NewGCM(block) // random nonces are good for 2^32 secrets
		if err != nil {
			return nil, fmt.Errorf("vault: %w", err)
		}
		v.seals = append(v.seals, seal)
	}
	if len(v.seals) == 0 {
		return nil, errors.New("vault: there is no key")
	}
	return v, nil
}

// Seal encrypts a secret for one purpose, which names all that it belongs to.
func (v *Vault) Seal(purpose string, secret []byte) string {
	seal := v.seals[0]
	sealed := make([]byte, seal.NonceSize(), seal.NonceSize()+len(secret)+seal.Overhead())
	rand.Read(sealed)
	return base64.RawURLEncoding.EncodeToString(seal.Seal(sealed, sealed, secret, []byte(purpose)))
}

// Open decrypts what Seal made for the same purpose, and tells whether that was with the
// newest key.
func (v *Vault) Open(purpose, sealed string) (secret []byte, newest bool, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return nil, false, ErrSeal
	}
	for i, seal := range v.seals {
		n := seal.NonceSize()
		if len(raw) < n {
			break
		}
		if secret, err := seal.Open(nil, raw[:n], raw[n:], []byte(purpose)); err == nil {
			return secret, i == 0, nil
		}
	}
	return nil, false, ErrSeal
}
