package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
)

// Check reports what is wrong with a key that is to be registered.
func (k VerificationKey) Check() error {
	switch k.Algorithm {
	case AlgorithmES256:
		if k.Public == nil || k.Secret != nil {
			return errors.New("ES256 needs a public key and no secret")
		}
		if k.Public.Curve != elliptic.P256() {
			return errors.New("ES256 needs a key on P-256")
		}
		if _, err := k.Public.ECDH(); err != nil {
			return fmt.Errorf("the public key is no point of P-256: %w", err)
		}
	case AlgorithmHS256:
		if len(k.Secret) < MinKeyBytes || k.Public != nil {
			return fmt.Errorf("HS256 needs a secret of at least %d bytes and no public key", MinKeyBytes)
		}
	default:
		return fmt.Errorf("the algorithm must be %s or %s", AlgorithmES256, AlgorithmHS256)
	}
	return nil
}

// fit reports whether signatures can be checked with the key: a registry may have let
// one in that Check refuses.
func (k VerificationKey) fit() bool {
	if k.Algorithm == AlgorithmHS256 {
		return len(k.Secret) >= MinKeyBytes
	}
	return k.Public != nil && k.Public.Curve == elliptic.P256()
}

// material is what the signature is checked with.
func (k VerificationKey) material() any {
	if k.Algorithm == AlgorithmHS256 {
		return k.Secret
	}
	return k.Public
}

// decoyKeys are nobody's: signatures of keys that are not registered are checked with
// them, so that the time does not tell which are.
type decoyKeys map[string]VerificationKey

func newDecoyKeys() decoyKeys {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(fmt.Sprintf("auth: P-256 is not to be had: %v", err)) // rand.Reader does not fail
	}
	return decoyKeys{
		AlgorithmES256: {Algorithm: AlgorithmES256, Public: &private.PublicKey},
		AlgorithmHS256: {Algorithm: AlgorithmHS256, Secret: randomBytes(MinKeyBytes)},
	}
}
