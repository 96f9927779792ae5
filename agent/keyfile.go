package agent

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// secretBlock is the PEM type of an HS256 secret; its bytes are the secret.
const secretBlock = "HS256 SECRET"

// ParseKey reads a key file: one PEM block, SEC1 ("EC PRIVATE KEY"), PKCS#8 ("PRIVATE KEY")
// or "HS256 SECRET". A line "keyID: …" before the block gives the id, for a dashboard that
// chose its own; without it an ES256 key has its thumbprint. RFC 7468 allows text there, so
// that other programs read the file too.
func ParseKey(text []byte) (*Key, error) {
	id, err := keyIDLine(text)
	if err != nil {
		return nil, err
	}
	block, err := keyBlock(text)
	if err != nil {
		return nil, err
	}
	if block.Type == secretBlock {
		if id == "" {
			return nil, errors.New("an HS256 secret needs a line \"keyID: …\" before it")
		}
		return NewSecretKey(id, block.Bytes)
	}
	private, err := parsePrivate(block)
	if err != nil {
		return nil, err
	}
	return NewKey(id, private)
}

// keyIDLine finds the line that names the key in the text before the first block.
func keyIDLine(text []byte) (string, error) {
	before, _, _ := bytes.Cut(text, []byte("-----BEGIN "))
	found := ""
	for line := range strings.Lines(string(before)) {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) != "keyID" {
			continue
		}
		if found != "" {
			return "", errors.New("there are two lines \"keyID: …\"")
		}
		if found = strings.TrimSpace(value); found == "" {
			return "", errors.New("the line \"keyID: …\" names no key")
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
		return nil, errors.New("there is no whole PEM block")
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

// MarshalPrivate returns the text of a key file: PKCS#8 or "HS256 SECRET", with its keyID.
func (k *Key) MarshalPrivate() ([]byte, error) {
	block := &pem.Block{Type: secretBlock}
	switch private := k.private.(type) {
	case []byte:
		block.Bytes = private
	default:
		der, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			return nil, fmt.Errorf("write the private key: %w", err)
		}
		block = &pem.Block{Type: "PRIVATE KEY", Bytes: der}
	}
	return append([]byte("keyID: "+k.id+"\n"), pem.EncodeToMemory(block)...), nil
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
