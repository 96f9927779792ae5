package event

import "encoding/json"

// MaxUserIDBytes bounds each name of a user: 128 characters of UTF-8 at most.
const MaxUserIDBytes = 512

// User holds the two names of a user: the real one for support roles, the alias for all others.
type User struct{ Name, Alias string }

// ParseUser parses a userID (docs/protocol.md, section 3.1): a string, which is name and alias, or an
// object with aliasName and optionally userName. It truncates names to MaxUserIDBytes. It returns
// false if raw is no userID. An object without aliasName is none, since a real name MUST NOT be
// used as an alias.
func ParseUser(raw []byte) (User, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		text = Clip(text, MaxUserIDBytes)
		return User{text, text}, text != ""
	}
	var object struct{ UserName, AliasName string }
	if json.Unmarshal(raw, &object) != nil || object.AliasName == "" {
		return User{}, false
	}
	u := User{Clip(object.UserName, MaxUserIDBytes), Clip(object.AliasName, MaxUserIDBytes)}
	if u.Name == "" {
		u.Name = u.Alias
	}
	return u, true
}

// Naming is the name of a user in an event.
type Naming struct {
	User User
	// Of identifies the user: "local", the session's own user, or "remote", the fabric's remote end,
	// both of whom the event renames; or Claimed. It is empty for the owner of a stream, and where
	// the event does not have it.
	Of string
}

// Claimed is the Naming.Of of a user ID from the page in a session whose user ID an origin server signed (ClaimedUserID). It
// renames no user, and is no search term.
const Claimed = "claimed"

// ClaimedUserID is the member of a userIDChange with such an ID. It replaces newUserID and userIDType.
const ClaimedUserID = "claimedUserID"

// Names returns the name of a user in the data of an event. For events that name no user it returns an
// empty Naming, and without a valid userID an empty User.
func Names(name string, data []byte) (n Naming) {
	var raw struct {
		UserIDType    string          `json:"userIDType"`
		NewUserID     json.RawMessage `json:"newUserID"`
		UserID        json.RawMessage `json:"userID"`
		ClaimedUserID json.RawMessage `json:"claimedUserID"`
	}
	switch name {
	case "userIDChange":
		_ = json.Unmarshal(data, &raw) // invalid JSON names no user
		if len(raw.ClaimedUserID) > 0 {
			n.User, _ = ParseUser(raw.ClaimedUserID)
			n.Of = Claimed
			return n
		}
		n.User, _ = ParseUser(raw.NewUserID)
		if raw.UserIDType == "local" || raw.UserIDType == "remote" {
			n.Of = raw.UserIDType
		}
	case "associateMstWithUserID":
		_ = json.Unmarshal(data, &raw)
		n.User, _ = ParseUser(raw.UserID)
	}
	return n
}
