package agent

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ParseKey reads a key file. For ES256 it is one PEM block, SEC1 ("EC PRIVATE KEY") or PKCS#8
// ("PRIVATE KEY"). A line "keyID: …" before the block gives the id, for a registry that chose
// its own; without it the key has its thumbprint. RFC 7468 allows text there, so that other
// programs read the file too. For HS256 it is the lines "keyID: …" and "secret: …"; the
// characters of that line are the secret, as they are registered.
func ParseKey(text []byte) (*Key, error) {
	before, _, isPEM := bytes.Cut(text, []byte("-----BEGIN "))
	id, err := line(before, "keyID")
	if err != nil {
		return nil, err
	}
	secret, err := line(before, "secret")
	if err != nil {
		return nil, err
	}
	if secret != "" {
		return parseSecret(id, secret, isPEM)
	}
	block, err := keyBlock(text)
	if err != nil {
		return nil, err
	}
	private, err := parsePrivate(block)
	if err != nil {
		return nil, err
	}
	return NewKey(id, private)
}

func parseSecret(id, secret string, isPEM bool) (*Key, error) {
	switch {
	case isPEM:
		return nil, errors.New("there are a secret and a PEM block, one key is needed")
	case id == "":
		return nil, errors.New("an HS256 secret needs a line \"keyID: …\"")
	}
	return NewSecretKey(id, []byte(secret))
}

// line finds what stands behind a name, or "".
func line(text []byte, wanted string) (string, error) {
	found := ""
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) != wanted {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("there are two lines \"%s: …\"", wanted)
		}
		if found = strings.TrimSpace(value); found == "" {
			return "", fmt.Errorf("the line \"%s: …\" is empty", wanted)
		}
	}
	return found, nil
}

// keyBlock returns the one block that is a key. "EC PARAMETERS", which openssl ecparam
// writes before the key, is passed over.
func keyBlock(text []byte) (*pem.Block, error) {
	var found *pem.Block
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch {
		case block.Type == "EC PARAMETERS":
		case found != nil:
			return nil, errors.New("there are two PEM blocks, one key is needed")
		default:
			found = block
		}
	}
	if found == nil {
		return nil, errors.New("there is no whole PEM block, and no line \"secret: …\"")
	}
	return found, nil
}

func parsePrivate(block *pem.Block) (*ecdsa.PrivateKey, error) {
	switch {
	case block.Type == "EC PRIVATE KEY" && block.Headers["DEK-Info"] == "":
		private, err := x509.ParseECPrivateKey(block.Bytes)
		if err != nil {
			return nil, errors.New("the EC PRIVATE KEY block cannot be read as SEC1")
		}
		return private, nil
	case block.Type == "PRIVATE KEY":
		return parsePKCS8(block.Bytes)
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return nil, errors.New("the key is encrypted; guard the file by its permissions in place of a passphrase")
	case strings.Contains(block.Type, "PUBLIC KEY"):
		return nil, errors.New("this is the public key; the agent signs with the private one")
	default:
		return nil, fmt.Errorf("a PEM block of type %.40q is no key for ES256 or HS256", block.Type)
	}
}

func parsePKCS8(der []byte) (*ecdsa.PrivateKey, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		// The error of the standard library is left out: it may quote what it read.
		return nil, errors.New("the PRIVATE KEY block cannot be read as PKCS#8")
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("ES256 needs an ECDSA key, the PRIVATE KEY block holds %T", key)
	}
	return private, nil
}

// MarshalPrivate returns the text of a key file, with its keyID. An HS256 secret must be
// visible text for it, as GenerateSecretKey makes it.
func (k *Key) MarshalPrivate() ([]byte, error) {
	head := []byte("keyID: " + k.id + "\n")
	if secret, ok := k.private.([]byte); ok {
		if bytes.ContainsFunc(secret, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || !unicode.IsPrint(r) }) {
			return nil, errors.New("the HS256 secret is no visible text, a file cannot hold it")
		}
		return append(append(append(head, "secret: "...), secret...), '\n'), nil
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return nil, fmt.Errorf("write the private key: %w", err)
	}
	return append(head, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...), nil
}

// MarshalPublic returns the public key as PEM (SubjectPublicKeyInfo), which is what gets
// registered; an error for HS256, which has none.
func (k *Key) MarshalPublic() ([]byte, error) {
	public := k.Public()
	if public == nil {
		return nil, errors.New("an HS256 key has no public half")
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("write the public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}
