package turnrest

import (
	"strings"
	"testing"
	"time"

	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	secret = []byte(strings.Repeat("s", MinSecretBytes))
	now    = time.Date(2025, time.November, 20, 10, 0, 0, 1, time.UTC)
	expiry = time.Date(2025, time.November, 20, 11, 0, 1, 0, time.UTC)
)

// The credential is the one that the server library's own handler of the scheme expects.
func TestCredentialsAreThoseOfTheScheme(t *testing.T) {
	username, credential, expires := Credentials(secret, Test, "demo", "alice", time.Hour, time.Now())
	require.True(t, expires.After(time.Now()))
	handler := turn.LongTermTURNRESTAuthHandler(string(secret), nil)
	key, ok := handler(username, "realm", nil)
	require.True(t, ok)
	require.Equal(t, turn.GenerateAuthKey(username, "realm", credential), key)
}

// `printf %s USERNAME | openssl dgst -sha1 -hmac SECRET -binary | base64`
func TestPasswordVector(t *testing.T) {
	require.Equal(t, "7o+aOCwiUZxyAXEIdrGoF9JnOsg=", Password([]byte("north"), "1433895918:test:demo:u"))
}

func TestUsernameSaysWhatItIsFor(t *testing.T) {
	username, _, expires := Credentials(secret, Call, "a:b c/ü", "alice@example.com", time.Hour, now)
	require.Equal(t, expiry, expires.UTC())
	require.NotContains(t, username, "alice")
	claims, err := Parse(username)
	require.NoError(t, err)
	require.Equal(t, expiry, claims.Expires.UTC())
	require.Equal(t, Subject{Call, "a%3Ab+c%2F%C3%BC", claims.User}, claims.Subject)
	require.False(t, claims.Expired(expiry.Add(-time.Nanosecond)))
	require.True(t, claims.Expired(expiry))
}

func TestSubjectsDiffer(t *testing.T) {
	subject := func(secret []byte, kind Kind, app, user string, at time.Time) Subject {
		username, _, _ := Credentials(secret, kind, app, user, time.Hour, at)
		require.LessOrEqual(t, len(username), 509, "RFC 8489, 14.3")
		claims, err := Parse(username)
		require.NoError(t, err)
		return claims.Subject
	}
	base := subject(secret, Test, "app", "user", now)
	require.Equal(t, base, subject(secret, Test, "app", "user", now.Add(time.Minute)), "a later credential of the same user")
	long := strings.Repeat("ü", 128)
	seen := map[Subject]bool{base: true}
	for _, other := range []Subject{
		subject(secret, Call, "app", "user", now),
		subject(secret, Test, "app2", "user", now),
		subject(secret, Test, "ap", "puser", now),
		subject(secret, Test, "app", "user2", now),
		subject(secret, Test, "app", "", now),
		subject(secret, Test, long, "user", now),
		subject(secret, Test, long+"x", "user", now),
		subject([]byte("another"), Test, "app", "user", now),
	} {
		require.False(t, seen[other], other)
		seen[other] = true
	}
}

func TestParseRefuses(t *testing.T) {
	for _, username := range []string{
		"", "1:test:app", "1:test:app:user:more", ":test:app:user", "-1:test:app:user", "1:turn:app:user", "1:test::user", "1:test:app:",
		"x:test:app:user", "99999999999999:test:app:user", "1 :test:app:user",
	} {
		_, err := Parse(username)
		require.ErrorIs(t, err, errUsername, username)
	}
}

func FuzzParse(f *testing.F) {
	username, _, _ := Credentials(secret, Test, "demo", "alice", time.Hour, now)
	f.Add(username)
	f.Fuzz(func(t *testing.T, username string) {
		claims, err := Parse(username)
		require.Equal(t, err == nil, claims.Kind != "")
	})
}
