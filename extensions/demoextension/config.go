package demoextension

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/serve/loopback"
)

// Config configures the demo application.
type Config struct {
	// ServerConfig configures the server of the page and its signalling.
	confighttp.ServerConfig `mapstructure:",squash"`

	// BackendURL is the receiver's URL for browsers. The page loads the client library from it.
	BackendURL string `mapstructure:"backend_url"`

	// AppID and AppSecret are the page's arguments of initialize(). Everyone who can open the page can
	// read the secret.
	AppID     string              `mapstructure:"app_id"`
	AppSecret configopaque.String `mapstructure:"app_secret"`

	// AllowRemote permits an endpoint that is not loopback.
	AllowRemote bool `mapstructure:"allow_remote"`

	// MaxRooms bounds the open rooms; a browser that opens one more is refused.
	MaxRooms int `mapstructure:"max_rooms"`

	// MaxRoomAge is the time after which the signalling of a room is closed. Its calls continue without
	// signalling.
	MaxRoomAge time.Duration `mapstructure:"max_room_age"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	var errs []error
	if _, _, err := net.SplitHostPort(c.NetAddr.Endpoint); err != nil {
		errs = append(errs, fmt.Errorf("endpoint must be host:port (got %q)", c.NetAddr.Endpoint))
	} else if !c.AllowRemote && !loopback.Endpoint(c.NetAddr.Endpoint) {
		errs = append(errs, fmt.Errorf("endpoint must be loopback (got %q): the page carries app_secret; set allow_remote to serve it to others", c.NetAddr.Endpoint))
	}
	if u, err := url.Parse(c.BackendURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		errs = append(errs, fmt.Errorf("backend_url must be an http or https URL (got %q)", c.BackendURL))
	}
	if c.AppID == "" {
		errs = append(errs, errors.New("app_id must not be empty"))
	}
	if c.AppSecret == "" {
		errs = append(errs, errors.New("app_secret must not be empty"))
	}
	if c.MaxRooms < 1 {
		errs = append(errs, fmt.Errorf("max_rooms must be positive (got %d)", c.MaxRooms))
	}
	if c.MaxRoomAge <= 0 {
		errs = append(errs, fmt.Errorf("max_room_age must be positive (got %s)", c.MaxRoomAge))
	}
	return errors.Join(errs...)
}
