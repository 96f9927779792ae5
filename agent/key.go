package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"

	"github.com/golang-jwt/jwt/v5"
)

// Algorithm is the JWS algorithm of a key (RFC 7518). The collector takes a key for the one
// algorithm that it was registered with.
type Algorithm string

// The algorithms that a key can be registered with.
const (
	ES256 Algorithm = "ES256" // ECDSA on P-256; the rule
	HS256 Algorithm = "HS256" // a shared secret; where the key is registered so
)

// Key signs tokens. Its fields are hidden, and so is the secret when it is printed.
type Key struct {
	id        string
	algorithm Algorithm
	method    jwt.SigningMethod
	private   any    // *ecdsa.PrivateKey or []byte, as method wants it
	header    string // the JOSE header, encoded once
}

// NewKey returns an ES256 key, which must be on P-256. An empty id means the RFC 7638
// thumbprint of the public key.
func NewKey(id string, private *ecdsa.PrivateKey) (*Key, error) {
	if private == nil || private.Curve != elliptic.P256() {
		return nil, errors.New("ES256 needs a key on the curve P-256")
	}
	if id == "" {
		thumbprint, err := Thumbprint(&private.PublicKey)
		if err != nil {
			return nil, err
		}
		id = thumbprint
	}
	return newKey(id, ES256, jwt.SigningMethodES256, private)
}

// NewSecretKey returns an HS256 key of at least MinSecretBytes. It needs an id: a
// thumbprint would be a hash of the secret (RFC 7638, section 7).
func NewSecretKey(id string, secret []byte) (*Key, error) {
	if len(secret) < MinSecretBytes {
		return nil, fmt.Errorf("an HS256 secret has %d bytes or more, not %d", MinSecretBytes, len(secret))
	}
	return newKey(id, HS256, jwt.SigningMethodHS256, secret)
}

func newKey(id string, algorithm Algorithm, method jwt.SigningMethod, private any) (*Key, error) {
	if err := checkKeyID(id); err != nil {
		return nil, err
	}
	header, err := json.Marshal(map[string]string{"alg": string(algorithm), "kid": id, "typ": "JWT"})
	if err != nil {
		return nil, fmt.Errorf("write the header: %w", err)
	}
	return &Key{id, algorithm, method, private, base64.RawURLEncoding.EncodeToString(header)}, nil
}

func checkKeyID(id string) error {
	if id == "" || len(id) > MaxKeyIDBytes {
		return fmt.Errorf("a keyID has 1 to %d bytes, not %d", MaxKeyIDBytes, len(id))
	}
	for _, r := range id {
		if r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' {
			return errors.New("a keyID consists of visible ASCII characters")
		}
	}
	return nil
}

// GenerateKey makes a new ES256 key.
func GenerateKey() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return NewKey("", private)
}

// GenerateSecretKey makes a new HS256 key with a random id. The secret is text, 32 random
// bytes in base64url: its characters are what both sides sign with, so that it is registered
// as it stands in the file.
func GenerateSecretKey() (*Key, error) {
	random := make([]byte, MinSecretBytes)
	if _, err := rand.Read(random); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	return NewSecretKey(rand.Text(), base64.RawURLEncoding.AppendEncode(nil, random))
}

// ID returns the keyID: the claim that names the key to the collector.
func (k *Key) ID() string { return k.id }

// Algorithm returns what the key must be registered with.
func (k *Key) Algorithm() Algorithm { return k.algorithm }

// Public returns the public key, or nil for HS256.
func (k *Key) Public() *ecdsa.PublicKey {
	if private, ok := k.private.(*ecdsa.PrivateKey); ok {
		return &private.PublicKey
	}
	return nil
}

// Material returns what signatures are checked with: the public key (*ecdsa.PublicKey), or
// for HS256 the secret ([]byte), which must not be shown.
func (k *Key) Material() any {
	if public := k.Public(); public != nil {
		return public
	}
	return k.private
}

// String names the key and hides the secret.
func (k *Key) String() string { return string(k.algorithm) + " key " + k.id }

// GoString is String, so that %#v hides the secret too.
func (k *Key) GoString() string { return k.String() }

// Equal reports whether both keys sign alike under the same id.
func (k *Key) Equal(other *Key) bool {
	if k == nil || other == nil {
		return k == other
	}
	if k.id != other.id || k.algorithm != other.algorithm {
		return false
	}
	if public := k.Public(); public != nil {
		return public.Equal(other.Public())
	}
	mine, _ := k.private.([]byte)
	theirs, _ := other.private.([]byte)
	return sha256.Sum256(mine) == sha256.Sum256(theirs)
}

// Thumbprint returns the RFC 7638 thumbprint of a public key on P-256, in base64url: the
// keyID that both sides can work out from the key alone.
func Thumbprint(public *ecdsa.PublicKey) (string, error) {
	point, err := public.Bytes() // 4, x, y; refuses what is not on the curve
	if err != nil || public.Curve != elliptic.P256() {
		return "", errors.New("the public key is not a point on the curve P-256")
	}
	encode := base64.RawURLEncoding.EncodeToString
	// The members in lexical order, without white space (RFC 7638, 3.2 and 3.3).
	jwk := `{"crv":"P-256","kty":"EC","x":"` + encode(point[1:33]) + `","y":"` + encode(point[33:]) + `"}`
	sum := sha256.Sum256([]byte(jwk))
	return encode(sum[:]), nil
}
