package auth

import (
	"bytes"
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

// Keys are the secrets of one installation, all derived from its master keys. Collectors
// behind one address must share them.
//
// Master keys roll: the newest seals and signs, all of them open and verify. To roll, add
// the new key after the others everywhere, then put it first everywhere, and take the old
// one away when what it signed is over: tokens live two hours, sessions as long as a page.
//
// Salts do not roll: a verifier is good with the salt that it was made with and no other.
// They follow a key of their own, see SaltKey.
type Keys struct {
	all  []keySet // newest first
	salt []byte
}

// keySet is what follows from one master key.
type keySet struct {
	seal                 cipher.AEAD
	token, session, salt []byte
}

// NewKeys derives the keys from master keys, newest first, of at least MinKeyBytes each.
// Salts follow the oldest.
func NewKeys(masters ...[]byte) (*Keys, error) {
	if len(masters) == 0 {
		return nil, errors.New("there is no key")
	}
	keys := &Keys{}
	for _, master := range masters {
		set, err := newKeySet(master)
		if err != nil {
			return nil, err
		}
		keys.all, keys.salt = append(keys.all, set), set.salt
	}
	return keys, nil
}

func newKeySet(master []byte) (keySet, error) {
	if len(master) < MinKeyBytes {
		return keySet{}, fmt.Errorf("the key has %d bytes, at least %d are needed", len(master), MinKeyBytes)
	}
	derived := make(map[string][]byte)
	for _, purpose := range []string{"seal", "token", "session", "salt"} {
		key, err := hkdf.Key(sha256.New, master, nil, "qos 1 "+purpose, sha256.Size)
		if err != nil {
			return keySet{}, fmt.Errorf("derive the %s key: %w", purpose, err)
		}
		derived[purpose] = key
	}
	block, err := aes.NewCipher(derived["seal"])
	if err != nil {
		return keySet{}, fmt.Errorf("seal key: %w", err)
	}
	// Random 96-bit nonces are good for 2^32 handshakes under one master key.
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return keySet{}, fmt.Errorf("seal key: %w", err)
	}
	return keySet{seal: seal, token: derived["token"], session: derived["session"], salt: derived["salt"]}, nil
}

// newest returns the keys that seal and sign.
func (k *Keys) newest() *keySet { return &k.all[0] }

// Salt returns the SCRAM salt of an AppID, whether or not there is such an app.
func (k *Keys) Salt(appID string) []byte { return mac(k.salt, appID)[:saltBytes] }

// SaltKey is the key that salts follow. Who keeps verifiers across a roll of the master
// keys keeps it with them, and starts from WithSaltKey: else the salt of an unknown app
// would change with the roll and that of a kept one would not, which tells the two apart.
// It guards no secret but that.
func (k *Keys) SaltKey() []byte { return bytes.Clone(k.salt) }

// WithSaltKey returns the same keys with salts that follow another key.
func (k *Keys) WithSaltKey(key []byte) *Keys { return &Keys{all: k.all, salt: bytes.Clone(key)} }

// errSeal says no more than it has to: the sender may have made the text up.
var errSeal = errors.New("the seal is broken")

// sealText encrypts text for one purpose.
func (k *Keys) sealText(purpose string, text []byte) string {
	seal := k.newest().seal
	sealed := make([]byte, seal.NonceSize(), seal.NonceSize()+len(text)+seal.Overhead())
	rand.Read(sealed)
	return base64.RawURLEncoding.EncodeToString(seal.Seal(sealed, sealed, text, []byte(purpose)))
}

// openText decrypts what sealText made for the same purpose.
func (k *Keys) openText(purpose, sealed string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(raw) < k.newest().seal.NonceSize() {
		return nil, errSeal
	}
	for i := range k.all {
		seal := k.all[i].seal
		text, err := seal.Open(nil, raw[:seal.NonceSize()], raw[seal.NonceSize():], []byte(purpose))
		if err == nil {
			return text, nil
		}
	}
	return nil, errSeal
}
