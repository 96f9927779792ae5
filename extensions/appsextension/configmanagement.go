package appsextension

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/config/confignet"

	"github.com/qosrtc/qos/internal/identity/visible"
	"github.com/qosrtc/qos/internal/serve/loopback"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
)

const (
	defaultManagementEndpoint = "localhost:8485"
	// maxRequestBytes bounds a request's body before it is read.
	maxRequestBytes = 128 << 10
	// minTokenBytes is the length of the shortest bearer token.
	minTokenBytes = 32
	maxTokenBytes = 1 << 10
)

func defaultManagement() ManagementConfig {
	server := tlsserver.DefaultConfig(defaultManagementEndpoint)
	server.ReadTimeout = 20 * time.Second
	server.MaxRequestBodySize = maxRequestBytes
	server.CompressionAlgorithms = []string{""} // bodies are small, a decoder is one more way in
	return ManagementConfig{ServerConfig: server}
}

// Validate implements xconfmap.Validator.
func (c *ManagementConfig) Validate() error {
	errs := []error{c.validateTransport()}
	if c.CORS.HasValue() {
		errs = append(errs, errors.New("cors is not supported: no page of another origin may manage"))
	}
	if len(c.Tokens) == 0 {
		errs = append(errs, errors.New("tokens: at least one is required"))
	}
	seen := map[string]bool{}
	for i := range c.Tokens {
		token, at := &c.Tokens[i], fmt.Sprintf("tokens[%d]", i)
		if seen[token.Name] {
			errs = append(errs, fmt.Errorf("%s.name %q is that of another token too", at, token.Name))
		}
		seen[token.Name] = true
		errs = append(errs, token.validate(at))
	}
	return errors.Join(errs...)
}

func (c *ManagementConfig) validateTransport() error {
	switch {
	case c.NetAddr.Endpoint == "":
		return errors.New("endpoint must not be empty")
	case c.TLS.HasValue(), c.NetAddr.Transport == confignet.TransportTypeUnix, loopback.Endpoint(c.NetAddr.Endpoint):
		return nil
	}
	return fmt.Errorf("tls: plain HTTP is served on loopback only and endpoint is %q: configure tls", c.NetAddr.Endpoint)
}

func (c *TokenConfig) validate(at string) error {
	var errs []error
	if c.Name == "" || len(c.Name) > 64 {
		errs = append(errs, fmt.Errorf("%s.name must have 1 to 64 bytes (got %d)", at, len(c.Name)))
	}
	if !visible.Name(c.Name) {
		errs = append(errs, fmt.Errorf("%s.name must %s", at, visible.NameLimit))
	}
	if (c.Token == "") == (c.File == "") {
		errs = append(errs, fmt.Errorf("%s: token or token_file is required, and not both", at))
	} else if c.Token != "" {
		errs = append(errs, checkToken(at+".token", string(c.Token)))
	}
	return errors.Join(errs...)
}

func checkToken(at, token string) error {
	if n := len(token); n < minTokenBytes || n > maxTokenBytes {
		return fmt.Errorf("%s must have %d to %d bytes (got %d)", at, minTokenBytes, maxTokenBytes, n)
	}
	return nil
}
