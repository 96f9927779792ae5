package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// post sends a third-party token, and returns the answer.
func post(t *testing.T, c *harness.Collector, token string) (status int, answer any) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"type": "jwt", "appID": "third", "userID": "alice", "jwt": token})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL()+"auth", strings.NewReader(string(body)))
	require.NoError(t, err)
	req.Header.Set("Origin", harness.Origin)
	resp, err := newHTTP().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "*", resp.Header.Get("Access-Control-Allow-Origin"))
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	answer, err = protocol.DecodeServer(text)
	require.NoError(t, err)
	return resp.StatusCode, answer
}

// thirdParty starts a collector with an application whose origin server signs tokens, and returns what signs them.
func thirdParty(t *testing.T, more string) (c *harness.Collector, sign func(jti, user string) string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	require.NoError(t, err)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	dir := t.TempDir()
	c = harness.NewCollector(t, harness.Options{
		Storage: harness.SQLite(dir),
		Apps: fmt.Sprintf(`{key_file: %q, apps: [{id: third, single_use: true, origins: [%q], keys: [{key_id: k1, algorithm: ES256, public_key: %q}]}]}`,
			dir+"/key", harness.Origin, public),
		More: more,
	})
	c.Start()
	return c, func(jti, user string) string {
		token, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
			"appID": "third", "userID": user, "keyID": "k1", "jti": jti,
			"iat": time.Now().Unix(), "exp": time.Now().Add(5 * time.Minute).Unix(),
		}).SignedString(private)
		require.NoError(t, err)
		return token
	}
}

// A key of the configuration admits those whom its origin server names, each token once.
//
// spec: AUTH-04, AUTH-05
func TestThirdPartyTokens(t *testing.T) {
	t.Parallel()
	c, sign := thirdParty(t, "")
	once := sign("1", "alice")
	status, answer := post(t, c, once)
	require.Equal(t, http.StatusOK, status, "%+v", answer)
	grant := answer.(*protocol.TokenReply)
	speak(t, c, grant.Token, grant.Session, 0).says()

	for name, token := range map[string]string{"replayed": once, "of another": sign("2", "mallory"), "without a jti": sign("", "alice")} {
		status, answer = post(t, c, token)
		require.Equal(t, http.StatusUnauthorized, status, name)
		require.Equal(t, protocol.CodeAuthFailed, answer.(*protocol.Refusal).Code, name)
	}
	status, _ = post(t, c, sign("3", "alice"))
	require.Equal(t, http.StatusOK, status)
}

// Whatever a page writes, no list, count or page has the call of a signed user as that of another one.
//
// spec: AUTH-04, API-06
func TestSignedUserWritesAsNobodyElse(t *testing.T) {
	t.Parallel()
	dashboard := harness.FreeAddress(t)
	c, sign := thirdParty(t, fmt.Sprintf(`
extensions: {qosdashboard: {endpoint: %q, storage: qosstorage}}
service: {extensions: [healthcheckv2, qosapps, qosstorage, qosdashboard]}
`, dashboard))
	_, answer := post(t, c, sign("1", "alice"))
	grant := answer.(*protocol.TokenReply)
	s := speak(t, c, grant.Token, grant.Session, 0)
	for _, data := range []string{
		`{"userIDType":"local","newUserID":"victim"}`, `{"userIDType":"local","claimedUserID":"victim"}`, `{"UserIDType":"local","NewUserID":"victim","userIDType":"local"}`,
		`{"userIDType":"local","newUserID":{"userName":"someone","aliasName":"victim"}}`, `{"userIDType":"local","newUserID":{"userName":"alice","aliasName":"victim"}}`,
	} {
		s.sends(`"type":"event","fabric":1,"event":"userIDChange","data":` + data)
	}
	s.sends(`"type":"feedback","fabric":1,"userID":"victim","overall":1`)
	s.sends(`"type":"event","fabric":1,"event":"fabricTerminated","data":{"reason":"application"}`)

	read := func(path string) string {
		t.Helper()
		resp, err := newHTTP().Get("http://" + dashboard + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, resp.StatusCode, string(text))
		return string(text)
	}
	require.Eventually(t, func() bool { return strings.Contains(read("/api/conferences?user=alice"), `"outcome"`) }, harness.Patience, 50*time.Millisecond)
	for path, nothing := range map[string]string{
		"/api/conferences?user=victim": `"conferences":[]`, "/api/conferences?q=victim": `"conferences":[]`, "/api/user?app=third&user=victim": `"calls":[]`,
	} {
		require.Contains(t, read(path), nothing)
	}
	require.NotContains(t, read("/api/conferences"), "victim")
	var page struct {
		Summary struct{ Participants []struct{ Alias string } }
	}
	require.NoError(t, json.Unmarshal([]byte(read("/api/conference?app=third&id=access&at="+strconv.FormatInt(time.Now().UnixMilli(), 10))), &page))
	require.Len(t, page.Summary.Participants, 1)
	require.Equal(t, "alice", page.Summary.Participants[0].Alias)
}
