package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// maxKeyBytes bounds a public key, as PEM or as JWK.
const maxKeyBytes = 4 << 10

// Errors of public keys. They are safe to be shown.
var (
	errPrivate = errors.New("be a public key; this is a private one: it should not have left its owner, make another pair")
	errNotP256 = errors.New("be a public key on the curve P-256")
	errPEM     = errors.New("be one PEM block PUBLIC KEY and nothing else")
	errJWK     = errors.New("be a JWK of the type EC on P-256, with x and y")
	errJWKUse  = errors.New("be a JWK that is to verify by ES256 (use, key_ops, alg)")
	errTooLong = fmt.Errorf("have at most %d bytes", maxKeyBytes)
)

// ParsePEM reads a public key for ES256 from PEM. Its errors say what it must be.
func ParsePEM(text string) (*ecdsa.PublicKey, error) {
	if len(text) > maxKeyBytes {
		return nil, errTooLong
	}
	block, rest := pem.Decode([]byte(strings.TrimSpace(text)))
	switch {
	case block == nil || len(strings.TrimSpace(string(rest))) > 0:
		return nil, errPEM
	case strings.Contains(block.Type, "PRIVATE"):
		return nil, errPrivate
	case block.Type != "PUBLIC KEY":
		return nil, errPEM
	}
	return parseDER(block.Bytes)
}

func parseDER(der []byte) (*ecdsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, errPEM
	}
	public, ok := parsed.(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return nil, errNotP256
	}
	return public, nil
}

// jwk is what is read of a JSON Web Key (RFC 7517, RFC 7518).
type jwk struct {
	kty, crv, x, y, kid, alg, use string

	operations []string
	private    bool // it has d or k
}

// readJWK reads the members of a JWK, whose names are case-sensitive.
func readJWK(text []byte) (key jwk, err error) {
	members, err := jsonobject.Members(text)
	if err != nil {
		return jwk{}, errJWK
	}
	for name, into := range map[string]any{
		"kty": &key.kty, "crv": &key.crv, "x": &key.x, "y": &key.y, "kid": &key.kid, "alg": &key.alg, "use": &key.use, "key_ops": &key.operations,
	} {
		if raw, there := members[name]; there && json.Unmarshal(raw, into) != nil {
			return jwk{}, errJWK
		}
	}
	for _, name := range []string{"d", "k"} {
		raw, there := members[name]
		key.private = key.private || there && string(raw) != "null"
	}
	return key, nil
}

// ParseJWK reads a public key for ES256 from a JWK, and its kid, which may be empty. As
// RFC 7517 demands, members that it does not know are ignored: no URL is followed.
func ParseJWK(text []byte) (public *ecdsa.PublicKey, id string, err error) {
	if len(text) > maxKeyBytes {
		return nil, "", errTooLong
	}
	key, err := readJWK(text)
	if err != nil {
		return nil, "", err
	}
	if key.private {
		return nil, "", errPrivate
	}
	if key.kty != "EC" || key.crv != "P-256" {
		return nil, "", errJWK
	}
	if !key.verifies() {
		return nil, "", errJWKUse
	}
	public, err = key.point()
	return public, key.kid, err
}

func (k *jwk) verifies() bool {
	if (k.use != "" && k.use != "sig") || (k.alg != "" && k.alg != auth.AlgorithmES256) {
		return false
	}
	for _, operation := range k.operations {
		if operation != "verify" {
			return false
		}
	}
	return true
}

// point refuses what is not on the curve.
func (k *jwk) point() (*ecdsa.PublicKey, error) {
	const uncompressed, size = 4, 32
	point := []byte{uncompressed}
	for _, text := range []string{k.x, k.y} {
		coordinate, err := base64.RawURLEncoding.Strict().DecodeString(text)
		if err != nil || len(coordinate) != size {
			return nil, errJWK
		}
		point = append(point, coordinate...)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil, errNotP256
	}
	return public, nil
}

// thumbprint names a public key (RFC 7638).
func thumbprint(public *ecdsa.PublicKey) (string, error) {
	point, err := public.Bytes()
	if err != nil {
		return "", err
	}
	half := (len(point) - 1) / 2
	encode := base64.RawURLEncoding.EncodeToString
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}`, encode(point[1:1+half]), encode(point[1+half:])))
	return encode(sum[:]), nil
}

// ParseKeyText reads a public key for ES256 from PEM or a JWK, whichever the text is, and
// the JWK's kid.
func ParseKeyText(text string) (public *ecdsa.PublicKey, id string, err error) {
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") {
		return ParseJWK([]byte(text))
	}
	public, err = ParsePEM(text)
	return public, "", err
}
