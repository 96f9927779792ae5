package qoswssreceiver

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/mask"
	"github.com/qosrtc/qos/internal/identity/pseudonym"
	"github.com/qosrtc/qos/protocol"
)

// users replaces user IDs by pseudonyms in the records of one session, if its application hashes them
// (docs/security.md). Members that hold an ID are replaced as a whole. In other texts the IDs are replaced that the
// session has mentioned before. A nil users replaces nothing.
type users struct {
	keys *pseudonym.Keys
	// known maps the IDs that texts are searched for to their pseudonyms; names searches the texts.
	known   map[string]string
	names   *mask.Names
	dropped func() // counts an ID that is beyond maxKnownUsers
}

// maxKnownUsers bounds the IDs of a session that texts are searched for: those of its own user, and of remote ends in
// the order of occurrence.
const maxKnownUsers = 64

// usersOf returns the users of a session of an app. If the app was just deleted, it hashes with a random key that is
// not kept.
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

// recordedAs reports whether an app's records have the IDs that u writes.
func (u *users) recordedAs(app auth.App) bool {
	if u == nil {
		return app.Recorded() == nil
	}
	return u.keys.Equal(app.Recorded())
}

// user returns a user with the IDs that records have.
func (u *users) user(user protocol.UserID) protocol.UserID {
	if u == nil {
		return user
	}
	return protocol.UserID{Name: u.id(user.Name), Alias: u.id(user.Alias)}
}

// id returns the pseudonym of an ID. Later texts are searched for the ID.
func (u *users) id(id string) string {
	if stored, ok := u.known[id]; ok {
		return stored
	}
	stored := u.keys.ID(id)
	switch {
	case !isSearched(id):
	case len(u.known) >= maxKnownUsers:
		u.dropped()
	default:
		id = strings.Clone(id) // a part of the frame's text, which is larger
		u.known[id] = stored
		u.names.Add(id, stored)
	}
	return stored
}

// wholeID returns the pseudonym of an application's ID that equals a user ID, and other IDs as they are.
func (u *users) wholeID(id string) string {
	if u == nil {
		return id
	}
	if stored, ok := u.known[id]; ok {
		return stored
	}
	return id
}

// maxGrowth bounds the growth of a text, in bytes.
const maxGrowth = 4 << 10

// text returns a text with every known ID replaced. The text is cut if it grows by more than maxGrowth.
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

// details replaces IDs in a text that may be a JSON object.
func (u *users) details(text string) string {
	if u == nil || text == "" {
		return text
	}
	return string(u.data([]byte(text)))
}

// data replaces IDs in a JSON object: members that hold a user ID as a whole, at any depth, and known IDs in all
// other texts and names of members. Data that is no object is treated as a text.
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
	u.collect(object, false)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // an escape would be longer
	if encoder.Encode(u.object(object, false)) != nil {
		return []byte("{}") // not reached: decoded values can be encoded
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}

// collect adds the user IDs in a JSON value to the known ones, so that all its texts are searched for them.
func (u *users) collect(value any, user bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			u.collect(member, user || holdsUser(name))
		}
	case []any:
		for _, one := range v {
			u.collect(one, user)
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

// object replaces IDs in an object. All texts in the value of a member that holds a user are IDs.
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

// measuredText replaces IDs in a value of a measurement, which may be a word of the protocol.
func (u *users) measuredText(value string) string {
	if u == nil {
		return value
	}
	return u.word(value)
}

// word replaces IDs in a text that is no word of the protocol.
func (u *users) word(text string) string {
	if words[text] {
		return text
	}
	return u.text(text)
}

// userMembers are the names of members that hold a user ID, in lower case: those of the protocol, and others that
// applications use in their own events.
var userMembers = map[string]bool{
	"userid": true, "username": true, "aliasname": true, "newuserid": true, "claimeduserid": true, "olduserid": true, "localuserid": true, "remoteuserid": true,
}

func holdsUser(member string) bool { return userMembers[strings.ToLower(member)] }

// Shorter IDs are not searched for in texts: they would be found in every second line of an SDP.
const (
	minSearched       = 3 // bytes
	minSearchedNumber = 5 // bytes of an ID that has digits only: shorter ones are ports, codes and payload types
)

// isSearched reports whether texts are searched for an ID.
func isSearched(id string) bool {
	if strings.Trim(id, "0123456789") == "" {
		return len(id) >= minSearchedNumber
	}
	return len(id) >= minSearched && strings.TrimSpace(id) != "" && !words[id]
}

// words are words of the protocol that may equal an ID. Texts are not searched for them: members that the server
// reads would be replaced.
var words = wordsOf(
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

// measures returns the names of the measures.
func measures() (names []string) {
	for m := range protocol.NumMeasures {
		names = append(names, m.String())
	}
	return names
}
