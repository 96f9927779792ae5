package privacy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/pseudonym"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// The IDs of users. Each has a part, in lower case, that nothing else has.
const (
	ownName, ownAlias       = "Qxown Zoë", "qxali@x.example"
	remoteName, remoteAlias = "qxrem/Bob", "qxrea"
	rater, raterAlias       = "qxfee", "qxfea"
	renamed                 = "qxnew"
	customer                = ownAlias
)

// parts are those parts.
var parts = map[string]string{
	ownName: "qxown", ownAlias: "qxali", remoteName: "qxrem", remoteAlias: "qxrea", rater: "qxfee", raterAlias: "qxfea", renamed: "qxnew",
}

// users are forms that plant the IDs of a session's users in texts.
func users() (out []form) {
	user := func(name, alias string) map[string]any { return map[string]any{"userName": name, "aliasName": alias} }
	for _, text := range []string{ownName, ownAlias, remoteName, remoteAlias} {
		out = append(out, form{text: text, hello: ownName, user: renamed, ids: map[string]map[string]any{
			"Hello":    {"siteID": ownAlias, "additionalIDs": map[string]string{"customerID": customer}},
			"Fabric":   {"remoteUserID": user(remoteName, remoteAlias)},
			"Feedback": {"userID": user(rater, raterAlias)},
		}})
	}
	return out
}

// With hash no ID of a user is in anything that the collector writes, whatever field of whatever message has it: the
// store's files, the API, the metrics, the webhooks, the spans and the log. With plain the same search finds each. A
// search by the ID finds the same conferences in both.
//
// spec: PRIV-02, API-06
func TestUserIDs(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"hash", "plain"} {
		t.Run(mode, func(t *testing.T) {
			key := strings.Repeat("k", pseudonym.KeyBytes)
			d := deploy(t, "keep", fmt.Sprintf(", user_ids: %s, user_id_keys: [{key: %q}]", mode, base64.StdEncoding.EncodeToString([]byte(key))))
			d.user = protocol.UserID{Name: ownName, Alias: ownAlias}
			for i, f := range users() {
				d.talk(d.session(f, fmt.Sprint("talk", i, "-")))
				d.post(d.session(f, fmt.Sprint("post", i, "-")))
			}
			rooms := 4 * len(users())
			d.pages(rooms)
			answers := d.searches(rooms)
			all := d.written(rooms)
			all["search"] = answers
			id := pseudonym.New(harness.AppID, []byte(key)).ID
			if mode == "plain" {
				checkUsersFound(t, d.planted, all, id)
				return
			}
			for name, text := range all {
				text = strings.ToLower(text)
				for _, part := range parts {
					if i := strings.Index(text, part); i >= 0 {
						require.Fail(t, "an ID is left", "%s has %q: %q", name, part, text[max(0, i-200):min(len(text), i+80)])
					}
				}
			}
			for plain := range parts {
				require.Contains(t, all["log"], id(plain))
			}
			for _, p := range d.planted {
				require.Equal(t, !unread[p.field], strings.Contains(all["log"], marker(p.field)+" at "), p.field)
			}
		})
	}
}

// searches returns the answers to searches by each ID, which have all conferences in which it is.
func (d *deployment) searches(rooms int) string {
	var text strings.Builder
	for plain, terms := range map[string][]string{
		ownName: {"user", "q"}, ownAlias: {"user", "q", "additional"}, remoteName: {"user", "q"}, remoteAlias: {"user"}, renamed: {"user"},
	} {
		for _, term := range terms {
			answer := d.get("http://" + d.dashboard + "/api/conferences?" + url.Values{term: {plain}, "limit": {"200"}}.Encode())
			var list struct{ Conferences []json.RawMessage }
			require.NoError(d.t, json.Unmarshal([]byte(answer), &list))
			want := rooms
			if plain == renamed { // by the events of the conference that does not fail
				want = rooms / 2
			}
			if plain == ownName || plain == remoteName { // the dashboard does not show real names
				want = 0
			}
			require.Len(d.t, list.Conferences, want, "%s=%s", term, plain)
			text.WriteString(answer)
		}
	}
	return text.String()
}

// checkUsersFound proves that the search finds what is kept, and no pseudonym is made.
func checkUsersFound(t *testing.T, all []planted, written map[string]string, id func(string) string) {
	t.Helper()
	for _, p := range all {
		require.Equal(t, !unread[p.field], strings.Contains(written["log"], p.text), "%v", p)
	}
	for plain := range maps.Keys(parts) {
		require.Contains(t, written["log"], plain)
		require.NotContains(t, written["log"], id(plain))
	}
	require.Contains(t, written["api"], ownAlias)
	require.Contains(t, written["search"], ownAlias)
}
