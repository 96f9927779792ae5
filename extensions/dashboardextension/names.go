package dashboardextension

import (
	"encoding/json"
	"strings"
)

// names decides which names of users leave the collector: aliases always, real names only
// where the operator says so (requirement DASH-03).
type names struct{ real bool }

// Members that hold a real name.
var (
	// A userID in an event's data is a string, which is its own alias, or an object.
	hiddenInEvents = map[string]bool{"userName": true}
	// The summary has an alias beside each of these.
	hiddenInSummary = map[string]bool{"userID": true, "userIDs": true, "remoteUserID": true, "remoteUserIDs": true}
)

// name is the user's real name when it may be shown and says more than the alias.
func (n names) name(userName, alias string) string {
	if !n.real || userName == alias {
		return ""
	}
	return userName
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
		return text
	}
	if !n.real {
		hide(v, hidden)
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
