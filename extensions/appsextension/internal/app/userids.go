package app

import (
	"crypto/rand"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/identity/pseudonym"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// The values of userIDs: records have the IDs of users, or pseudonyms in their place.
const (
	UserIDsPlain = "plain"
	UserIDsHash  = "hash"
)

// userIDMode is the app's value of userIDs.
func (a *App) userIDMode() string {
	if a.UserIDs == "" {
		return UserIDsPlain
	}
	return a.UserIDs
}

// buildUserIDs opens the keys of pseudonyms. An app whose newest key cannot be opened admits nobody while its
// records must have pseudonyms.
func (a *App) buildUserIDs(id string, vault Sealer, b *Built) {
	var secrets [][]byte
	for i, sealed := range a.UserIDKeys {
		secret, err := openUserIDKey(id, sealed, vault)
		if err == nil {
			secrets = append(secrets, secret)
			continue
		}
		b.UserIDKeyUnusable = true
		b.Auth.Disabled = b.Auth.Disabled || i == 0 && a.UserIDs == UserIDsHash
	}
	if len(secrets) > 0 {
		b.Auth.Pseudonyms = pseudonym.New(id, secrets...)
	}
	b.Auth.HashUserIDs = a.UserIDs == UserIDsHash
	b.Auth.Disabled = b.Auth.Disabled || b.Auth.HashUserIDs && b.Auth.Pseudonyms == nil
}

func openUserIDKey(appID, sealed string, vault Sealer) ([]byte, error) {
	secret, _, err := vault.Open(userIDPurpose(appID), sealed)
	if err == nil && len(secret) < pseudonym.KeyBytes {
		err = limitError("be longer")
	}
	return secret, err
}

// pseudonyms returns the newest key of the app's pseudonyms.
func (a *App) pseudonyms(id string, vault Sealer) (*pseudonym.Keys, error) {
	secret, err := openUserIDKey(id, a.UserIDKeys[0], vault)
	if err != nil {
		return nil, &jsonobject.Fault{Field: "userIDs", Limit: "have a key that can be opened: bring back the master key that sealed it", Got: "one that cannot"}
	}
	return pseudonym.New(id, secret), nil
}

// SetUserIDKey adds a key of pseudonyms, behind those that the app has.
func (a *App) SetUserIDKey(id string, key []byte, vault Sealer) {
	a.UserIDKeys = append(a.UserIDKeys, vault.Seal(userIDPurpose(id), key))
}

// setUserIDs takes the member userIDs. An app that hashes needs it in each body: without it a script that does
// not know the member would make records with IDs again.
func (a *App) setUserIDs(mode, id string, vault Sealer) error {
	const member = "userIDs"
	switch {
	case mode == "" && a.UserIDs == UserIDsHash:
		return &jsonobject.Fault{Field: member, Limit: "be there: the app hashes user IDs", Got: "nothing"}
	case mode == "" || mode == UserIDsPlain:
		a.UserIDs = ""
		return nil
	case mode != UserIDsHash:
		return &jsonobject.Fault{Field: member, Limit: "be one of plain, hash", Got: strconv.QuoteToASCII(jsonobject.Clip(mode))}
	}
	a.UserIDs = UserIDsHash
	if len(a.UserIDKeys) == 0 {
		a.SetUserIDKey(id, newUserIDKey(), vault)
	}
	return a.hashRevoked(id, vault)
}

// hashRevoked replaces the users whose tokens are revoked by their pseudonyms.
func (a *App) hashRevoked(id string, vault Sealer) error {
	if len(a.RevokedUsers) == 0 {
		return nil
	}
	users := make(map[string]time.Time, len(a.RevokedUsers))
	for user, at := range a.RevokedUsers {
		recorded, err := a.recorded(id, user, vault)
		if err != nil {
			return err
		}
		if at.After(users[recorded]) {
			users[recorded] = at
		}
	}
	a.RevokedUsers = users
	return nil
}

// EraseRevoked replaces IDs of a user among those whose tokens are revoked by their pseudonyms, so that the revocation
// goes on without the name. An app that has no key of pseudonyms gets one for it.
func (a *App) EraseRevoked(id string, users []string, vault Sealer) error {
	if len(a.UserIDKeys) == 0 {
		a.SetUserIDKey(id, newUserIDKey(), vault)
	}
	keys, err := a.pseudonyms(id, vault)
	if err != nil {
		return err
	}
	left := maps.Clone(a.RevokedUsers)
	for _, user := range users {
		if at, revoked := left[user]; revoked && !pseudonym.Is(user) {
			delete(left, user)
			if id := keys.ID(user); at.After(left[id]) {
				left[id] = at
			}
		}
	}
	a.RevokedUsers = left
	return nil
}

// recorded returns a user ID as the app keeps it. A pseudonym, which pages show, stays what it is.
func (a *App) recorded(id, user string, vault Sealer) (string, error) {
	if a.UserIDs != UserIDsHash || pseudonym.Is(user) {
		return user, nil
	}
	keys, err := a.pseudonyms(id, vault)
	if err != nil {
		return "", err
	}
	return keys.ID(user), nil
}

// RotateUserIDKey makes a new key of pseudonyms: from then on each user has another one. The older keys find
// what they made.
func (a *App) RotateUserIDKey(id string, raw []byte, vault Sealer) error {
	if err := jsonobject.Decode(raw, &struct{}{}); err != nil {
		return err
	}
	if a.UserIDs != UserIDsHash {
		return &jsonobject.Fault{Field: "userIDs", Limit: "be hash: without pseudonyms there is no key", Got: a.userIDMode()}
	}
	if len(a.UserIDKeys) >= pseudonym.MaxKeys {
		return &jsonobject.Fault{Field: "userIDKeys", Limit: fmt.Sprintf("have at most %d entries", pseudonym.MaxKeys), Got: strconv.Itoa(len(a.UserIDKeys) + 1)}
	}
	a.UserIDKeys = append([]string{vault.Seal(userIDPurpose(id), newUserIDKey())}, a.UserIDKeys...)
	return nil
}

func newUserIDKey() []byte {
	key := make([]byte, pseudonym.KeyBytes)
	rand.Read(key)
	return key
}

func userIDPurpose(appID string) string { return "users\x00" + appID }
