package access

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

const bearer = "a token of the test, of more than thirty-two bytes"

// managed is two collectors on one database. Both have the management API.
type managed struct {
	t          *testing.T
	collectors [2]*harness.Collector
	api        [2]string
}

func newManaged(t *testing.T) *managed {
	t.Helper()
	m := &managed{t: t}
	dsn, key := postgrestest.Shared(t).Database(t), filepath.Join(t.TempDir(), "key")
	for i := range m.collectors {
		address := harness.FreeAddress(t)
		m.api[i] = "http://" + address + "/api/v1/apps/"
		m.collectors[i] = harness.NewCollector(t, harness.Options{
			Storage: harness.Postgres(dsn),
			Apps: fmt.Sprintf(`{key_file: %q, storage: qosstorage, management: {endpoint: %q, tokens: [{name: test, token: %q}]}}`,
				key, address, bearer),
		})
		m.collectors[i].Start() // the first makes the key and the schema
	}
	return m
}

// ask calls the management API of one of the collectors.
func (m *managed) ask(at int, method, path, body string, status int) map[string]any {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), method, m.api[at]+path, strings.NewReader(body))
	require.NoError(m.t, err)
	req.Header.Set("Authorization", "Bearer "+bearer)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPut {
		req.Header.Set("If-None-Match", "*")
	}
	resp, err := newHTTP().Do(req)
	require.NoError(m.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(m.t, err)
	require.Equal(m.t, status, resp.StatusCode, string(text))
	answer := map[string]any{}
	if len(text) > 0 {
		require.NoError(m.t, json.Unmarshal(text, &answer), string(text))
	}
	return answer
}

// login waits until a collector has heard of the app.
func (m *managed) login(at int, secret, user string) *protocol.TokenReply {
	m.t.Helper()
	var grant *protocol.TokenReply
	require.Eventually(m.t, func() (ok bool) {
		var err error
		grant, err = login(m.t, m.collectors[at], "pages", secret, user)
		return err == nil
	}, harness.Patience, 100*time.Millisecond)
	return grant
}

// What one collector is asked to do holds at all: an app is made, a user's tokens are revoked, a
// secret is taken away, the app is deleted. Open connections end; those whom it does not
// concern go on.
//
// spec: AUTH-02, AUTH-05
func TestRevocationReachesEveryCollector(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	m.ask(0, http.MethodPut, "pages", fmt.Sprintf(`{"name":"Pages","origins":[%q]}`, harness.Origin), http.StatusCreated)
	made := m.ask(0, http.MethodPost, "pages/secrets", "", http.StatusCreated)
	other := m.ask(1, http.MethodPost, "pages/secrets", "", http.StatusCreated)
	secret, id := made["secret"].(string), made["id"].(string)

	alice := m.login(1, secret, "alice")
	bob := m.login(0, other["secret"].(string), "bob")
	here, there := speak(t, m.collectors[0], alice.Token, alice.Session, 0), speak(t, m.collectors[1], alice.Token, alice.Session, 0)
	bystander := speak(t, m.collectors[1], bob.Token, bob.Session, 0)
	for _, s := range []*speaker{here, there, bystander} {
		s.says()
	}

	m.ask(0, http.MethodPost, "pages/revoke", `{"user":"alice"}`, http.StatusOK)
	here.refused(here.hears())
	there.refused(there.hears())
	_, answer := hello(t, m.collectors[1], alice.Token, alice.Session, 1)
	here.refused(answer)
	bystander.says()

	again := m.login(0, secret, "alice")
	renewed := speak(t, m.collectors[1], again.Token, alice.Session, 1)
	renewed.says() // the session goes on under a token that was made afterwards

	m.ask(1, http.MethodDelete, "pages/secrets/"+id, "", http.StatusNoContent)
	renewed.refused(renewed.hears())
	require.Eventually(t, func() bool {
		_, err := login(t, m.collectors[0], "pages", secret, "alice")
		return err != nil
	}, harness.Patience, 100*time.Millisecond)
	bystander.says()
}
