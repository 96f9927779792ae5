package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/agent"
)

// unixPrefix marks a Unix socket in listen.
const unixPrefix = "unix:"

// Validate reports all that cannot be, by key. Values are quoted; none of them is secret.
func (c *Config) Validate() error {
	var errs []error
	need := func(ok bool, key, why string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: %s", key, why))
		}
	}
	need(c.AppID != "", "app_id", "is required")
	need(len(c.AppID) <= agent.MaxUserIDBytes, "app_id", "is longer than 256 bytes")
	need(c.Keys.Directory != "", "keys.directory", "is required")
	need(strings.HasPrefix(c.Path, "/") && !strings.ContainsAny(c.Path, "{} "), "path", "must start with / and be plain")
	need(c.InFlight > 0, "in_flight", "must be positive")
	need(c.StopTimeout > 0, "stop_timeout", "must be positive")
	need(c.Token.Lifetime >= agent.MinLifetime && c.Token.Lifetime <= agent.MaxLifetime, "token.lifetime", "must be 5m to 10m")
	need(c.Token.Backdate > 0 && c.Token.Backdate <= agent.MaxLifetime, "token.backdate", "must be positive and at most 10m")
	need(oneOf(c.Log.Level, "debug", "info", "warn", "error"), "log.level", "must be debug, info, warn or error")
	need(oneOf(c.Log.Format, "json", "console"), "log.format", "must be json or console")
	need(oneOf(c.Keys.Permissions, "owner", "group", "any"), "keys.permissions", "must be owner, group or any")
	_, err := c.SocketPermissions()
	need(err == nil, "socket_mode", "must be octal, such as 0660")
	for _, origin := range c.Origins {
		if err := agent.CheckOrigin(origin); err != nil {
			errs = append(errs, fmt.Errorf("origins: %q %w", origin, err))
		}
	}
	c.validateListeners(need)
	c.validateWho(need)
	return errors.Join(errs...)
}

func (c *Config) validateListeners(need func(bool, string, string)) {
	need(c.Listen != "" && c.Listen != unixPrefix, "listen", "is required")
	beyond := "is reached from other machines, without TLS; put a proxy before it, or say allow_remote"
	need(c.AllowRemote || c.localListen(), "listen", beyond)
	need(c.AllowRemote || c.Monitor == "" || local(c.Monitor), "monitor", beyond)
}

func (c *Config) validateWho(need func(bool, string, string)) {
	switch c.Who {
	case WhoHeader:
		// A caller who reaches the port and guesses the secret can be any user, so few may reach it.
		need(c.localListen(), "listen", "must be a loopback address or a Unix socket for the login source header, also with allow_remote")
		need(c.Header.User != "", "header.user", "is required")
		need(c.Header.Secret != "", "header.secret", "is required")
		need(c.Header.SecretFile != "", "header.secret_file", "is required for the login source header")
	case WhoURL:
		c.validateURL(need)
	case WhoOIDC:
		need(absolute(c.OIDC.Issuer, false), "oidc.issuer", "must be an https URL (http on loopback only)")
		need(c.OIDC.Audience != "", "oidc.audience", "is required: without it a token made for another service would do")
		need(c.OIDC.User != "", "oidc.user", "is required")
		need(c.OIDC.Timeout > 0, "oidc.timeout", "must be positive")
	default:
		need(false, "who", "must be header, url or oidc")
	}
}

func (c *Config) validateURL(need func(bool, string, string)) {
	need(absolute(c.URL.Address, c.AllowRemote), "url.address", "must be an https URL (http on loopback, or with allow_remote)")
	need(len(c.Origins) > 0, "origins", "is required for the login source url: a browser sends cookies for other sites' pages too")
	need(len(c.URL.Forward) > 0, "url.forward", "must name a header, such as Cookie")
	need(c.URL.User != "" || c.URL.UserHeader != "", "url.user", "or url.user_header is required")
	need(c.URL.Timeout > 0, "url.timeout", "must be positive")
	need(c.URL.MaxBytes > 0, "url.max_bytes", "must be positive")
	need(c.URL.MaxConcurrent > 0, "url.max_connections", "must be positive")
	for _, status := range c.URL.LoggedOut {
		code, err := strconv.Atoi(status)
		need(err == nil && code >= 300 && code <= 499, "url.logged_out", "must be status codes of 300 to 499")
	}
}

// Socket returns the path of the Unix socket that listen names.
func (c *Config) Socket() (string, bool) { return strings.CutPrefix(c.Listen, unixPrefix) }

// SocketPermissions returns socket_mode as a file mode.
func (c *Config) SocketPermissions() (os.FileMode, error) {
	mode, err := strconv.ParseUint(c.SocketMode, 8, 9)
	if err != nil {
		return 0, fmt.Errorf("socket_mode: %w", err)
	}
	return os.FileMode(mode), nil
}

// KeyPermissions returns the bits of a key file's mode that others may have.
func (c *Config) KeyPermissions() os.FileMode {
	return map[string]os.FileMode{"group": 0o040, "any": 0o077}[c.Keys.Permissions]
}

func (c *Config) localListen() bool {
	_, socket := c.Socket()
	return socket || local(c.Listen)
}

// local reports whether host:port can be reached from this machine alone.
func local(endpoint string) bool {
	host, _, err := net.SplitHostPort(endpoint)
	return err == nil && loopback(host)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// absolute reports whether text is a URL that secrets may travel to.
func absolute(text string, plain bool) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || (u.Scheme == "http" && (plain || loopback(u.Hostname())))
}

func oneOf(value string, allowed ...string) bool { return slices.Contains(allowed, value) }
