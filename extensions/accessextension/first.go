package accessextension

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// Kinds of settings.
const (
	kindUser  = "user"
	kindToken = "apiToken"
	kindLink  = "signInLink"
)

// linkFor is how long a link signs in.
const linkFor = 15 * time.Minute

// first makes the first administrator where there is no user. The password is printed before the user is
// written: a process that ends between the two loses no password, and the next start makes another one.
func (k *keeper) first(ctx context.Context) error {
	users, err := k.settings.SettingsPage(ctx, kindUser, "", 1)
	if err != nil || len(users) > 0 {
		return err
	}
	password := access.NewPassword()
	hash, err := k.passwords.Hash(ctx, access.Applicant{}, password)
	if err != nil {
		return err
	}
	now := k.now().UTC().Truncate(time.Millisecond)
	u := access.User{
		Roles: []access.Role{access.Admin, access.Support}, Scope: access.Scope{All: true},
		Password: hash, MustChange: true, Generation: 1, CreatedAt: now, PasswordAt: now,
	}
	_, err = fmt.Fprintf(k.out, "\n  qos: the first administrator of the dashboard\n    user      %s\n    password  %s\n"+
		"  The password is printed this once. It must be changed at the first sign-in.\n\n", k.cfg.FirstAdmin, password)
	if err != nil {
		return err
	}
	_, err = k.putUser(ctx, k.cfg.FirstAdmin, u, 0)
	if errors.Is(err, storage.ErrConflict) { // another collector has just made it
		_, err = fmt.Fprint(k.out, "\n  qos: another collector has made the first administrator at the same time.\n"+
			"  The password above is not valid: use the one that the other collector has printed.\n\n")
	}
	return err
}

// link is a document of the store: a token that signs in once.
type link struct {
	User  string    `json:"user"`
	Until time.Time `json:"until"`
}

// printLink prints a link that signs in as the first administrator, where it is configured.
func (k *keeper) printLink(ctx context.Context) error {
	if k.cfg.SignInURL == "" {
		return nil
	}
	token, now := access.NewToken(), k.now().UTC()
	body, err := json.Marshal(link{User: k.cfg.FirstAdmin, Until: now.Add(linkFor)})
	if err != nil {
		return err
	}
	id := hex.EncodeToString(access.Digest(token))
	if _, err := k.settings.PutSetting(ctx, storage.Setting{Kind: kindLink, ID: id, ChangedAt: now, Body: body}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(k.out, "\n  qos: this link signs in as %s, once, within %.0f minutes\n    %s/signin/link?token=%s\n\n",
		k.cfg.FirstAdmin, linkFor.Minutes(), strings.TrimSuffix(k.cfg.SignInURL, "/"), token)
	return err
}

// useLink returns the user of a link, which is used up; empty where it signs in nobody.
func (k *keeper) useLink(ctx context.Context, token string) (string, error) {
	digest := access.Digest(token)
	if digest == nil {
		return "", nil
	}
	id := hex.EncodeToString(digest)
	s, err := k.settings.Setting(ctx, kindLink, id)
	if err == nil {
		err = k.settings.DeleteSetting(ctx, kindLink, id, s.Revision)
	}
	if errors.Is(err, storage.ErrNoSetting) || errors.Is(err, storage.ErrConflict) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var l link
	if err := json.Unmarshal(s.Body, &l); err != nil || k.now().After(l.Until) {
		return "", nil // a link that cannot be read signs in nobody
	}
	return l.User, nil
}

// forgetLinks deletes links that have ended.
func (k *keeper) forgetLinks(ctx context.Context, now time.Time) error {
	links, err := k.settings.SettingsPage(ctx, kindLink, "", 0)
	for i := range links {
		var l link
		if fault := json.Unmarshal(links[i].Body, &l); fault == nil && now.Before(l.Until) {
			continue
		}
		fault := k.settings.DeleteSetting(ctx, kindLink, links[i].ID, links[i].Revision)
		if fault != nil && !errors.Is(fault, storage.ErrNoSetting) && !errors.Is(fault, storage.ErrConflict) {
			err = errors.Join(err, fault)
		}
	}
	return err
}

// readUser returns a user and the revision of the document, or storage.ErrNoSetting.
func (k *keeper) readUser(ctx context.Context, name string) (u access.User, revision int64, err error) {
	s, err := k.settings.Setting(ctx, kindUser, name)
	if err != nil {
		return u, 0, err
	}
	if u, err = access.DecodeUser(s.Body); err != nil {
		return u, 0, fmt.Errorf("user %s: %w", name, err)
	}
	return u, s.Revision, nil
}

// putUser writes a user in place of a revision; 0: where there is none.
func (k *keeper) putUser(ctx context.Context, name string, u access.User, revision int64) (int64, error) {
	if err := u.Check(); err != nil {
		return 0, err
	}
	body, err := u.Encode()
	if err != nil {
		return 0, err
	}
	return k.settings.PutSetting(ctx, storage.Setting{Kind: kindUser, ID: name, Revision: revision, ChangedAt: k.now().UTC(), Body: body})
}
