package event

import "encoding/json"

// MaxUserIDBytes bounds each name of a user: 128 characters of UTF-8 at most.
const MaxUserIDBytes = 512

// User is the two names of a user: the real one for support roles, the alias for all others.
type User struct{ Name, Alias string }

// ParseUser reads a userID as docs/protocol.md, section 3.1, has it: a string, which is its own
// alias, or an object with aliasName and perhaps userName. Names longer than MaxUserIDBytes are
// cut. It returns false for what is no userID; an object without aliasName is none, for a real
// name never takes the alias's place.
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

// Naming is what an event calls a user.
type Naming struct {
	User User
	// Of says whom the event names: "local", the session's own user, or "remote", the fabric's
	// remote end, of whom both are called something else from then on; or Claimed. It is empty for
	// the owner of a stream, and where the event does not say.
	Of string
}

// Claimed is Naming.Of of a user ID that a page gave beside the one that an origin server signed (ClaimedUserID). It
// renames nobody, and no conference is found by it.
const Claimed = "claimed"

// ClaimedUserID is the member of a userIDChange that has such an ID, in place of newUserID and userIDType.
const ClaimedUserID = "claimedUserID"

// Names reads the data of an event that may name a user; of others it returns an empty Naming,
// and where there is no userID an empty User.
func Names(name string, data []byte) (n Naming) {
	var raw struct {
		UserIDType    string          `json:"userIDType"`
		NewUserID     json.RawMessage `json:"newUserID"`
		UserID        json.RawMessage `json:"userID"`
		ClaimedUserID json.RawMessage `json:"claimedUserID"`
	}
	switch name {
	case "userIDChange":
		_ = json.Unmarshal(data, &raw) // what is no JSON names nobody
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
