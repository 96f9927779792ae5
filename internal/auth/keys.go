package auth

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

// MinKeyBytes is the length of the shortest master key.
const MinKeyBytes = 32

// saltBytes is the length of an app's salt.
const saltBytes = 16

// Keys are the secrets of one installation, all derived from its master key. Collectors
// behind one address must share the master key.
type Keys struct {
	seal  cipher.AEAD
	token []byte
	salt  []byte
}

// NewKeys derives the keys from a master key of at least MinKeyBytes.
func NewKeys(master []byte) (*Keys, error) {
	if len(master) < MinKeyBytes {
		return nil, fmt.Errorf("the key has %d bytes, at least %d are needed", len(master), MinKeyBytes)
	}
	derived := make(map[string][]byte)
	for _, purpose := range []string{"seal", "token", "salt"} {
		key, err := hkdf.Key(sha256.New, master, nil, "qos 1 "+purpose, sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("derive the %s key: %w", purpose, err)
		}
		derived[purpose] = key
	}
	block, err := aes.NewCipher(derived["seal"])
	if err != nil {
		return nil, fmt.Errorf("seal key: %w", err)
	}
	// Random 96-bit nonces are good for 2^32 handshakes under one master key.
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("seal key: %w", err)
	}
	return &Keys{seal: seal, token: derived["token"], salt: derived["salt"]}, nil
}

// Salt returns the SCRAM salt of an AppID, whether or not there is such an app.
func (k *Keys) Salt(appID string) []byte { return mac(k.salt, appID)[:saltBytes] }

// errSeal says no more than it has to: whoever sent the text may have made it up.
var errSeal = errors.New("the seal is broken")

// sealText encrypts text for one purpose.
func (k *Keys) sealText(purpose string, text []byte) string {
	sealed := make([]byte, k.seal.NonceSize(), k.seal.NonceSize()+len(text)+k.seal.Overhead())
	rand.Read(sealed)
	return base64.RawURLEncoding.EncodeToString(k.seal.Seal(sealed, sealed, text, []byte(purpose)))
}

// openText decrypts what sealText made for the same purpose.
func (k *Keys) openText(purpose, sealed string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(raw) < k.seal.NonceSize() {
		return nil, errSeal
	}
	text, err := k.seal.Open(nil, raw[:k.seal.NonceSize()], raw[k.seal.NonceSize():], []byte(purpose))
	if err != nil {
		return nil, errSeal
	}
	return text, nil
}
