package protocol

// EventNumbers are the members of data in the client's own events whose values are numbers, booleans or null
// (docs/protocol.md, section 6).
var EventNumbers = []string{
	"alreadyConnected", "setupMs", "gatheringMs", "connectivityMs", "failureMs", "durationMs", "localCandidates", "measurementFollows", "ssrc",
	"signal", "rssi", "maxFramerate", "maxBitrate",
}

// EventWords are the members of data in the client's own events whose values are enumerated, and the values
// (docs/protocol.md, section 6). Events of applications may have other values.
var EventWords = map[string][]string{
	"localCandidateType":  candidateTypes,
	"remoteCandidateType": candidateTypes,
	"relayProtocol":       {"udp", "tcp", "tls"},
	"networkType":         {"bluetooth", "cellular", "ethernet", "vpn", "wifi", "wimax", "unknown", "none", "other", "mixed"},
	"stage":               {"noRemoteDescription", "gathering", "connectivity", "dtls"},
	"reason": {
		"application", "closed", "failed", "pagehide", "replaced", "terminated", // of an end
		"muted", "hidden", "unsubscribed", "server", "ended", "disabled", "noTrack", "stopped", "direction", "inactive", "system", // of a pause
	},
	"playout":            {"playing", "none", "refused"},
	"iceConnectionState": {"new", "checking", "connected", "completed", "disconnected", "failed", "closed"},
	"statsType":          {InboundRTP, OutboundRTP},
	"mediaType":          MediaTypes,
	"trackState":         {"live", "ended"},
	"userIDType":         {"local", "remote"},
	"codec": {
		"opus", "red", "VP8", "VP9", "H264", "H265", "AV1", "PCMU", "PCMA", "G722", "audio/opus", "audio/red", "audio/PCMU", "audio/PCMA", "audio/G722",
		"video/VP8", "video/VP9", "video/H264", "video/H265", "video/AV1",
	},
}

var candidateTypes = []string{"host", "srflx", "prflx", "relay"}
