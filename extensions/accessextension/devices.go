package accessextension

import (
	"context"
	"errors"
	"net/http"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// The setting that has the keys of devices.
const (
	kindDevices = "signInDevices"
	idDevices   = "keys"
)

// source is where an attempt of a user comes from.
func (k *keeper) source(r *http.Request, user string) access.Source {
	return access.Source{
		User: user, Network: access.Network(r, k.proxies),
		Device: k.devices.Load().Device(access.ReadCookie(r, access.DeviceCookie), user, k.now()),
	}
}

// signedIn is where a request of a visitor comes from. The login is a device that is known.
func (k *keeper) signedIn(v *access.Visitor) access.Source {
	return access.Source{User: v.Name, Device: "login " + v.Login}
}

// remember gives a browser on which a user has signed in the cookie of a known device.
func (k *keeper) remember(w http.ResponseWriter, r *http.Request, e entrant) {
	if e.user.Identity != nil {
		return // they have no password that can be guessed here
	}
	if value := k.devices.Load().NewCookie(e.name, k.now()); value != "" {
		access.WriteDevice(w, r, value)
	}
}

// readDevices reads the keys of devices, and makes the next one in time. A collector that another one preceded reads
// its key.
func (k *keeper) readDevices(ctx context.Context) error {
	for range writeTries {
		s, err := k.settings.Setting(ctx, kindDevices, idDevices)
		if err != nil && !errors.Is(err, storage.ErrNoSetting) {
			return err
		}
		var keys access.DeviceKeys
		if err == nil {
			if keys, err = access.DecodeDeviceKeys(s.Body); err != nil {
				return err
			}
		}
		now := k.now()
		next, changed := keys.Rotated(now)
		if changed {
			err = k.putDevices(ctx, next, s.Revision)
		}
		if err == nil {
			k.devices.Store(&next)
		}
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return storage.ErrConflict
}

func (k *keeper) putDevices(ctx context.Context, keys access.DeviceKeys, revision int64) error {
	body, err := keys.Encode()
	if err != nil {
		return err
	}
	_, err = k.settings.PutSetting(ctx, storage.Setting{Kind: kindDevices, ID: idDevices, Revision: revision, ChangedAt: k.now().UTC(), Body: body})
	return err
}
