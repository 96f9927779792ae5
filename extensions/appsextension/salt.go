package appsextension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/qosrtc/qos/storage"
)

// What is kept of the installation itself.
const (
	kindInstallation = "installation"
	idSalt           = "salt"
)

// saltDocument holds the key that salts follow (auth.Keys.SaltKey). It is as open as the
// salts of the apps beside it.
type saltDocument struct {
	SaltKey []byte `json:"saltKey"`
}

// keepSalt returns the store's salt key, and keeps ours where it has none yet: verifiers
// are good with the salts that they were made with, however the master keys roll.
func keepSalt(ctx context.Context, settings storage.Settings, ours []byte, now time.Time) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	body, err := json.Marshal(saltDocument{SaltKey: ours})
	if err != nil {
		return nil, err
	}
	_, err = settings.PutSetting(ctx, storage.Setting{Kind: kindInstallation, ID: idSalt, ChangedAt: now, Body: body})
	if err == nil {
		return ours, nil
	}
	if !errors.Is(err, storage.ErrConflict) {
		return nil, err
	}
	kept, err := settings.Setting(ctx, kindInstallation, idSalt)
	if err != nil {
		return nil, err
	}
	var document saltDocument
	if err := json.Unmarshal(kept.Body, &document); err != nil || len(document.SaltKey) < 16 {
		return nil, fmt.Errorf("the setting %s/%s is damaged", kindInstallation, idSalt)
	}
	return document.SaltKey, nil
}
