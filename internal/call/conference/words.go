package conference

import (
	"slices"

	"github.com/qosrtc/qos/protocol"
)

// SentWords are the members of a summary whose texts a page sent, with the words that the protocol has for them. Other texts there may have names of
// users.
var SentWords = map[string][]string{
	"usage":               protocol.FabricUsages,
	"codec":               protocol.EventWords["codec"],
	"failureStage":        protocol.EventWords["stage"],
	"failureReason":       protocol.EventWords["reason"],
	"endReason":           append([]string{EndSilence, EndICEFailed}, protocol.EventWords["reason"]...),
	"localCandidateType":  protocol.EventWords["localCandidateType"],
	"remoteCandidateType": protocol.EventWords["remoteCandidateType"],
	"relayProtocol":       protocol.EventWords["relayProtocol"],
	"networkType":         protocol.EventWords["networkType"],
}

// checked are the members whose texts the collector chose or checked, and those that identify something else than a user.
var checked = []string{
	"appID", "conferenceID", "session", "peer", "outcome", "label", "kind", "metric", "mediaType", "statsType", "direction", "state", "cause",
	"confidence",
}

// IsWord reports whether the text of a summary's member is a word of a closed set, or identifies something else than a user.
func IsWord(member, text string) bool {
	return slices.Contains(checked, member) || slices.Contains(SentWords[member], text)
}
