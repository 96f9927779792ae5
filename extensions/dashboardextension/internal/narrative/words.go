package narrative

import (
	"strings"
	"unicode"

	"github.com/qosrtc/qos/internal/call/detect"
)

var outcomes = map[string]string{
	"":                "Unknown",
	"success":         "Success: every connection came up",
	"partiallyFailed": "Partially failed: some connections came up, others never did",
	"dropped":         "Dropped: everyone was lost without leaving",
	"aborted":         "Aborted: everyone left while still connecting",
	"totallyFailed":   "Totally failed: no connection came up",
	"missed":          "Missed: nobody answered",
}

// causes are the sentences of the pages, too (web/js/words.js). {at} is the participant at whose end the cause lies, {peer} the other end.
var causes = map[string]string{
	"senderUplink":         "The network from {at} to everybody else",
	"receiverDownlink":     "The network from everybody else to {at}",
	"pathOrTurn":           "The network, or a relay, from {at} to {peer}",
	serverPath:             "The network between {at} and the media server, or the server",
	"mediaServer":          "The media server, or its network",
	"sendingMachineCpu":    "The machine of {at} is too busy to encode",
	"sendingCapture":       "Camera or microphone of {at}",
	"receivingMachine":     "The machine of {at} is too busy to play",
	"application":          "The application of {at}",
	"permissionsOrDevices": "Permissions or devices of {at}",
	"signalling":           "The signalling between {at} and {peer}",
	"iceConnectivity":      "No way between {at} and {peer}, or it went away",
	"unknown":              "Unknown: something was wrong, and nothing that was measured shows the cause",
	"none":                 "None: nothing was wrong",
}

// serverPath is the key of the words of pathOrTurn if one end is the media server.
const serverPath = "serverPath"

// titles are those whose kind does not read well in words.
var titles = map[detect.Kind]string{
	detect.HighRoundTripTime: "High round-trip time",
	detect.ICEDisruption:     "ICE disruption",
	detect.ICERestart:        "ICE restart",
	detect.CPULimited:        "Limited by the machine",
	detect.BandwidthLimited:  "Limited by the network",
	detect.BusyCodec:         "Coding takes most of the time",
	detect.DroppedFrames:     "Frames dropped before display",
	detect.LossBurst:         "Gaps in the sound",
	detect.ConcealedAudio:    "Audibly concealed sound",
	detect.HighJitterBuffer:  "Long delay in the jitter buffer",
	detect.KeyFrameStorm:     "Key frames asked for all the time",
	detect.RelayOverTCP:      "Relayed over TCP",
	detect.WeakWiFi:          "Weak Wi-Fi",
	detect.NoMedia:           "No media",
	detect.OneWayMedia:       "Media in one direction only",
	detect.NotPlayed:         "Sound that the page does not play",
}

var directions = map[string]string{"inbound": "received", "outbound": "sent"}

var endReasons = map[string]string{
	"application": "ended by the application",
	"closed":      "connection closed",
	"pagehide":    "page left",
	"replaced":    "replaced by another connection",
	"failed":      "ICE failed",
	"terminated":  "terminated by the application",
	"silence":     "went silent",
	"iceFailed":   "ICE failed",
}

var stages = map[string]string{
	"noRemoteDescription": "no answer came",
	"gathering":           "while gathering candidates",
	"connectivity":        "while checking connectivity",
	"dtls":                "in the DTLS handshake",
}

// wordOf returns the words of a value; the value itself where a newer collector wrote it.
func wordOf(words map[string]string, value string) string {
	if text, ok := words[value]; ok {
		return text
	}
	return clean(value)
}

func issueTitle(kind string) string {
	if title := titles[detect.Kind(kind)]; title != "" {
		return title
	}
	return inWords(clean(kind))
}

// inWords returns camelCase as words: highJitter becomes "High jitter".
func inWords(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case i == 0:
			b.WriteRune(unicode.ToUpper(r))
		case unicode.IsUpper(r):
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
