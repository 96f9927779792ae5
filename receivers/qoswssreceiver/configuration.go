package qoswssreceiver

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/recommend"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
)

// serveConfiguration returns the configuration of calls and of pre-call tests (docs/protocol.md, section 11).
func (d *shared) serveConfiguration(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	answer, refusal := d.configuration(r, d.throttles.network(r), now)
	if refusal != nil {
		count(d.metrics.ReceiverQoswssConfigurationRequests, "outcome", refusal.Code)
		d.refuse(w, refusal)
		return
	}
	count(d.metrics.ReceiverQoswssConfigurationRequests, "outcome", outcomeAnswered)
	writeAnswer(w, "application/json", protocol.AppendConfiguration(nil, answer))
}

func (d *shared) configuration(r *http.Request, network throttle.Key, now time.Time) (*protocol.Configuration, *protocol.Error) {
	at := d.throttles.addressBuckets(d.throttles.configurations, party{network: network})
	if refusal := take(at, now); refusal != nil {
		return nil, refusal
	}
	body, refusal := d.readBody(r, network)
	if refusal != nil {
		return nil, refusal
	}
	defer body.close()
	request, refusal := protocol.DecodeConfiguration(body.text)
	if refusal != nil {
		return nil, refusal
	}
	id, refusal := d.auth.Bearer(request.Token, originOf(r), now, func(id auth.Identity) *protocol.Error {
		refusal := take(d.throttles.identityBuckets(d.throttles.configurations, party{id.AppID, id.User.Name, network}), now)
		if refusal != nil {
			giveBack(at, make([]time.Duration, len(at)))
		}
		return refusal
	})
	if refusal != nil {
		return nil, refusal
	}
	return d.configure(r.Context(), id, request, now), nil
}

// configure returns the configuration for a user.
func (d *shared) configure(ctx context.Context, id auth.Identity, request *protocol.ConfigurationRequest, now time.Time) *protocol.Configuration {
	c := &protocol.Configuration{At: now.UnixMilli(), Default: d.defaultConfig(id.AppID)}
	known := recommend.Known{Default: c.Default}
	var expires expiry
	if d.turn != nil {
		for _, server := range d.turn.CallServers(id.AppID, id.User.Name, now) {
			expires.take(server.Expires)
			known.Servers = append(known.Servers, recommend.NewServer(server.Label, iceServer(server)))
		}
		c.PreCall = d.tests(id, &expires, now)
	}
	known.Test, known.Paths = d.pastCalls.lookup(ctx, d.recorded(id), request, now)
	c.Recommended = recommend.Config(known)
	if !recommend.Asks(c.Recommended.Media) {
		c.Recommended.Media = c.Default.Media
	}
	servers := known.Servers
	if servers == nil {
		servers = recommend.ICEServers(c.Default.PeerConnection)
	}
	for i := range servers {
		c.ICEServers = append(c.ICEServers, servers[i].ICEServer)
	}
	c.ExpiresInMs = expires.untilMs(now)
	return c
}

// recorded returns a user with the name that records have.
func (d *shared) recorded(id auth.Identity) user {
	users := usersOf(d.apps, id.AppID, func() {})
	return user{app: id.AppID, name: users.user(id.User).Name}
}

// tests returns the settings of pre-call tests, nil without a server.
func (d *shared) tests(id auth.Identity, expires *expiry, now time.Time) *protocol.TestSettings {
	limits := d.turn.TestLimits()
	settings := &protocol.TestSettings{
		MaxDurationMs: limits.MaxDuration.Milliseconds(), MaxBytes: limits.MaxBytes, MaxThroughputBps: limits.MaxThroughputBps,
	}
	for _, server := range d.turn.TestServers(id.AppID, id.User.Name, now) {
		expires.take(server.Expires)
		settings.Servers = append(settings.Servers, protocol.TestServer{Label: server.Label, ICEServer: iceServer(server)})
	}
	if len(settings.Servers) == 0 {
		return nil
	}
	return settings
}

// defaultConfig returns the default configuration of an app.
func (d *shared) defaultConfig(appID string) (c protocol.CallConfig) {
	if raw := d.apps.DefaultConfiguration(appID); len(raw) > 0 {
		if err := json.Unmarshal(raw, &c); err != nil {
			d.log.Error("the default configuration of an application cannot be read", zap.String("app", appID), zap.Error(err))
			c = protocol.CallConfig{}
		}
	}
	if !recommend.Asks(c.Media) {
		c.Media = json.RawMessage(`{"audio":true,"video":true}`) // pages pass it to getUserMedia
	}
	return c
}

func iceServer(s turnrest.Server) protocol.ICEServer {
	return protocol.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential}
}

// expiry is the earliest of several times; zero: none.
type expiry struct{ at time.Time }

func (e *expiry) take(at time.Time) {
	if !at.IsZero() && (e.at.IsZero() || at.Before(e.at)) {
		e.at = at
	}
}

// untilMs returns the time until the earliest one in ms, at least 1; 0: never.
func (e *expiry) untilMs(now time.Time) int64 {
	if e.at.IsZero() {
		return 0
	}
	return max(1, e.at.Sub(now).Milliseconds())
}
