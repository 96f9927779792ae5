// Package userid reads the userIDs that events carry in their data. The fold, the store and the
// dashboard share it, so that all three agree on who a user is.
package userid

import (
	"encoding/json"
	"strings"
)

// MaxBytes bounds each name of a user: 128 characters of UTF-8 at most.
const MaxBytes = 512

// User is the two names of a user: the real one for support roles, the alias for all others.
type User struct{ Name, Alias string }

// Parse reads a userID as docs/protocol.md, section 3.1, has it: a string, which is its own
// alias, or an object with aliasName and perhaps userName. Names longer than MaxBytes are cut.
// It returns false for what is no userID; an object without aliasName is none, for a real name
// never takes the alias's place.
func Parse(raw []byte) (User, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		text = clip(text)
		return User{text, text}, text != ""
	}
	var object struct{ UserName, AliasName string }
	if json.Unmarshal(raw, &object) != nil || object.AliasName == "" {
		return User{}, false
	}
	u := User{clip(object.UserName), clip(object.AliasName)}
	if u.Name == "" {
		u.Name = u.Alias
	}
	return u, true
}

// Change is a userIDChange: what a user is called from that event on.
type Change struct {
	Remote bool // of the fabric's remote end; else of the session's own user
	User   User
}

// ParseChange reads the data of a userIDChange. It returns false where the data does not name a
// user, or does not say which of the two is meant.
func ParseChange(data []byte) (Change, bool) {
	var event struct {
		UserIDType string          `json:"userIDType"`
		NewUserID  json.RawMessage `json:"newUserID"`
	}
	if json.Unmarshal(data, &event) != nil || event.UserIDType != "local" && event.UserIDType != "remote" {
		return Change{}, false
	}
	user, ok := Parse(event.NewUserID)
	return Change{event.UserIDType == "remote", user}, ok
}

// clip returns a copy of s of at most MaxBytes, cut at a rune's edge.
func clip(s string) string {
	if len(s) > MaxBytes {
		s = strings.ToValidUTF8(s[:MaxBytes], "")
	}
	return strings.Clone(s)
}
