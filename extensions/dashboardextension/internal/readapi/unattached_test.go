package readapi

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

func unattachedRecord(seq uint64, name string, attrs map[string]any) storage.Record {
	return storage.Record{Seq: seq, ConferenceID: "standup", ConferenceAt: t0, Name: name, At: t0.Add(time.Duration(seq) * time.Second), Attributes: attrs}
}

// oneUnattached is a survey and a log of one session, with the cursor of a next page.
func oneUnattached() storage.UnattachedPage {
	return storage.UnattachedPage{
		Unattached: []storage.Unattached{{
			AppID: "demo", ConferenceID: "standup", At: t0, More: true,
			Session: storage.Session{ID: alice, AppID: "demo", UserID: "Alice Archer", UserAlias: "a-1"},
			Records: []storage.Record{
				unattachedRecord(1, semconv.EventFeedback, map[string]any{
					semconv.FeedbackUserID: "Alice Archer", semconv.FeedbackUserAlias: "a-1", semconv.FeedbackOverall: int64(2), semconv.FeedbackComment: "no sound",
				}),
				unattachedRecord(2, semconv.EventLog, map[string]any{semconv.LogText: "call ended: 486"}),
			},
		}},
		Next: storage.Cursor{Start: t0, Key: 7},
	}
}

// TestUnattachedAPI: what no conference owns is listed with its session and in the words of the
// time-line, real names only where they may be shown, by what the request asks for.
//
// spec: CONF-01, DASH-03
func TestUnattachedAPI(t *testing.T) {
	m := &memory{at: t0.Add(time.Hour), unattached: oneUnattached()}
	base := start(t, m, nil)
	var list unattachedList
	getJSON(t, base+"/api/unattached?app=demo&id=standup&from=1763702160000&to=1763702160001&limit=7", &list)
	require.Equal(t, storage.UnattachedQuery{AppID: "demo", ConferenceID: "standup", From: t0, To: t0.Add(time.Millisecond), Limit: 7}, m.unattachedQuery)
	overall := 2
	require.Equal(t, []unattached{{
		App: "demo", ID: "standup", AboutAt: t0.UnixMilli(), User: participant{Session: alice, User: "a-1"}, More: true,
		Entries: []entry{
			{At: t0.UnixMilli() + 1000, Session: alice, Seq: 1, Kind: "feedback", Feedback: &feedback{User: "a-1", Overall: &overall, Comment: "no sound"}},
			{At: t0.UnixMilli() + 2000, Session: alice, Seq: 2, Kind: "log", Text: "call ended: 486"},
		},
	}}, list.Unattached)
	require.Equal(t, t0.Add(time.Hour).UnixMilli(), list.At)
	require.False(t, list.Damaged)

	getJSON(t, base+"/api/unattached?cursor="+list.Next, &list)
	require.Equal(t, storage.UnattachedQuery{Before: storage.Cursor{Start: t0, Key: 7}, Limit: defaultLimit}, m.unattachedQuery)

	getJSON(t, start(t, m, func(s *Settings) { s.ShowUserNames = true })+"/api/unattached", &list)
	require.Equal(t, []string{"Alice Archer", "Alice Archer"}, []string{list.Unattached[0].User.UserName, list.Unattached[0].Entries[0].Feedback.UserName})
}

// TestUnattachedFaults: a bad parameter is named, a store that fails is a fault of ours, and
// what is damaged leaves the rest.
//
// spec: CONF-01, SRV-02
func TestUnattachedFaults(t *testing.T) {
	m := &memory{unattached: oneUnattached()}
	base := start(t, m, nil)
	for query, want := range map[string]string{
		"from=x": "from", "from=2&to=1": "to", "from=2&to=2": "to", "limit=0": "limit", "limit=201": "limit", "cursor=x": "cursor",
	} {
		status, body, _ := get(t, base+"/api/unattached?"+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, `"field":"`+want+`"`, query)
	}
	var list unattachedList
	m.err = errors.Join(storage.ErrDamaged, errors.New("a row"))
	getJSON(t, base+"/api/unattached", &list)
	require.True(t, list.Damaged)
	require.Len(t, list.Unattached, 1)
	m.err, m.unattached = errors.New("disk"), storage.UnattachedPage{}
	status, body, _ := get(t, base+"/api/unattached")
	require.Equal(t, http.StatusInternalServerError, status)
	require.NotContains(t, body, "disk")
	m.err = nil
	_, body, _ = get(t, base+"/api/unattached")
	require.Contains(t, body, `"unattached":[]`, "a list, though empty")
}
