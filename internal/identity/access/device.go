package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// DeviceCookie is the name, without prefix, of the cookie of a device on which a user has signed in (OWASP, "Slow
// down online guessing attacks with device cookies"). It proves no login. Wrong passwords on such a device have a
// limit of their own, so a stranger who guesses elsewhere does not lock its user out.
const DeviceCookie = "qos-device"

// Bounds of the cookies of devices.
const (
	// DeviceLife is how long a device is known after a sign-in.
	DeviceLife = 90 * 24 * time.Hour
	// deviceKeyLife is how long a key makes cookies. It verifies them for DeviceLife longer.
	deviceKeyLife = 30 * 24 * time.Hour
	// deviceSkew is by how much the clocks of collectors may differ.
	deviceSkew = 5 * time.Minute
	// maxDeviceKeys bounds the keys that are kept.
	maxDeviceKeys  = 1 + int((DeviceLife+deviceKeyLife)/deviceKeyLife)
	deviceKeyBytes = 32
)

// Parts of a cookie, in bytes: the time of the sign-in in seconds, a random ID, the digest of the user, and the
// signature of all of them.
const (
	deviceTime = 8
	deviceID   = 16
	deviceUser = 16
	deviceSum  = sha256.Size
	deviceSize = deviceTime + deviceID + deviceUser + deviceSum
)

// DeviceKeys sign the cookies of devices, the newest first. All collectors of a store have the same. The zero value
// has none: no device is known, and none becomes known.
type DeviceKeys struct {
	Keys []DeviceKey `json:"keys"`
}

// DeviceKey is one key.
type DeviceKey struct {
	Key    []byte    `json:"key"`
	MadeAt time.Time `json:"madeAt"`
}

// Rotated returns the keys as they must be at a time, and whether they differ: a new one every 30 days, none that
// verifies no cookie any more.
func (d DeviceKeys) Rotated(now time.Time) (next DeviceKeys, changed bool) {
	if len(d.Keys) > 0 && now.Sub(d.Keys[0].MadeAt) < deviceKeyLife {
		return d, false
	}
	key := make([]byte, deviceKeyBytes)
	_, _ = rand.Read(key) // never fails
	next.Keys = []DeviceKey{{Key: key, MadeAt: now.UTC().Truncate(time.Second)}}
	for _, old := range d.Keys {
		if len(next.Keys) < maxDeviceKeys && now.Sub(old.MadeAt) < deviceKeyLife+DeviceLife {
			next.Keys = append(next.Keys, old)
		}
	}
	return next, true
}

// NewCookie returns the value of a cookie for a device on which a user has just signed in; empty without a key.
// Each sign-in makes another one.
func (d DeviceKeys) NewCookie(user string, now time.Time) string {
	if len(d.Keys) == 0 {
		return ""
	}
	value := binary.BigEndian.AppendUint64(make([]byte, 0, deviceSize), uint64(max(0, now.Unix())))
	value = value[:deviceTime+deviceID]
	_, _ = rand.Read(value[deviceTime:]) // never fails
	key := d.Keys[0].Key
	value = append(value, deviceDigest(key, user)...)
	return base64.RawURLEncoding.EncodeToString(append(value, deviceMAC(key, "cookie", value)...))
}

// Device returns the ID of the device that has a cookie, if the user signed in there in the last 90 days; else it is
// empty.
func (d DeviceKeys) Device(cookie, user string, now time.Time) string {
	value, err := base64.RawURLEncoding.Strict().DecodeString(cookie)
	if err != nil || len(value) != deviceSize {
		return ""
	}
	signed, sum := value[:deviceSize-deviceSum], value[deviceSize-deviceSum:]
	for _, one := range d.Keys {
		if !hmac.Equal(deviceMAC(one.Key, "cookie", signed), sum) {
			continue
		}
		seconds := binary.BigEndian.Uint64(signed)
		at := time.Unix(int64(min(seconds, 1<<40)), 0)
		if now.Sub(at) >= DeviceLife || at.Sub(now) > deviceSkew || !hmac.Equal(deviceDigest(one.Key, user), signed[deviceTime+deviceID:]) {
			return ""
		}
		return string(signed[deviceTime:][:deviceID])
	}
	return ""
}

// deviceDigest names a user in a cookie. Without the key a name cannot be compared with it.
func deviceDigest(key []byte, user string) []byte {
	return deviceMAC(key, "user", []byte(user))[:deviceUser]
}

func deviceMAC(key []byte, purpose string, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte("qos device " + purpose + "\x00")) // a hash does not fail
	_, _ = h.Write(text)
	return h.Sum(nil)
}

// WriteDevice gives a browser the cookie of a device.
func WriteDevice(w http.ResponseWriter, r *http.Request, value string) {
	writeCookie(w, r, DeviceCookie, value, int(DeviceLife/time.Second))
}

// Encode returns the document of the store.
func (d DeviceKeys) Encode() ([]byte, error) { return json.Marshal(d) }

// DecodeDeviceKeys reads a document. It returns an error if a key is shorter than 32 bytes, or if there are too many.
func DecodeDeviceKeys(body []byte) (d DeviceKeys, err error) {
	if err := json.Unmarshal(body, &d); err != nil {
		return DeviceKeys{}, fmt.Errorf("keys of devices: %w", err)
	}
	for _, one := range d.Keys {
		if len(one.Key) < deviceKeyBytes {
			return DeviceKeys{}, errors.New("keys of devices: one is too short")
		}
	}
	if len(d.Keys) > maxDeviceKeys {
		return DeviceKeys{}, errors.New("keys of devices: there are too many")
	}
	return d, nil
}
