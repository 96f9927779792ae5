package readapi

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/identity/mask"
	"github.com/qosrtc/qos/storage"
)

// names decides which names of users leave the collector: aliases always, real names only
// for readers who may see them (requirement DASH-03).
type names struct {
	real     bool
	comments bool  // whether the text of feedback may be shown: it may quote a name
	masks    masks // the real names of the answer; none where they may be shown
}

// view is what the reader of one answer may see.
type view struct {
	names
	scope access.Scope
}

// view returns that of the visitor of a request, for one answer.
func (a *API) view(ctx context.Context) view {
	v := access.From(ctx)
	switch {
	case v != nil:
		support := v.Is(access.Support)
		return view{newNames(support, support), v.Scope}
	case a.open:
		return view{newNames(a.showNames, true), access.Scope{All: true}}
	}
	return view{names: newNames(false, false)}
}

func newNames(real, comments bool) names {
	if real {
		return names{real: true, comments: comments}
	}
	return names{comments: comments, masks: newMasks()}
}

// Members that hold a real name.
var (
	// A userID in an event's data is a string, which is its own alias, or an object.
	hiddenInEvents = map[string]bool{"userName": true}
	// The summary has an alias beside each of these.
	hiddenComments  = map[string]bool{"comment": true}
	hiddenInSummary = map[string]bool{"userID": true, "userIDs": true, "remoteUserID": true, "remoteUserIDs": true}
)

// name is the user's real name when it may be shown and says more than the alias. One that may not
// be shown is remembered, so that mask replaces it in texts.
func (n names) name(userName, alias string) string {
	if userName == alias {
		return ""
	}
	if !n.real {
		n.masks.Add(userName, alias)
		return ""
	}
	return userName
}

// of returns the real names of participants that must not be shown.
func (n names) of(people ...storage.Participant) masks {
	of := newNames(n.real, n.comments)
	of.participants(people)
	return of.masks
}

// hides reports whether one of some texts has a hidden real name of participants.
func (n names) hides(people []storage.Participant, texts ...string) bool {
	if n.real || strings.Join(texts, "") == "" {
		return false
	}
	hidden := n.of(people...)
	return slices.ContainsFunc(texts, func(text string) bool { return hidden.Text(text) != text })
}

// note remembers the real names of an event that may not be shown.
func (n names) note(e *event.Event) {
	if n.real {
		return
	}
	n.name(e.UserID, e.Alias)
	n.name(e.RemoteUser, e.RemoteAlias)
	if e.Data != nil {
		n.name(e.Data.UserID, e.Data.Alias)
	}
	if e.Feedback != nil {
		n.name(e.Feedback.UserID, e.Feedback.Alias)
	}
}

// document reads JSON and takes the hidden members out, unless real names may be shown.
// What is not JSON comes back as a string, so that nothing is lost and nothing breaks.
func (n names) document(text string, hidden map[string]bool) any {
	if text == "" {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil || decoder.More() {
		if !n.real && mentions(text, hidden) {
			return mask.Withheld
		}
		return text
	}
	if !n.real {
		hide(v, hidden)
	}
	return v
}

// encoded is document as JSON: decoded, small members take some sixty times as much memory as their text.
func (n names) encoded(text string, hidden map[string]bool) any {
	v := n.document(text, hidden)
	if v == nil {
		return nil
	}
	return encoded(v)
}

func encoded(document any) json.RawMessage {
	text, _ := json.Marshal(document) // what was decoded can be encoded
	return text
}

// mentions reports whether a text that is no JSON may have hidden members.
func mentions(text string, hidden map[string]bool) bool {
	for name := range hidden {
		if strings.Contains(text, `"`+name+`"`) {
			return true
		}
	}
	return false
}

// summary is document for a summary, which has the text of feedback, too.
func (n names) summary(text string) any {
	v := n.document(text, hiddenInSummary)
	if !n.comments {
		hide(v, hiddenComments)
	}
	return v
}

func hide(v any, hidden map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if hidden[key] {
				delete(v, key)
			} else {
				hide(member, hidden)
			}
		}
	case []any:
		for _, member := range v {
			hide(member, hidden)
		}
	}
}
