package erasure

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// freeTexts are the attributes with texts of applications, users and browsers, which may contain an identifier as
// a word. Attributes that semconv does not define are also free texts.
var freeTexts = map[string]bool{
	semconv.ErrorName: true, semconv.ErrorMessage: true, semconv.ErrorCode: true, semconv.ErrorConstraintName: true, semconv.ErrorStack: true,
	semconv.ErrorLocalSDP: true, semconv.ErrorRemoteSDP: true, semconv.SDPText: true, semconv.FeedbackComment: true, semconv.FeedbackUserClaimed: true, semconv.LogText: true,
	semconv.EventName: true, semconv.ErrorFunction: true,
}

// measured are the measures that are texts: words of closed sets, which are not validated.
var textMeasures = func() map[string]bool {
	names := map[string]bool{}
	for m := range protocol.NumMeasures {
		if m.Info().Type == protocol.Text {
			names[semconv.Measure(m)] = true
		}
	}
	return names
}()

// users are the pairs of attributes that name a user.
var users = [][2]string{{semconv.RemoteUserID, semconv.RemoteUserAlias}, {semconv.FeedbackUserID, semconv.FeedbackUserAlias}}

// known are the attributes that semconv defines, except those that are defined by a prefix.
var knownAttributes = func() map[string]bool {
	names := map[string]bool{}
	for _, a := range semconv.Attributes {
		names[a.Name] = true
	}
	for m := range protocol.NumMeasures {
		names[semconv.Measure(m)] = true
	}
	return names
}()

// Mention replaces the user's identifiers in the attributes of another user's record, and reports whether it
// changed them.
func (ids *IDs) Mention(attributes map[string]any) (changed bool) {
	for _, pair := range users {
		named := ids.pair(attributes, pair[0], pair[1])
		if _, has := attributes[semconv.FeedbackComment]; named && has && pair[0] == semconv.FeedbackUserID {
			delete(attributes, semconv.FeedbackComment) // written by the user in another's session
		}
		changed = named || changed
	}
	set := func(name, text string, replaced bool) {
		if replaced {
			attributes[name], changed = text, true
		}
	}
	event, _ := attributes[semconv.EventName].(string)
	for name, value := range attributes {
		text, ok := value.(string)
		switch {
		case !ok || text == "":
		case name == semconv.EventData:
			text, replaced := ids.event(event, text)
			set(name, text, replaced)
		case name == semconv.ErrorDetails:
			text, replaced := ids.JSON(text)
			set(name, text, replaced)
		case freeTexts[name] || textMeasures[name] || !knownAttributes[name]:
			text, replaced := ids.Text(text)
			set(name, text, replaced)
		}
	}
	return changed
}

// pair replaces both names of a user if one of them is an identifier.
func (ids *IDs) pair(attributes map[string]any, name, alias string) bool {
	for _, one := range []string{name, alias} {
		text, _ := attributes[one].(string)
		replacement, found := ids.ID(text)
		if !found {
			continue
		}
		for _, each := range []string{name, alias} {
			if other, ok := attributes[each].(string); ok {
				ids.report(other)
				attributes[each] = replacement
			}
		}
		return true
	}
	return false
}

// event replaces identifiers in the data of an event. If one part of a userID is an identifier, it replaces
// the whole userID.
func (ids *IDs) event(name, data string) (string, bool) {
	member := map[string]string{"userIDChange": "newUserID", "associateMstWithUserID": "userID"}[name]
	var members map[string]json.RawMessage
	if member == "" || json.Unmarshal([]byte(data), &members) != nil {
		return ids.JSON(data)
	}
	user, ok := event.ParseUser(members[member])
	if !ok {
		return ids.JSON(data)
	}
	replacement, found := ids.ID(user.Name)
	if !found {
		replacement, found = ids.ID(user.Alias)
	}
	if !found {
		return ids.JSON(data)
	}
	ids.report(user.Name)
	ids.report(user.Alias)
	members[member] = json.RawMessage(quote(replacement))
	text, _ := json.Marshal(members) // each member was read from JSON
	replaced, _ := ids.JSON(string(text))
	return replaced, true
}

