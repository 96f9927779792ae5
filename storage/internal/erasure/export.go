package erasure

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"maps"
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Exporter prepares records and summaries of one conference for an export: it replaces identifiers of users other
// than the exported one by placeholders. It is not safe for concurrent use.
type Exporter struct {
	key    []byte
	own    map[string]bool   // the user's names in this conference
	others map[string]string // placeholders, by the names of others in this conference
}

// maxOthers bounds Exporter.others.
const maxOthers = 10_000

// NewKey returns a key for the placeholders of one export.
func NewKey() []byte { return random(keyBytes) }

// NewExporter returns an exporter. Exporters with the same key use the same placeholders.
func NewExporter(key []byte, own map[string]bool) *Exporter {
	return &Exporter{key, own, map[string]string{}}
}

// Other adds the names of another user, and returns the placeholder.
func (x *Exporter) Other(name, alias string) string {
	if alias == "" {
		alias = name
	}
	h := hmac.New(sha256.New, x.key)
	h.Write([]byte(alias))
	placeholder := "person-" + strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)[:10]))
	for _, one := range []string{name, alias} {
		if one != "" && !x.own[one] && len(x.others) < maxOthers {
			x.others[one] = placeholder
		}
	}
	return placeholder
}

// Note adds the other users that a record names.
func (x *Exporter) Note(attributes map[string]any) {
	for _, pair := range users {
		name, alias := text(attributes[pair[0]]), text(attributes[pair[1]])
		if (name != "" || alias != "") && !x.own[name] && !x.own[alias] {
			x.Other(name, alias)
		}
	}
	if claimed := text(attributes[semconv.FeedbackUserClaimed]); claimed != "" && !x.own[claimed] {
		x.Other(claimed, "")
	}
	named := event.Names(text(attributes[semconv.EventName]), []byte(text(attributes[semconv.EventData]))).User
	if named.Alias != "" && !x.own[named.Name] && !x.own[named.Alias] {
		x.Other(named.Name, named.Alias)
	}
}

// Record returns the attributes of a record of the user, with placeholders.
func (x *Exporter) Record(attributes map[string]any) map[string]any {
	x.Note(attributes)
	out := maps.Clone(attributes)
	NewIDs(x.others).Mention(out)
	return out
}

// Mention returns the attributes of another user's record that name the user, or all attributes of feedback that the
// user gave; nil without any.
func (x *Exporter) Mention(attributes map[string]any) map[string]any {
	marked := maps.Clone(attributes)
	own := map[string]string{}
	for name := range x.own {
		own[name] = name + "\x00"
	}
	if !NewIDs(own).Mention(marked) {
		return nil
	}
	all := x.Record(attributes)
	if x.own[text(attributes[semconv.FeedbackUserID])] || x.own[text(attributes[semconv.FeedbackUserAlias])] {
		return all
	}
	out := map[string]any{}
	for name, value := range marked {
		if value != attributes[name] {
			out[name] = all[name]
		}
	}
	return out
}

// Summary returns the part of a summary that is about the user: the times and the outcome of the conference,
// and the user's participants. It is nil if the user did not take part.
func (x *Exporter) Summary(document []byte, own func(session string) bool) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var all map[string]any
	if err := decoder.Decode(&all); err != nil {
		return nil, err
	}
	mine := []any{}
	for _, p := range list[map[string]any](all["participants"]) {
		if session, _ := p["session"].(string); own(session) {
			delete(p, "likelyCause") // it names sessions of others
			mine = append(mine, p)
		} else {
			x.Other(text(p["userID"]), text(p["alias"]))
		}
	}
	if len(mine) == 0 {
		return nil, nil
	}
	for _, p := range mine {
		x.noteAll(p)
	}
	d := &documentEraser{ids: NewIDs(x.others)}
	d.walk(mine)
	out := map[string]any{"participants": mine}
	for _, member := range []string{"startMs", "endMs", "durationMs", "revision", "outcome"} {
		out[member] = all[member]
	}
	return json.Marshal(out)
}

// noteAll adds the other users that a value names, recursively.
func (x *Exporter) noteAll(value any) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			x.noteAll(one)
		}
	case map[string]any:
		for _, pair := range summaryPairs {
			name, alias := text(value[pair[0]]), text(value[pair[1]])
			if (name != "" || alias != "") && !x.own[name] && !x.own[alias] {
				x.Other(name, alias)
			}
		}
		for _, former := range list[string](value["remoteUserIDs"]) {
			if !x.own[former] {
				x.Other(former, "")
			}
		}
		for _, one := range value {
			x.noteAll(one)
		}
	}
}
