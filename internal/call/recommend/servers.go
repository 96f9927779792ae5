package recommend

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/qosrtc/qos/protocol"
)

// Server is an ICE server with its name in pre-call tests.
type Server struct {
	Name string // label; without one the host of the first URL
	protocol.ICEServer
}

// ICEServers returns the servers of an RTCConfiguration, in order. It is nil where there are none.
func ICEServers(peerConnection json.RawMessage) (servers []Server) {
	var pc struct {
		ICEServers []struct {
			URLs       urls   `json:"urls"`
			Username   string `json:"username"`
			Credential string `json:"credential"`
		} `json:"iceServers"`
	}
	if len(peerConnection) == 0 || json.Unmarshal(peerConnection, &pc) != nil {
		return nil
	}
	for _, s := range pc.ICEServers {
		servers = append(servers, NewServer("", protocol.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential}))
	}
	return servers
}

// NewServer returns a server with a label, which may be empty.
func NewServer(label string, server protocol.ICEServer) Server {
	if label == "" && len(server.URLs) > 0 {
		label = hostOf(server.URLs[0])
	}
	return Server{label, server}
}

// urls is the member urls of an RTCIceServer.
type urls []string

// UnmarshalJSON accepts a string, or an array of strings.
func (l *urls) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(l))
	}
	*l = make([]string, 1)
	return json.Unmarshal(text, &(*l)[0])
}

// hostOf returns the host of a URL of RFC 7064 or RFC 7065, which have no authority.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, ":")
	rest, _, _ = strings.Cut(rest, "?")
	if inside, _, ok := strings.Cut(rest, "]"); ok {
		return strings.TrimPrefix(inside, "[")
	}
	host, _, _ := strings.Cut(rest, ":")
	return host
}

// relays reports whether a server is a TURN server.
func (s *Server) relays() bool {
	return slices.ContainsFunc(s.URLs, func(url string) bool {
		return strings.HasPrefix(url, "turn:") || strings.HasPrefix(url, "turns:")
	})
}

// servers recommends the servers with fresh credentials, then those of the default. It sorts them by the
// results of the test.
func (c *change) servers(k Known) {
	defaults := ICEServers(k.Default.PeerConnection)
	all := slices.Clone(k.Servers)
	for i := range defaults {
		if !slices.ContainsFunc(k.Servers, func(s Server) bool { return slices.Equal(s.URLs, defaults[i].URLs) }) {
			all = append(all, defaults[i])
		}
	}
	ranked := slices.Clone(all)
	if k.Test != nil {
		rank(ranked, k.Test.Providers)
	}
	if len(k.Servers) > 0 {
		c.addReason(memberICEServers, CodeFreshCredentials, "the service has TURN servers with short-lived credentials")
	}
	if !slices.EqualFunc(all, ranked, func(a, b Server) bool { return slices.Equal(a.URLs, b.URLs) }) {
		c.addReason(memberICEServers, CodeRanking, "the servers are in the order of the pre-call test's results")
	} else if len(k.Servers) == 0 {
		return
	}
	list := make([]protocol.ICEServer, len(ranked))
	for i := range ranked {
		list[i] = ranked[i].ICEServer
	}
	c.peerConnection.set("iceServers", list)
}

// Positions of servers by their result.
const (
	acceptable = iota
	untested
	unacceptable
)

// rank sorts servers: acceptable ones by RTT, then those that were not tested, then the others by RTT. Servers that
// compare equal keep their order.
func rank(servers []Server, providers []protocol.PreCallProvider) {
	type position struct {
		class int
		rtt   float64
	}
	of := func(s *Server) position {
		at := slices.IndexFunc(providers, func(p protocol.PreCallProvider) bool { return p.Provider == s.Name })
		if at < 0 {
			return position{untested, 0}
		}
		p := position{unacceptable, math.Inf(1)}
		if providers[at].Acceptable {
			p.class = acceptable
		}
		if providers[at].RTTMs != nil {
			p.rtt = *providers[at].RTTMs
		}
		return p
	}
	slices.SortStableFunc(servers, func(a, b Server) int {
		x, y := of(&a), of(&b)
		return cmp.Or(cmp.Compare(x.class, y.class), cmp.Compare(x.rtt, y.rtt))
	})
}
