package app

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/protocol"
)

// Revoke takes a revocation from a body: {"all": true}, everything made before now;
// {"before": time}, everything made before a time; {"user": name}, with or without
// before, what was made for one user, by userName or aliasName. It returns what was revoked
// in words. A revocation never moves back.
// An app that hashes user IDs keeps the user's pseudonym.
func (a *App) Revoke(id string, raw []byte, vault Sealer, now time.Time) (string, error) {
	var in struct {
		All    bool      `json:"all"`
		User   string    `json:"user"`
		Before time.Time `json:"before"`
	}
	if err := jsonobject.Decode(raw, &in); err != nil {
		return "", err
	}
	user, before := in.User, in.Before
	switch {
	case len(user) > protocol.MaxIDBytes:
		return "", checkLength("user", user, 0, protocol.MaxIDBytes)
	case before.After(now.Add(time.Minute)):
		return "", &jsonobject.Fault{Field: "before", Limit: "not lie in the future", Got: before.Format(time.RFC3339)}
	case in.All && (user != "" || !before.IsZero()):
		return "", &jsonobject.Fault{Field: "all", Limit: "stand alone", Got: "it beside others"}
	case !in.All && user == "" && before.IsZero():
		return "", &jsonobject.Fault{Field: "all", Limit: "be true, or user or before be there", Got: "none of the three"}
	}
	if before.IsZero() {
		before = roundUp(now)
	}
	if user != "" {
		user, err := a.recorded(id, user, vault)
		if err != nil {
			return "", err
		}
		return "user", a.revokeUser(user, before, now)
	}
	if before.After(a.RevokedBefore) {
		a.RevokedBefore = before
	}
	return "all", nil
}

// roundUp ends the second that now is in: tokens bear whole seconds, and one that was made
// a moment ago is to be revoked too.
func roundUp(now time.Time) time.Time { return now.UTC().Truncate(time.Second).Add(time.Second) }

// revokeUser forgets older revocations only for want of room: no session token is left that
// they could end, but third-party tokens may live longer, or for good.
func (a *App) revokeUser(user string, before, now time.Time) error {
	users := maps.Clone(a.RevokedUsers)
	if users == nil {
		users = map[string]time.Time{}
	}
	_, known := users[user]
	if !known && len(users) >= MaxRevokedUsers {
		maps.DeleteFunc(users, func(_ string, at time.Time) bool { return now.Sub(at) > RevocationLifetime })
	}
	if !known && len(users) >= MaxRevokedUsers {
		return &jsonobject.Fault{
			Field: "user", Limit: fmt.Sprintf("be one of at most %d that are revoked at a time: revoke all", MaxRevokedUsers),
			Got: strconv.Itoa(len(users) + 1),
		}
	}
	if before.After(users[user]) {
		users[user] = before
	}
	a.RevokedUsers = users
	return nil
}
