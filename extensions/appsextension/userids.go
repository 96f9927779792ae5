package appsextension

import (
	"fmt"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/identity/pseudonym"
)

// StoredUserIDs returns the texts under which a store may have a user of an app: the ID itself, as records have
// it that were made before the app hashed user IDs, then its pseudonyms, that of the newest key first.
func (r *registry) StoredUserIDs(appID, userID string) []string {
	ids := []string{userID}
	if e, ok := r.now.Load().apps[appID]; ok {
		ids = append(ids, e.Auth.Pseudonyms.All(userID)...)
	}
	return ids
}

// PseudonymApps returns the apps that have pseudonyms of users, in ascending order, also those whose new records
// have plain IDs again. The answer is not to be changed.
func (r *registry) PseudonymApps() []string { return r.now.Load().hashing }

func (a *AppConfig) validateUserIDs(at string) error {
	switch a.UserIDs {
	case "", app.UserIDsPlain:
	case app.UserIDsHash:
		if len(a.UserIDKeys) == 0 {
			return fmt.Errorf("%s.user_id_keys: at least one is required where user_ids is hash; openssl rand -base64 32 makes one", at)
		}
	default:
		return fmt.Errorf("%s.user_ids must be plain or hash (got %q)", at, a.UserIDs)
	}
	if n := len(a.UserIDKeys); n > pseudonym.MaxKeys {
		return fmt.Errorf("%s.user_id_keys must have at most %d entries (got %d)", at, pseudonym.MaxKeys, n)
	}
	for i := range a.UserIDKeys {
		if err := a.UserIDKeys[i].validate(fmt.Sprintf("%s.user_id_keys[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}

// userIDs reads the keys of pseudonyms. A missing file is an error: a collector that made one would give each user
// another pseudonym than the others do.
func (d *declared) userIDs(a *app.App, c *AppConfig, at string) error {
	for i, key := range c.UserIDKeys {
		text, err := d.files.either(string(key.Key), key.File)
		if err != nil {
			return fmt.Errorf("%s.user_id_keys[%d].key_file: %w", at, i, err)
		}
		secret, err := parseKey(text)
		if err != nil {
			return fmt.Errorf("%s.user_id_keys[%d]: %w", at, i, err)
		}
		a.SetUserIDKey(c.ID, secret, d.vault)
	}
	return nil
}
