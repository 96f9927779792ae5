package qoswssreceiver

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/mask"
	"github.com/qosrtc/qos/internal/pseudonym"
	"github.com/qosrtc/qos/protocol"
)

// users replaces user IDs by pseudonyms in the records of one session, if its application hashes them
// (docs/security.md). Members that hold an ID are replaced whole. In other texts those IDs are found that the
// session has mentioned before. A nil users leaves all as it is.
type users struct {
	keys *pseudonym.Keys
	// known has the pseudonyms of the IDs that texts are searched for, names finds them.
	known   map[string]string
	names   *mask.Names
	dropped func() // counts an ID that is beyond maxKnownUsers
}

// maxKnownUsers bounds the IDs of a session that texts are searched for: those of its own user, and of remote
// ends in the order in which they occur.
const maxKnownUsers = 64

// usersOf returns what replaces user IDs in the records of a session of an app. An app that was deleted at this
// moment hashes with a key that nobody keeps.
func usersOf(apps registry, appID string, dropped func()) *users {
	app, known := apps.App(appID)
	keys := app.Recorded()
	if !known {
		secret := make([]byte, pseudonym.KeyBytes)
		rand.Read(secret)
		keys = pseudonym.New(appID, secret)
	}
	if keys == nil {
		return nil
	}
	return &users{keys: keys, known: map[string]string{}, names: mask.New(maxKnownUsers), dropped: dropped}
}

// recordedAs reports whether an app's records have what this makes of user IDs.
func (u *users) recordedAs(app auth.App) bool {
	if u == nil {
		return app.Recorded() == nil
	}
	return u.keys.Equal(app.Recorded())
}

// user returns a user as records have it.
func (u *users) user(user protocol.UserID) protocol.UserID {
	if u == nil {
		return user
	}
	return protocol.UserID{Name: u.id(user.Name), Alias: u.id(user.Alias)}
}

// id returns the pseudonym of an ID, for which later texts are searched.
func (u *users) id(id string) string {
	if stored, ok := u.known[id]; ok {
		return stored
	}
	stored := u.keys.ID(id)
	switch {
	case !searched(id):
	case len(u.known) >= maxKnownUsers:
		u.dropped()
	default:
		id = strings.Clone(id) // of the frame, which is larger
		u.known[id] = stored
		u.names.Add(id, stored)
	}
	return stored
}

// whole returns the pseudonym of an ID of the application that is the same as one of a user, and other IDs as
// they are.
func (u *users) whole(id string) string {
	if u == nil {
		return id
	}
	if stored, ok := u.known[id]; ok {
		return stored
	}
	return id
}

// maxGrowth bounds how much longer a text becomes, in bytes.
const maxGrowth = 4 << 10

// text returns a text with every known ID in it replaced. What is then beyond the limit is cut.
func (u *users) text(text string) string {
	if u == nil {
		return text
	}
	replaced := u.names.Text(text)
	if most := len(text) + maxGrowth; len(replaced) > most {
		return strings.ToValidUTF8(replaced[:most], "")
	}
	return replaced
}

// details replaces the IDs in a text that may be a JSON object.
func (u *users) details(text string) string {
	if u == nil || text == "" {
		return text
	}
	return string(u.data([]byte(text)))
}

// data replaces the IDs in a JSON object: members that hold a user ID whole, in whatever depth, and known IDs in
// all other texts and names of members. Data that is no object is treated as a text.
func (u *users) data(data []byte) []byte {
	if u == nil || len(data) == 0 {
		return data
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object map[string]any
	if decoder.Decode(&object) != nil || object == nil || decoder.More() {
		return []byte(u.text(string(data)))
	}
	u.learn(object, false)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // an escape is longer
	if encoder.Encode(u.object(object, false)) != nil {
		return []byte("{}") // what was decoded can be encoded
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}

// learn takes down the IDs in a value of JSON, so that all its texts are searched for them.
func (u *users) learn(value any, user bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			u.learn(member, user || holdsUser(name))
		}
	case []any:
		for _, one := range v {
			u.learn(one, user)
		}
	case string:
		if user {
			u.id(v)
		}
	case json.Number:
		if user {
			u.id(v.String())
		}
	}
}

// object replaces the IDs in an object. In the value of a member that holds a user all texts are IDs.
func (u *users) object(object map[string]any, user bool) map[string]any {
	out := make(map[string]any, len(object))
	for name, value := range object {
		out[u.word(name)] = u.value(name, value, user || holdsUser(name))
	}
	return out
}

func (u *users) value(name string, value any, user bool) any {
	switch v := value.(type) {
	case map[string]any:
		return u.object(v, user)
	case []any:
		for i := range v {
			v[i] = u.value(name, v[i], user)
		}
	case string:
		if user {
			return u.id(v)
		}
		return u.word(v)
	case json.Number:
		if user {
			return u.id(v.String())
		}
		if stored, ok := u.known[v.String()]; ok && name != "ssrc" && name != "value" {
			return stored
		}
	}
	return value
}

// measured is text for a value of a measurement.
func (u *users) measured(value string) string {
	if u == nil {
		return value
	}
	return u.word(value)
}

// word is text for one that may be a word of the protocol.
func (u *users) word(text string) string {
	if words[text] {
		return text
	}
	return u.text(text)
}

// userMembers are the names of members that hold a user ID, in lower case: those of the protocol, and others by
// which applications name them in their own events.
var userMembers = map[string]bool{ //nolint:gochecknoglobals // a constant
	"userid": true, "username": true, "aliasname": true, "newuserid": true, "claimeduserid": true, "olduserid": true, "localuserid": true, "remoteuserid": true,
}

func holdsUser(member string) bool { return userMembers[strings.ToLower(member)] }

// Shorter IDs are not searched for in texts: they would be found in every second line of an SDP.
const (
	minSearched       = 3 // bytes
	minSearchedNumber = 5 // bytes of an ID that has digits only: shorter ones are ports, codes and payload types
)

// searched reports whether texts are searched for an ID.
func searched(id string) bool {
	if strings.Trim(id, "0123456789") == "" {
		return len(id) >= minSearchedNumber
	}
	return len(id) >= minSearched && strings.TrimSpace(id) != "" && !words[id]
}

// words are words of the protocol that an ID may be by chance. Texts are not searched for them: members that the
// server reads would be lost.
var words = wordsOf( //nolint:gochecknoglobals // a constant
	protocol.FabricUsages, protocol.EndpointTypes, protocol.TransmissionDirections, protocol.StatsTypes, protocol.MediaTypes, protocol.SDPFields, protocol.Functions,
	measures(), protocol.EventNumbers, slices.Collect(maps.Keys(protocol.EventWords)), slices.Concat(slices.Collect(maps.Values(protocol.EventWords))...),
	[]string{"inbound", "outbound", "monitoring", "agent", "participant", "manager", "audioinput", "audiooutput", "videoinput"}, // further values
	[]string{ // further members
		"deviceList", "deviceId", "kind", "label", "groupId", "localAddress", "localAddresses", "cname", "msid", "trackIdentifier", "usageLabel",
		"associatedVideoTag", "timestamp", "interface", "noise", "addresses", "callType", "role", "name", "value", "events", "stats",
	},
	[]string{"Chrome", "Firefox", "Safari", "Mozilla"}, // what figures are computed by
)

func wordsOf(lists ...[]string) map[string]bool {
	all := map[string]bool{}
	for _, list := range lists {
		for _, word := range list {
			all[word] = true
		}
	}
	return all
}

// measures are the names of the measures.
func measures() (names []string) {
	for m := range protocol.NumMeasures {
		names = append(names, m.String())
	}
	return names
}
