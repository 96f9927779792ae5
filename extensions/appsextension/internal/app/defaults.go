package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// maxDepth bounds the nesting of a default configuration.
const maxDepth = 8

// defaults is the shape of a default configuration (interface document, section 2.11): an RTCConfiguration and
// MediaStreamConstraints. Certificates cannot be written in JSON.
type defaults struct {
	PeerConnection struct {
		ICEServers []struct {
			URLs       json.RawMessage `json:"urls"` // a string, or an array of strings
			Username   string          `json:"username"`
			Credential string          `json:"credential"`
		} `json:"iceServers"`
		ICETransportPolicy   string `json:"iceTransportPolicy"`
		BundlePolicy         string `json:"bundlePolicy"`
		RTCPMuxPolicy        string `json:"rtcpMuxPolicy"`
		ICECandidatePoolSize int    `json:"iceCandidatePoolSize"`
	} `json:"peerConnection"`
	Media *struct {
		Audio json.RawMessage `json:"audio"` // true, false or an object
		Video json.RawMessage `json:"video"`
	} `json:"media"`
}

// CheckDefaults checks the shape of a default configuration, which is called name, and what getUserMedia refuses whatever
// the device. Browsers check the values. It returns the document without spaces.
func CheckDefaults(name string, raw json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(raw) == 0:
		return nil, nil
	case len(raw) > MaxDefaultBytes:
		return nil, checkLength(name, string(raw), 0, MaxDefaultBytes)
	case depth(raw) > maxDepth:
		return nil, &jsonobject.Fault{Field: name, Limit: fmt.Sprintf("be nested at most %d deep", maxDepth), Got: "a deeper one"}
	}
	var d defaults
	if err := jsonobject.DecodeAt(name, raw, &d); err != nil {
		return nil, err
	}
	if err := d.check(name); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, raw)
	return compact.Bytes(), err
}

func (d *defaults) check(name string) error {
	for i, server := range d.PeerConnection.ICEServers {
		at := fmt.Sprintf("%s.peerConnection.iceServers[%d].urls", name, i)
		if !areICEURLs(server.URLs) {
			return &jsonobject.Fault{Field: at, Limit: "be a URL stun:, stuns:, turn: or turns:, or an array of them", Got: jsonobject.KindOf(server.URLs)}
		}
	}
	if d.Media == nil {
		return nil
	}
	if err := checkConstraints(name+".media.audio", d.Media.Audio); err != nil {
		return err
	}
	if err := checkConstraints(name+".media.video", d.Media.Video); err != nil {
		return err
	}
	if audio, video := string(d.Media.Audio), string(d.Media.Video); audio+video == "false" || audio+video == "falsefalse" {
		return &jsonobject.Fault{Field: name + ".media", Limit: "ask for audio or video: getUserMedia refuses one that asks for neither", Got: "neither"}
	}
	return nil
}

// areICEURLs reports whether a value is the URL of an ICE server, or an array of such URLs. Browsers check the rest of it.
func areICEURLs(raw json.RawMessage) bool {
	var urls []string
	if bytes.HasPrefix(raw, []byte("[")) {
		if json.Unmarshal(raw, &urls) != nil || len(urls) == 0 {
			return false
		}
	} else {
		urls = make([]string, 1)
		if len(raw) == 0 || json.Unmarshal(raw, &urls[0]) != nil {
			return false
		}
	}
	return !slices.ContainsFunc(urls, func(url string) bool {
		scheme, host, _ := strings.Cut(url, ":")
		return host == "" || strings.ContainsFunc(url, unicode.IsControl) || !slices.Contains([]string{"stun", "stuns", "turn", "turns"}, scheme)
	})
}

// checkConstraints checks the constraints of one kind of media. getUserMedia refuses movements of a camera as conditions,
// and gives no screen.
func checkConstraints(path string, raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] == 't' || raw[0] == 'f' {
		return nil
	}
	var set map[string]json.RawMessage
	if json.Unmarshal(raw, &set) != nil || set == nil {
		return &jsonobject.Fault{Field: path, Limit: "be true, false or an object of constraints", Got: jsonobject.KindOf(raw)}
	}
	for _, member := range []string{"pan", "tilt", "zoom"} {
		if isCondition(set[member]) {
			return &jsonobject.Fault{Field: path + "." + member, Limit: "be no condition, which getUserMedia refuses: ideal is none", Got: jsonobject.KindOf(set[member])}
		}
	}
	if source, there := set["mediaSource"]; there && string(source) != `"camera"` && string(source) != `"microphone"` {
		return &jsonobject.Fault{Field: path + ".mediaSource", Limit: "be camera or microphone: getUserMedia gives no screen", Got: jsonobject.KindOf(source)}
	}
	return nil
}

// isCondition reports whether a constraint has a value that a device must have.
func isCondition(raw json.RawMessage) bool {
	var members map[string]any
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	_, ideal := members["ideal"]
	return len(members) > 1 || len(members) == 1 && !ideal
}

// depth is how deep the brackets of a JSON text go.
func depth(raw []byte) (deepest int) {
	now := 0
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := d.Token()
		switch token {
		case json.Delim('{'), json.Delim('['):
			now++
			deepest = max(deepest, now)
		case json.Delim('}'), json.Delim(']'):
			now--
		}
		if err != nil {
			return deepest
		}
	}
}
