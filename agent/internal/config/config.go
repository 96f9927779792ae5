// Package config is the configuration of qos-agent: by flag, by environment, by a YAML file, in
// this order. One list (keys) is behind all three and behind the table in docs/agent.md.
package config

import (
	"flag"
	"time"

	"github.com/qosrtc/qos/agent"
)

// The login sources.
const (
	WhoHeader = "header"
	WhoURL    = "url"
	WhoOIDC   = "oidc"
)

// Config is the whole configuration.
type Config struct {
	AppID       string
	Listen      string
	SocketMode  string
	AllowRemote bool
	Path        string
	Origins     List
	InFlight    int
	StopTimeout time.Duration
	Monitor     string
	Log         Log
	Keys        Keys
	Token       Token
	Who         string
	Header      Header
	URL         URL
	OIDC        OIDC
}

// Log selects the least level and the format of the log.
type Log struct{ Level, Format string }

// Keys is the location of the key that signs.
type Keys struct{ Directory, Permissions string }

// Token is the lifetime of a token.
type Token struct{ Lifetime, Backdate time.Duration }

// Header is the login source in which the origin server, or a proxy, names the user.
type Header struct {
	User, Alias, Secret, SecretFile string
	PercentEncoded                  bool
}

// URL is the login source in which the agent asks the origin server with the user's cookies.
type URL struct {
	Address       string
	Forward       List
	Timeout       time.Duration
	MaxBytes      int64
	User, Alias   string
	UserHeader    string
	LoggedOut     List
	CAFile        string
	MaxConcurrent int
}

// OIDC is the login source in which the page sends a bearer token of an OpenID provider.
type OIDC struct {
	Issuer, Audience string
	User, Alias      string
	Algorithms       List
	CAFile           string
	Timeout          time.Duration
}

// Default returns the configuration before anything is set.
func Default() Config {
	return Config{
		Listen: "127.0.0.1:8490", SocketMode: "0660", Path: "/token", InFlight: 256, StopTimeout: 10 * time.Second,
		Monitor: "127.0.0.1:8491",
		Log:     Log{Level: "info", Format: "json"},
		Keys:    Keys{Directory: "/etc/qos-agent/keys", Permissions: "owner"},
		Token:   Token{Lifetime: agent.RecommendedOffset, Backdate: agent.RecommendedOffset},
		Header:  Header{User: "X-Qos-User", Secret: "X-Qos-Secret"}, //nolint:gosec // G101: names of headers
		URL: URL{
			Forward: List{"Cookie"}, Timeout: 3 * time.Second, MaxBytes: 64 << 10,
			User: "userID", LoggedOut: List{"401", "403"}, MaxConcurrent: 64,
		},
		OIDC: OIDC{User: "sub", Timeout: 3 * time.Second},
	}
}

// bind defines each key once, as a flag of that name. The text is its documentation.
func (c *Config) bind(f *flag.FlagSet) {
	c.bindServer(f)
	c.bindKeys(f)
	c.bindWho(f)
}

func (c *Config) bindServer(f *flag.FlagSet) {
	f.StringVar(&c.AppID, "app_id", c.AppID, "the AppID that tokens are for; required")
	f.StringVar(&c.Listen, "listen", c.Listen, "address that serves tokens: host:port, or unix:/path/of/socket")
	f.StringVar(&c.SocketMode, "socket_mode", c.SocketMode, "permissions of a Unix socket, octal")
	f.BoolVar(&c.AllowRemote, "allow_remote", c.AllowRemote, "allow listen and monitor on other addresses than loopback, and plain http for url.address; the network in between must then be your own")
	f.StringVar(&c.Path, "path", c.Path, "path of the token endpoint")
	f.Var(&c.Origins, "origins", "web origins whose pages may request a token (https://app.example.org); required for the login source url")
	f.IntVar(&c.InFlight, "in_flight", c.InFlight, "requests answered at the same time; one more gets 503")
	f.DurationVar(&c.StopTimeout, "stop_timeout", c.StopTimeout, "longest time that open requests have to end at a stop")
	f.StringVar(&c.Monitor, "monitor", c.Monitor, "address that serves /metrics, /healthz and /readyz; empty: none")
	f.StringVar(&c.Log.Level, "log.level", c.Log.Level, "debug (each answer), info, warn or error")
	f.StringVar(&c.Log.Format, "log.format", c.Log.Format, "json or console")
}

