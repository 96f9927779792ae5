// Package config is the configuration of qos-agent: by flag, by environment, by a YAML file, in
// this order. One list (keys) is behind all three and behind the table in docs/agent.md.
package config

import (
	"flag"
	"time"

	"github.com/qosrtc/qos/agent"
)

// The ways to know who is logged in.
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

// Log says what is logged, and how.
type Log struct{ Level, Format string }

// Keys says where the key that signs is kept.
type Keys struct{ Directory, Permissions string }

// Token says how long a token is good.
type Token struct{ Lifetime, Backdate time.Duration }

// Header is the way where the origin server, or a proxy, names the user.
type Header struct {
	User, Alias, Secret, SecretFile string
	PercentEncoded                  bool
}

// URL is the way where the origin server is asked with the user's cookies.
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

// OIDC is the way where the page brings a bearer token of an OpenID provider.
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
	f.StringVar(&c.Listen, "listen", c.Listen, "where tokens are served: host:port, or unix:/path/of/socket")
	f.StringVar(&c.SocketMode, "socket_mode", c.SocketMode, "permissions of a Unix socket, octal")
	f.BoolVar(&c.AllowRemote, "allow_remote", c.AllowRemote, "let listen and monitor be reached from other machines, and url.address be plain http; the network in between must then be your own")
	f.StringVar(&c.Path, "path", c.Path, "path of the token endpoint")
	f.Var(&c.Origins, "origins", "web origins whose pages may ask (https://app.example.org); required for the way url")
	f.IntVar(&c.InFlight, "in_flight", c.InFlight, "requests answered at once; one more gets 503")
	f.DurationVar(&c.StopTimeout, "stop_timeout", c.StopTimeout, "how long requests may take to end at a stop")
	f.StringVar(&c.Monitor, "monitor", c.Monitor, "where /metrics, /healthz and /readyz are served; empty: nowhere")
	f.StringVar(&c.Log.Level, "log.level", c.Log.Level, "debug (each answer), info, warn or error")
	f.StringVar(&c.Log.Format, "log.format", c.Log.Format, "json or console")
}

func (c *Config) bindKeys(f *flag.FlagSet) {
	f.StringVar(&c.Keys.Directory, "keys.directory", c.Keys.Directory, "directory of the key files")
	f.StringVar(&c.Keys.Permissions, "keys.permissions", c.Keys.Permissions, "who may read a key file: owner, group (0640) or any")
	f.DurationVar(&c.Token.Lifetime, "token.lifetime", c.Token.Lifetime, "how far exp lies ahead, 5m to 10m")
	f.DurationVar(&c.Token.Backdate, "token.backdate", c.Token.Backdate, "how far nbf lies back, up to 10m")
}

func (c *Config) bindWho(f *flag.FlagSet) {
	f.StringVar(&c.Who, "who", c.Who, "how to know who is logged in: header, url or oidc; required")
	f.StringVar(&c.Header.User, "header.user", c.Header.User, "header that names the user")
	f.StringVar(&c.Header.Alias, "header.alias", c.Header.Alias, "header that names the user's alias; empty: none")
	f.BoolVar(&c.Header.PercentEncoded, "header.percent_encoded", c.Header.PercentEncoded, "the names are percent-encoded, as encodeURIComponent does")
	f.StringVar(&c.Header.Secret, "header.secret", c.Header.Secret, "header that brings the shared secret")
	f.StringVar(&c.Header.SecretFile, "header.secret_file", c.Header.SecretFile, "file of the shared secret; a second line is accepted too, for a change without a gap")
	f.StringVar(&c.URL.Address, "url.address", c.URL.Address, "the origin server's URL that tells who is logged in")
	f.Var(&c.URL.Forward, "url.forward", "request headers that are passed on to it")
	f.DurationVar(&c.URL.Timeout, "url.timeout", c.URL.Timeout, "how long it may take")
	f.Int64Var(&c.URL.MaxBytes, "url.max_bytes", c.URL.MaxBytes, "how long its answer may be")
	f.StringVar(&c.URL.User, "url.user", c.URL.User, "member of its JSON that names the user, a path with dots (user.id)")
	f.StringVar(&c.URL.Alias, "url.alias", c.URL.Alias, "member that names the user's alias; empty: none")
	f.StringVar(&c.URL.UserHeader, "url.user_header", c.URL.UserHeader, "response header that names the user, in place of JSON")
	f.Var(&c.URL.LoggedOut, "url.logged_out", "status codes by which it says that nobody is logged in")
	f.StringVar(&c.URL.CAFile, "url.ca_file", c.URL.CAFile, "PEM file of the authorities it is trusted by; empty: the system's")
	f.IntVar(&c.URL.MaxConcurrent, "url.max_connections", c.URL.MaxConcurrent, "connections to it at once")
	f.StringVar(&c.OIDC.Issuer, "oidc.issuer", c.OIDC.Issuer, "URL of the OpenID provider")
	f.StringVar(&c.OIDC.Audience, "oidc.audience", c.OIDC.Audience, "aud that a bearer token must have: the client id, or the API's name")
	f.StringVar(&c.OIDC.User, "oidc.user", c.OIDC.User, "claim that names the user, a path with dots")
	f.StringVar(&c.OIDC.Alias, "oidc.alias", c.OIDC.Alias, "claim that names the user's alias; empty: none")
	f.Var(&c.OIDC.Algorithms, "oidc.algorithms", "signature algorithms that are accepted; empty: those that the provider announces")
	f.StringVar(&c.OIDC.CAFile, "oidc.ca_file", c.OIDC.CAFile, "PEM file of the authorities it is trusted by; empty: the system's")
	f.DurationVar(&c.OIDC.Timeout, "oidc.timeout", c.OIDC.Timeout, "how long its discovery and its keys may take")
}
