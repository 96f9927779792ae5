package who

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/config"
)

const (
	minSecretBytes = 16
	maxSecretFile  = 4 << 10
)

// Errors of the login source header: the origin server is configured wrongly, or the request
// is from another client.
var (
	errSecret = errors.New("the header with the shared secret is missing or wrong")
	errTwice  = errors.New("the header that names the user occurs more than once")
)

// Header believes a header that the origin server, or a proxy that has asked it, sets. The
// shared secret tells that it is them.
type Header struct {
	config  config.Header
	secrets [][sha256.Size]byte
}

// NewHeader reads the secret file.
func NewHeader(c config.Header, permitted os.FileMode) (*Header, error) {
	f, err := os.Open(c.SecretFile)
	if err != nil {
		return nil, fmt.Errorf("header.secret_file: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("header.secret_file: %w", err)
	}
	if others := info.Mode().Perm() & 0o077 &^ permitted; others != 0 {
		return nil, fmt.Errorf("header.secret_file: %s has mode %#o: others may use it; chmod 600, or see keys.permissions", c.SecretFile, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSecretFile))
	if err != nil {
		return nil, fmt.Errorf("header.secret_file: %w", err)
	}
	h := &Header{config: c}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if len(line) < minSecretBytes {
			return nil, fmt.Errorf("header.secret_file: a secret has %d bytes or more", minSecretBytes)
		}
		h.secrets = append(h.secrets, sha256.Sum256(line))
	}
	if len(h.secrets) == 0 {
		return nil, errors.New("header.secret_file: the file is empty")
	}
	return h, nil
}

// Who is an agent.Who.
func (h *Header) Who(r *http.Request) (agent.User, error) {
	if !h.trusted(r) {
		return agent.User{}, errSecret
	}
	name, err := h.name(r, h.config.User)
	if err != nil {
		return agent.User{}, err
	}
	if name == "" {
		return agent.User{}, agent.ErrNotLoggedIn
	}
	alias := ""
	if h.config.Alias != "" {
		alias, err = h.name(r, h.config.Alias)
	}
	return agent.User{Name: name, Alias: alias}, err
}

// trusted compares digests, so that neither content nor length shows in the time it takes.
func (h *Header) trusted(r *http.Request) bool {
	given := sha256.Sum256([]byte(r.Header.Get(h.config.Secret)))
	found := 0
	for _, secret := range h.secrets {
		found |= subtle.ConstantTimeCompare(given[:], secret[:])
	}
	return found == 1 && len(r.Header.Values(h.config.Secret)) == 1
}

// name reads one header. A second of the same name would be somebody's who got past the
// proxy.
func (h *Header) name(r *http.Request, header string) (string, error) {
	values := r.Header.Values(header)
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", errTwice
	}
	if !h.config.PercentEncoded {
		return strings.TrimSpace(values[0]), nil
	}
	name, err := url.PathUnescape(values[0])
	if err != nil {
		return "", errors.New("the header that names the user is not percent-encoded")
	}
	return name, nil
}
