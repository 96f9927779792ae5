package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/internal/jsonobject"
	"github.com/qosrtc/qos/internal/recommend"
)

// maxDepth bounds the nesting of a default configuration.
const maxDepth = 8

// maxPool is the largest iceCandidatePoolSize, which is an octet.
const maxPool = 255

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
	pc.oneOf("iceTransportPolicy", "all", "relay")
	pc.oneOf("bundlePolicy", "balanced", "max-compat", "max-bundle")
	pc.oneOf("rtcpMuxPolicy", "require")
	if n := pc.Count("iceCandidatePoolSize"); n > maxPool {
		pc.Refuse("iceCandidatePoolSize", fmt.Sprintf("be 0 to %d", maxPool), strconv.Itoa(n))
	}
	for i, raw := range pc.List("iceServers", 32) {
		server := pc.entry(fmt.Sprintf("iceServers[%d]", i), raw, "urls", "username", "credential")
		turn := checkURLs(server)
		username, credential := server.Text("username", 512), server.Text("credential", 512)
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
		scheme, host, _ := strings.Cut(url, ":")
		if !slices.Contains([]string{"stun", "stuns", "turn", "turns"}, scheme) || host == "" || len(url) > MaxURLBytes || hasControl(url) {
			server.Refuse("urls", limit, fmt.Sprintf("%q", jsonobject.Clip(url)))
		}
		turn = turn || strings.HasPrefix(scheme, "turn")
	}
	return turn
}

// CheckDefaults is the check of a default configuration by itself, for what is called
// name. It returns the document without spaces.
func CheckDefaults(name string, raw json.RawMessage) (json.RawMessage, error) {
	o := object{jsonobject.Of(name, raw)}
	checked := checkDefaults(o, name)
	return checked, o.Fault()
}