// keptTexts are the attributes whose texts remain in a record of the user: words of closed sets and names
// of other users.
var keptTexts = map[string]bool{
	semconv.FabricUsage: true, semconv.FabricDirection: true, semconv.RemoteEndpointType: true, semconv.RemoteUserID: true, semconv.RemoteUserAlias: true,
	semconv.StatsType: true, semconv.MediaType: true, semconv.OutOfRange: true, semconv.QualityLabel: true, semconv.QualityModel: true,
	semconv.QualityReason: true, semconv.QualityAssumed: true, semconv.QualityConfidence: true,
	semconv.ErrorFunction: true, semconv.SDPField: true, semconv.EventName: true,
}

// word matches the texts of measures: VP8, audio/opus.
var word = regexp.MustCompile(`^[A-Za-z0-9._/+-]{1,64}$`)

// errorName matches the names of DOMExceptions and JavaScript's errors.
var errorName = regexp.MustCompile(`^[A-Z][A-Za-z]{0,40}Error$`)

// Own erases the content of a record of the user: it removes texts that are not in keptTexts, and replaces identifiers
// in those that are. It reports whether it changed the attributes.
func (ids *IDs) Own(attributes map[string]any) (changed bool) {
	data, _ := attributes[semconv.EventData].(string)
	name, _ := attributes[semconv.EventName].(string)
	changed = ids.Mention(attributes)
	for key, value := range attributes {
		text, ok := value.(string)
		switch {
		case !ok || keptTexts[key], textMeasures[key] && word.MatchString(text), key == semconv.ErrorName && errorName.MatchString(text), key == semconv.FeedbackUserID, key == semconv.FeedbackUserAlias:
			continue
		case key == semconv.EventData:
			if kept := ids.ownEvent(name, data); kept != "" {
				changed = changed || kept != data
				attributes[key] = kept
				continue
			}
		}
		delete(attributes, key)
		changed = true
	}
	if name != "" && !keptEvents[name] {
		attributes[semconv.EventName] = erasedEvent
		changed = changed || name != erasedEvent
	}
	return changed
}

func setOf(list []string) map[string]bool {
	words := make(map[string]bool, len(list))
	for _, word := range list {
		words[word] = true
	}
	return words
}

// erasedEvent replaces the name of an event that the protocol does not define.
const erasedEvent = "customEvent"

// keptEvents are the events of the protocol (docs/protocol.md, section 6).
var keptEvents = setOf(strings.Fields(`fabricHold fabricResume audioMute audioUnmute videoPause videoResume fabricTerminated screenShareStart
		screenShareStop dominantSpeaker activeDeviceList fabricAdded remoteDescriptionSet fabricSetup fabricSetupFailed iceDisruptionStart iceDisruptionEnd
		iceRestart selectedCandidatePairChange streamAdded limitsChange playoutChange associateMstWithUserID userIDChange wifiStats callDetails customEvent customStats`))

// keptNumbers are the members of the data of the client's events whose numbers and booleans remain, and keptWords
// those whose words remain.
var keptNumbers, keptWords = setOf(protocol.EventNumbers), func() map[string]map[string]bool {
	words := make(map[string]map[string]bool, len(protocol.EventWords))
	for member, all := range protocol.EventWords {
		words[member] = setOf(all)
	}
	return words
}()

// ownEvent returns the part that remains of the data of an event of the user; empty: nothing.
func (ids *IDs) ownEvent(name, data string) string {
	var members map[string]json.RawMessage
	if !keptEvents[name] || strings.HasPrefix(name, "custom") || name == "callDetails" || json.Unmarshal([]byte(data), &members) != nil {
		return ""
	}
	naming := event.Names(name, []byte(data))
	for member, value := range members {
		owner := member == "userID" && name == "associateMstWithUserID" || member == "newUserID" && naming.Of == "remote"
		if !owner && !isKept(member, value) {
			delete(members, member)
		}
	}
	if len(members) == 0 {
		return "{}"
	}
	kept, _ := json.Marshal(members) // each member was read from JSON
	replaced, _ := ids.event(name, string(kept))
	return replaced
}

// isKept reports whether a member of the data of the user's event remains.
func isKept(member string, value json.RawMessage) bool {
	switch value[0] {
	case '{', '[':
		return false
	case '"':
		var text string
		return json.Unmarshal(value, &text) == nil && keptWords[member][text]
	}
	return keptNumbers[member] || keptWords[member] != nil && string(value) == "null"
}
