package erasure

import (
	"bytes"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/internal/call/conference"
)

// summaryPairs are the members of a summary that name one user.
var summaryPairs = [][2]string{{"userID", "alias"}, {"remoteUserID", "remoteAlias"}}

// Document is the document of a conference's summary after an erasure.
type Document struct {
	Text     []byte
	Changed  bool
	Sessions map[[16]byte]bool // of the user's participants
	IDs      *IDs              // with the names of these participants
}

// Document replaces the user's identifiers in the document of a conference's summary, and erases the content
// of the user's participants: those whose session is own, and those with an identifier or the pseudonym. All
// names of such a participant are the user's.
func (ids *IDs) Document(text []byte, own func(session [16]byte) bool, pseudonym string) (Document, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		return Document{Text: text, IDs: ids}, err
	}
	d := &documentEraser{ids: ids, names: map[string]string{}, pseudonym: pseudonym, sessions: map[[16]byte]bool{}}
	participants := list[map[string]any](document["participants"])
	for _, p := range participants {
		if d.isOwn(p, own) {
			d.erase(p)
		}
	}
	if len(d.names) > 0 {
		d.ids = NewIDs(d.names).over(d.ids)
	}
	d.walk(document)
	out := Document{text, d.changed, d.sessions, d.ids}
	var err error
	if d.changed {
		out.Text, err = json.Marshal(document)
	}
	return out, err
}

// documentEraser changes one document.
type documentEraser struct {
	ids       *IDs
	names     map[string]string // names of the user's participants; the value is the pseudonym
	pseudonym string
	sessions  map[[16]byte]bool // of the user's participants
	changed   bool
}

// list returns the elements of a JSON array that are of a type.
func list[T any](value any) (out []T) {
	all, _ := value.([]any)
	for _, one := range all {
		if typed, ok := one.(T); ok {
			out = append(out, typed)
		}
	}
	return out
}

// isOwn reports whether a participant is the user, and adds its session to sessions.
func (d *documentEraser) isOwn(p map[string]any, own func([16]byte) bool) bool {
	session, err := uuid.Parse(text(p["session"]))
	is := err == nil && own(session)
	for _, name := range append(list[string](p["userIDs"]), text(p["userID"]), text(p["alias"])) {
		_, found := d.ids.ID(name)
		is = is || found || name == d.pseudonym
	}
	if is && err == nil {
		d.sessions[session] = true
	}
	return is
}

func text(value any) string {
	out, _ := value.(string)
	return out
}

// erase erases the content of a participant, and adds its names to names.
func (d *documentEraser) erase(p map[string]any) {
	for _, name := range append(list[string](p["userIDs"]), text(p["userID"]), text(p["alias"])) {
		if name != "" && name != d.pseudonym {
			d.names[name] = d.pseudonym
		}
	}
	d.set(p, "userID", d.pseudonym)
	d.set(p, "alias", d.pseudonym)
	if len(list[string](p["userIDs"])) > 0 {
		p["userIDs"], d.changed = []any{}, true
	}
	for _, feedback := range list[map[string]any](p["feedback"]) {
		d.set(feedback, "comment", "")
	}
	d.eraseWords(p)
	for _, fabric := range list[map[string]any](p["fabrics"]) {
		d.eraseWords(fabric)
		d.set(fabric, "localAddress", "")
		if len(list[any](fabric["localAddresses"])) > 0 {
			fabric["localAddresses"], d.changed = []any{}, true
		}
		for _, stream := range list[map[string]any](fabric["streams"]) {
			d.set(stream, "usageLabel", "")
			if !word.MatchString(text(stream["codec"])) {
				d.set(stream, "codec", "")
			}
		}
	}
}

// eraseWords removes values that are not words of the protocol.
func (d *documentEraser) eraseWords(object map[string]any) {
	for member := range conference.SentWords {
		switch value := text(object[member]); {
		case value == "" || conference.IsWord(member, value):
		case member == "endReason":
			d.set(object, member, "terminated") // the value of an end without a reason
		default:
			d.set(object, member, "")
		}
	}
}

func (d *documentEraser) set(object map[string]any, member, value string) {
	if have, ok := object[member].(string); ok && have != value {
		object[member], d.changed = value, true
	}
}

// walk replaces identifiers in a value, recursively.
func (d *documentEraser) walk(value any) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			d.walk(one)
		}
	case map[string]any:
		d.object(value)
		for _, one := range value {
			d.walk(one)
		}
	}
}

func (d *documentEraser) object(object map[string]any) {
	for _, pair := range summaryPairs {
		if d.ids.pair(object, pair[0], pair[1]) {
			d.changed = true
			d.set(object, "comment", "") // of feedback
		}
	}
	for member, value := range object {
		if conference.IsWord(member, text(value)) {
			continue
		}
		if replaced, ok := d.ids.Text(text(value)); ok {
			object[member], d.changed = replaced, true
		}
		texts, _ := value.([]any)
		for i, one := range texts {
			if replaced, ok := d.ids.Text(text(one)); ok {
				texts[i], d.changed = replaced, true
			}
		}
	}
}
