package protocol

// The kinds of reports (webrtc-stats). A candidate pair has no media type.
const (
	InboundRTP    = "inbound-rtp"
	OutboundRTP   = "outbound-rtp"
	CandidatePair = "candidate-pair"
)

// The media types of streams.
const (
	Audio = "audio"
	Video = "video"
)

// PreCallReasonOther replaces a reason that is not in PreCallReasons.
const PreCallReasonOther = "other"

// The values of enumerated members, in the order of the documents.
var (
	FabricUsages           = []string{"multiplex", "audio", "video", "screen", "data", "unbundled"}
	EndpointTypes          = []string{"peer", "server"}
	TransmissionDirections = []string{"sendonly", "receiveonly", "sendrecv", "inactive"}
	StatsTypes             = []string{InboundRTP, OutboundRTP, CandidatePair}
	MediaTypes             = []string{Audio, Video}
	SDPFields              = []string{"localSDP", "remoteSDP"}
	PreCallTriggers        = []string{"initialize", "makePrecallTest", "startPrecallTests"}
	PreCallStatuses        = []string{"success", "failure"}
	PreCallReasons         = []string{
		"badUrl", "nameNotResolved", "unreachable", "credentials", "noRelay", "relayBlocked", "tooSlow", "notTested",
		"roundTrip", "loss", "jitter", "throughput", PreCallReasonOther,
	}
	RelayProtocols = []string{"udp", "tcp", "tls"}
	Functions      = []string{
		"getUserMedia", "createOffer", "createAnswer", "setLocalDescription",
		"setRemoteDescription", "addIceCandidate", "iceConnectionFailure", "signalingError",
	}
)

// AdditionalIDKeys are the keys that additionalIDs may have (interface document 2.4).
var AdditionalIDKeys = []string{
	"customerID", "tenantID", "productName", "meetingsName", "serverName",
	"pbxID", "pbxExtensionID", "fqExtensionID", "sessionID",
}
