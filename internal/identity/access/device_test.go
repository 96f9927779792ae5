package access

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func deviceKeys(t *testing.T, now time.Time) DeviceKeys {
	t.Helper()
	keys, changed := DeviceKeys{}.Rotated(now)
	require.True(t, changed)
	body, err := keys.Encode()
	require.NoError(t, err)
	again, err := DecodeDeviceKeys(body)
	require.NoError(t, err)
	require.Equal(t, keys, again)
	return keys
}

// spec: DASH-03
func TestDeviceCookie(t *testing.T) {
	keys := deviceKeys(t, t0)
	cookie := keys.NewCookie("ada", t0)
	id := keys.Device(cookie, "ada", t0)
	require.Len(t, id, deviceID)
	require.Equal(t, id, keys.Device(cookie, "ada", t0.Add(DeviceLife-time.Second)))
	require.Empty(t, keys.Device(cookie, "ada", t0.Add(DeviceLife)))
	require.Equal(t, id, keys.Device(cookie, "ada", t0.Add(-deviceSkew)), "the clock of another collector")
	require.Empty(t, keys.Device(cookie, "ada", t0.Add(-deviceSkew-time.Second)))
	require.Empty(t, keys.Device(cookie, "bob", t0), "another user")
	require.NotContains(t, cookie, base64.RawURLEncoding.EncodeToString([]byte("ada")))
	second := keys.NewCookie("ada", t0)
	require.NotEqual(t, id, keys.Device(second, "ada", t0), "each sign-in makes another one")

	require.Empty(t, deviceKeys(t, t0).Device(cookie, "ada", t0), "another installation")
	require.Empty(t, DeviceKeys{}.Device(cookie, "ada", t0))
	require.Empty(t, DeviceKeys{}.NewCookie("ada", t0))
	raw, err := base64.RawURLEncoding.DecodeString(cookie)
	require.NoError(t, err)
	for i := range raw { // no byte can be changed
		raw[i] ^= 1
		require.Empty(t, keys.Device(base64.RawURLEncoding.EncodeToString(raw), "ada", t0), "byte %d", i)
		raw[i] ^= 1
	}
	for _, bad := range []string{"", "x", cookie[1:], cookie + "A", cookie + "=", cookie[:len(cookie)-4]} {
		require.Empty(t, keys.Device(bad, "ada", t0), bad)
	}
}

// Keys roll: a cookie is known for as long as it lives, and no key is kept for longer.
//
// spec: DASH-03
func TestDeviceKeysRoll(t *testing.T) {
	keys := deviceKeys(t, t0)
	cookies := map[time.Duration]string{}
	for at := time.Duration(0); at < 400*24*time.Hour; at += 24 * time.Hour {
		now := t0.Add(at)
		next, changed := keys.Rotated(now)
		require.Equal(t, at > 0 && at%deviceKeyLife == 0, changed, at)
		keys = next
		require.LessOrEqual(t, len(keys.Keys), maxDeviceKeys)
		for _, one := range keys.Keys {
			require.Less(t, now.Sub(one.MadeAt), DeviceLife+2*deviceKeyLife)
		}
		cookies[at] = keys.NewCookie("ada", now)
		for made, cookie := range cookies {
			require.Equal(t, at-made < DeviceLife, keys.Device(cookie, "ada", now) != "", "made at %v, now %v", made, at)
		}
	}
	for _, bad := range []string{``, `[]`, `{"keys":[{"key":"AAAA"}]}`} {
		_, err := DecodeDeviceKeys([]byte(bad))
		require.Error(t, err, bad)
	}
}

// FuzzDevice: no cookie makes a device known without the key.
func FuzzDevice(f *testing.F) {
	keys, _ := DeviceKeys{}.Rotated(t0)
	f.Add(keys.NewCookie("ada", t0), "bob")
	f.Add("", "ada")
	f.Fuzz(func(t *testing.T, cookie, user string) {
		require.Empty(t, keys.Device(cookie, user+"x", t0))
	})
}
