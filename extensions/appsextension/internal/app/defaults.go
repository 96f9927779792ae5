package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/internal/jsonobject"
	"github.com/qosrtc/qos/internal/recommend"
)

// maxDepth bounds the nesting of a default configuration.
const maxDepth = 8

const (
	// maxPool is the largest iceCandidatePoolSize, which is an octet.
	maxPool = 255
	// maxUsername is the longest username of TURN (RFC 8489), in bytes.
	maxUsername = 508
)

// iceURL is a URL of RFC 7064 or 7065: host, port and, of TURN, the transport.
var iceURL = regexp.MustCompile(`^(?:stuns?|(turns?)):(\[[0-9A-Fa-f:.]+\]|[\pL\pN._~-]+)(?::([0-9]{1,5}))?(\?transport=(?:udp|tcp))?$`)

// checkDefaults sees that a default configuration is what the interface document has
// (section 2.11): peerConnection, an RTCConfiguration, and media, MediaStreamConstraints.
// Certificates cannot be written in JSON. It returns the document without spaces.
func checkDefaults(o object, name string) json.RawMessage {
	raw, ok := o.Members[name]
	if !ok || string(raw) == "null" || o.Fault() != nil {
		return nil
	}
	if len(raw) > MaxDefaultBytes {
		o.Refuse(name, fmt.Sprintf("have at most %d bytes", MaxDefaultBytes), strconv.Itoa(len(raw)))
		return nil
	}
	if depth(raw) > maxDepth {
		o.Refuse(name, fmt.Sprintf("be nested at most %d deep", maxDepth), "a deeper one")
		return nil
	}
	defaults := o.entry(name, raw, "peerConnection", "media")
	if pc, ok := defaults.object("peerConnection", "iceServers", "iceTransportPolicy", "bundlePolicy", "rtcpMuxPolicy", "iceCandidatePoolSize"); ok {
		checkPeerConnection(pc)
	}
	if media, ok := defaults.object("media", "audio", "video"); ok {
		for _, kind := range []string{"audio", "video"} {
			checkConstraints(media, kind)
		}
		if len(media.Members) > 0 && !recommend.Asks(defaults.Members["media"]) {
			defaults.Refuse("media", "ask for audio or video: getUserMedia refuses one that asks for neither", "neither")
		}
	}
	var compact bytes.Buffer
	if o.Fault() != nil || json.Compact(&compact, raw) != nil {
		return nil
	}
	return compact.Bytes()
}

// depth is how deep the brackets of a JSON text go.
func depth(raw []byte) (deepest int) {
	now, quoted, escaped := 0, false, false
	for _, b := range raw {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = b == '\\', b != '"'
		case b == '"':
			quoted = true
		case b == '{' || b == '[':
			now++
			deepest = max(deepest, now)
		case b == '}' || b == ']':
			now--
		}
	}
	return deepest
}

func checkPeerConnection(pc object) {
	for name, value := range pc.Members {
		if text := string(value); text == "null" || text == `""` {
			pc.Refuse(name, "be left out in place of an empty value, which browsers refuse", text)
		}
	}
	pc.oneOf("iceTransportPolicy", "all", "relay")
	pc.oneOf("bundlePolicy", "balanced", "max-compat", "max-bundle")
	pc.oneOf("rtcpMuxPolicy", "require")
	if n := pc.Count("iceCandidatePoolSize"); n > maxPool {
		pc.Refuse("iceCandidatePoolSize", fmt.Sprintf("be 0 to %d", maxPool), strconv.Itoa(n))
	}
	for i, raw := range pc.List("iceServers", 32) {
		server := pc.entry(fmt.Sprintf("iceServers[%d]", i), raw, "urls", "username", "credential")
		turn := checkURLs(server)
		username, credential := server.Text("username", maxUsername), server.Text("credential", 512)
		if turn && (username == "" || credential == "") {
			server.Refuse("urls", "have a username and a credential beside turn: and turns:", "none, which browsers refuse")
		}
	}
}

// oneOf reads a string that is one of a few.
func (o object) oneOf(name string, values ...string) string {
	text := o.Text(name, MaxURLBytes)
	if text != "" && !slices.Contains(values, text) {
		o.Refuse(name, "be one of "+strings.Join(values, ", "), fmt.Sprintf("%q", jsonobject.Clip(text)))
	}
	return text
}

// checkURLs reads urls, a string or an array of strings, and reports whether one is a TURN server's.
func checkURLs(server object) (turn bool) {
	const limit = "be a URL stun:, stuns:, turn: or turns:, or an array of 1 to 8 of them"
	raw := bytes.TrimSpace(server.Members["urls"])
	var urls []string
	if len(raw) > 0 && raw[0] == '[' {
		server.Value("urls", limit, &urls)
	} else {
		urls = []string{server.Text("urls", MaxURLBytes)}
	}
	if len(urls) == 0 || len(urls) > 8 {
		server.Refuse("urls", limit, fmt.Sprintf("%d entries", len(urls)))
	}
	for _, url := range urls {
		if !isICEURL(url) || len(url) > MaxURLBytes || hasControl(url) {
			server.Refuse("urls", limit, fmt.Sprintf("%q", jsonobject.Clip(url)))
		}
		turn = turn || strings.HasPrefix(url, "turn")
	}
	return turn
}

// isICEURL reports whether browsers take a URL.
func isICEURL(url string) bool {
	parts := iceURL.FindStringSubmatch(url)
	if parts == nil {
		return false
	}
	turn, host, port, query := parts[1], parts[2], parts[3], parts[4]
	if number, err := strconv.Atoi(port); port != "" && (err != nil || number < 1 || number > 65535) || query != "" && turn == "" {
		return false
	}
	if strings.Trim(host, "0123456789.") == "" || host[0] == '[' {
		_, err := netip.ParseAddr(strings.Trim(host, "[]"))
		return err == nil
	}
	return true
}

// CheckDefaults is the check of a default configuration by itself, for what is called
// name. It returns the document without spaces.
func CheckDefaults(name string, raw json.RawMessage) (json.RawMessage, error) {
	o := object{jsonobject.Of(name, raw)}
	checked := checkDefaults(o, name)
	return checked, o.Fault()
}
