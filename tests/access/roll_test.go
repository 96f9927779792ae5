package access

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

// masters is the configuration of qosapps with master keys of one letter each, newest
// first.
func masters(letters string) string {
	var keys []string
	for _, letter := range letters {
		keys = append(keys, fmt.Sprintf("{key: %q}", base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(letter), 32)))))
	}
	return fmt.Sprintf(`{keys: [%s], storage: qosstorage, apps: [{id: %s, secrets: [%s], origins: [%q]}]}`,
		strings.Join(keys, ", "), harness.AppID, harness.AppSecret, harness.Origin)
}

// salt is that which the server names for an AppID.
func salt(t *testing.T, c *harness.Collector, appID string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"type": "scram-first", "appID": appID, "userID": "alice", "scram": "n,,n=" + appID + ",r=abc"})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL()+"auth", bytes.NewReader(body))
	require.NoError(t, err)
	resp, err := newHTTP().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var reply struct{ Scram string }
	require.NoError(t, json.Unmarshal(answer, &reply), string(answer))
	_, rest, ok := strings.Cut(reply.Scram, ",s=")
	require.True(t, ok, string(answer))
	return rest
}

// A master key follows another one without anybody noticing: tokens, sessions and salts of
// before are good until the old key is taken away.
//
// spec: AUTH-01, AUTH-02
func TestMasterKeysRoll(t *testing.T) {
	t.Parallel()
	c := harness.NewCollector(t, harness.Options{Storage: harness.SQLite(t.TempDir()), Apps: masters("a")})
	c.Start()
	known, unknown := salt(t, c, harness.AppID), salt(t, c, "nobody")
	first, err := login(t, c, harness.AppID, harness.AppSecret, "alice")
	require.NoError(t, err)
	speak(t, c, first.Token, first.Session, 0).says()

	restart := func(letters string) {
		t.Helper()
		c.Stop()
		c.Configure(func(o *harness.Options) { o.Apps = masters(letters) })
		c.Start()
		require.Equal(t, known, salt(t, c, harness.AppID), letters)
		require.Equal(t, unknown, salt(t, c, "nobody"), letters)
	}
	restart("ba")
	speak(t, c, first.Token, first.Session, 1).says()
	second, err := login(t, c, harness.AppID, harness.AppSecret, "alice")
	require.NoError(t, err)
	speak(t, c, second.Token, first.Session, 2).says()

	restart("b")
	s, answer := hello(t, c, first.Token, first.Session, 3)
	s.refused(answer)
	s, answer = hello(t, c, second.Token, first.Session, 3)
	s.refused(answer)
	speak(t, c, second.Token, second.Session, 0).says()
}