func (c *Config) bindKeys(f *flag.FlagSet) {
	f.StringVar(&c.Keys.Directory, "keys.directory", c.Keys.Directory, "directory of the key files")
	f.StringVar(&c.Keys.Permissions, "keys.permissions", c.Keys.Permissions, "permitted readers of a key file: owner, group (0640) or any")
	f.DurationVar(&c.Token.Lifetime, "token.lifetime", c.Token.Lifetime, "time from now to exp, 5m to 10m")
	f.DurationVar(&c.Token.Backdate, "token.backdate", c.Token.Backdate, "time from nbf to now, up to 10m")
}

func (c *Config) bindWho(f *flag.FlagSet) {
	f.StringVar(&c.Who, "who", c.Who, "login source: header, url or oidc; required")
	f.StringVar(&c.Header.User, "header.user", c.Header.User, "header that names the user")
	f.StringVar(&c.Header.Alias, "header.alias", c.Header.Alias, "header that names the user's alias; empty: none")
	f.BoolVar(&c.Header.PercentEncoded, "header.percent_encoded", c.Header.PercentEncoded, "the names are percent-encoded, as by encodeURIComponent")
	f.StringVar(&c.Header.Secret, "header.secret", c.Header.Secret, "header that contains the shared secret")
	f.StringVar(&c.Header.SecretFile, "header.secret_file", c.Header.SecretFile, "file of the shared secret; a second line is accepted too, so that the secret can be changed without a refused request")
	f.StringVar(&c.URL.Address, "url.address", c.URL.Address, "URL of the origin server that names the user who is logged in")
	f.Var(&c.URL.Forward, "url.forward", "request headers that are forwarded to url.address")
	f.DurationVar(&c.URL.Timeout, "url.timeout", c.URL.Timeout, "longest time of a request to url.address")
	f.Int64Var(&c.URL.MaxBytes, "url.max_bytes", c.URL.MaxBytes, "largest answer of url.address, in bytes")
	f.StringVar(&c.URL.User, "url.user", c.URL.User, "member of the answer's JSON that names the user, a path with dots (user.id)")
	f.StringVar(&c.URL.Alias, "url.alias", c.URL.Alias, "member that names the user's alias; empty: none")
	f.StringVar(&c.URL.UserHeader, "url.user_header", c.URL.UserHeader, "response header that names the user, in place of JSON")
	f.Var(&c.URL.LoggedOut, "url.logged_out", "status codes of url.address that mean that no user is logged in")
	f.StringVar(&c.URL.CAFile, "url.ca_file", c.URL.CAFile, "PEM file of the certificate authorities for url.address; empty: the system's")
	f.IntVar(&c.URL.MaxConcurrent, "url.max_connections", c.URL.MaxConcurrent, "connections to url.address at the same time")
	f.StringVar(&c.OIDC.Issuer, "oidc.issuer", c.OIDC.Issuer, "URL of the OpenID provider")
	f.StringVar(&c.OIDC.Audience, "oidc.audience", c.OIDC.Audience, "aud that a bearer token must contain: the client ID, or the API's name")
	f.StringVar(&c.OIDC.User, "oidc.user", c.OIDC.User, "claim that names the user, a path with dots")
	f.StringVar(&c.OIDC.Alias, "oidc.alias", c.OIDC.Alias, "claim that names the user's alias; empty: none")
	f.Var(&c.OIDC.Algorithms, "oidc.algorithms", "signature algorithms that are accepted; empty: those that the provider announces")
	f.StringVar(&c.OIDC.CAFile, "oidc.ca_file", c.OIDC.CAFile, "PEM file of the certificate authorities for the provider; empty: the system's")
	f.DurationVar(&c.OIDC.Timeout, "oidc.timeout", c.OIDC.Timeout, "longest time of a request for its discovery document or its keys")
}
