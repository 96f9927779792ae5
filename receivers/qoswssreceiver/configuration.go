package qoswssreceiver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/throttle"
	"github.com/qosrtc/qos/internal/turnrest"
	"github.com/qosrtc/qos/protocol"
)

// findTURN finds the extension that hands out TURN servers. It is nil where none is named.
func findTURN(host component.Host, id component.ID) (turnrest.Provider, error) {
	if id == (component.ID{}) {
		return nil, nil //nolint:nilnil // none
	}
	extension, ok := host.GetExtensions()[id]
	if !ok {
		return nil, fmt.Errorf("turn: there is no extension %q: define it under extensions and list it under service::extensions", id)
	}
	provider, ok := extension.(turnrest.Provider)
	if !ok {
		return nil, fmt.Errorf("turn: extension %q has no TURN servers: name one of type qosturn", id)
	}
	return provider, nil
}

// serveConfiguration answers with the configuration of calls and of pre-call tests (docs/protocol.md, section 11).
func (d *shared) serveConfiguration(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	answer, refusal := d.configuration(r, d.may.network(r), now)
	if refusal != nil {
		count(d.metrics.ReceiverQoswssConfigurationRequests, "result", refusal.Code)
		d.refuse(w, refusal)
		return
	}
	count(d.metrics.ReceiverQoswssConfigurationRequests, "result", resultAnswered)
	writeAnswer(w, "application/json", protocol.AppendConfiguration(nil, answer))
}

func (d *shared) configuration(r *http.Request, network throttle.Key, now time.Time) (*protocol.Configuration, *protocol.Error) {
	at := d.may.located(d.may.configurations, party{network: network})
	if refusal := take(at, now); refusal != nil {
		return nil, refusal
	}
	body, refusal := readBody(r)
	if refusal != nil {
		return nil, refusal
	}
	request, refusal := protocol.DecodeConfiguration(body)
	if refusal != nil {
		return nil, refusal
	}
	id, refusal := d.auth.Bearer(request.Token, originOf(r), now, func(id auth.Identity) *protocol.Error {
		refusal := take(d.may.proved(d.may.configurations, party{id.AppID, id.User.Name, network}), now)
		if refusal != nil {
			giveBack(at, make([]time.Duration, len(at)))
		}
		return refusal
	})
	if refusal != nil {
		return nil, refusal
	}
	return d.configure(id, now), nil
}

// configure makes the answer to a user.
func (d *shared) configure(id auth.Identity, now time.Time) *protocol.Configuration {
	c := &protocol.Configuration{At: now.UnixMilli(), Default: d.defaultConfig(id.AppID)}
	var expires earliest
	if d.turn != nil {
		for _, server := range d.turn.CallServers(id.AppID, id.User.Name, now) {
			expires.take(server.Expires)
			c.ICEServers = append(c.ICEServers, iceServer(server))
		}
		c.PreCall = d.tests(id, &expires, now)
	}
	if c.ICEServers == nil {
		c.ICEServers = iceServersOf(c.Default.PeerConnection)
	}
	c.ExpiresInMs = expires.in(now)
	return c
}

// tests returns the settings of pre-call tests; nil without a server.
func (d *shared) tests(id auth.Identity, expires *earliest, now time.Time) *protocol.TestSettings {
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

// defaultConfig is the default configuration of an app.
func (d *shared) defaultConfig(appID string) (c protocol.CallConfig) {
	raw := d.apps.DefaultConfiguration(appID)
	if len(raw) == 0 {
		return c
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		d.log.Error("the default configuration of an application cannot be read", zap.String("app", appID), zap.Error(err))
		return protocol.CallConfig{}
	}
	return c
}

func iceServer(s turnrest.Server) protocol.ICEServer {
	return protocol.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential}
}

// iceServersOf returns the servers of an RTCConfiguration.
func iceServersOf(peerConnection json.RawMessage) (servers []protocol.ICEServer) {
	var pc struct {
		ICEServers []struct {
			URLs                 stringOrList `json:"urls"`
			Username, Credential string
		} `json:"iceServers"`
	}
	if len(peerConnection) == 0 || json.Unmarshal(peerConnection, &pc) != nil {
		return nil
	}
	for _, s := range pc.ICEServers {
		servers = append(servers, protocol.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential})
	}
	return servers
}

// stringOrList is the urls of an RTCIceServer.
type stringOrList []string

// UnmarshalJSON reads a string, or an array of strings.
func (l *stringOrList) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(l))
	}
	*l = make([]string, 1)
	return json.Unmarshal(text, &(*l)[0])
}

// earliest is the earliest time of those taken; zero: none.
type earliest struct{ at time.Time }

func (e *earliest) take(at time.Time) {
	if !at.IsZero() && (e.at.IsZero() || at.Before(e.at)) {
		e.at = at
	}
}

// in returns the time until then in ms, at least 1; 0: never.
func (e *earliest) in(now time.Time) int64 {
	if e.at.IsZero() {
		return 0
	}
	return max(1, e.at.Sub(now).Milliseconds())
}
