package protocol

// The words that members of a closed set may have, in the order of the documents.
var (
	FabricUsages           = []string{"multiplex", "audio", "video", "screen", "data", "unbundled"}
	EndpointTypes          = []string{"peer", "server"}
	TransmissionDirections = []string{"sendonly", "receiveonly", "sendrecv", "inactive"}
	StatsTypes             = []string{"inbound-rtp", "outbound-rtp", statsCandidatePair}
	MediaTypes             = []string{"audio", "video"}
	SDPFields              = []string{"localSDP", "remoteSDP"}
	Functions              = []string{
		"getUserMedia", "createOffer", "createAnswer", "setLocalDescription",
		"setRemoteDescription", "addIceCandidate", "iceConnectionFailure", "signalingError",
	}
)

// AdditionalIDKeys are the keys that additionalIDs may have (interface document 2.4).
var AdditionalIDKeys = []string{
	"customerID", "tenantID", "productName", "meetingsName", "serverName",
	"pbxID", "pbxExtensionID", "fqExtensionID", "sessionID",
}
