package storagetest

import (
	"fmt"
	"maps"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// cast returns the IDs of the users of a run. They differ between runs, since an erasure applies to later runs.
func cast(run int) []string {
	return []string{fmt.Sprint("ann-7f3a", run), fmt.Sprint("bob-7f3b", run), fmt.Sprint("cyd-7f3c", run)}
}

// After any calls, packed or not, and an erasure, nothing has the user's ID, and the records of all others
// are unchanged except for the ID.
//
// spec: PRIV-02
func testEraseAnyCalls(f *usersFixture) {
	runs := 0
	rapid.Check(f.t, func(rt *rapid.T) {
		runs++
		users := cast(runs)
		_, err := f.s.DeleteBefore(f.t.Context(), at(1000*dayOf))
		require.NoError(rt, err)
		calls := drawCalls(rt, rapid.SampledFrom(users))
		_, err = f.s.Append(f.t.Context(), calls)
		require.NoError(rt, err)
		if rapid.Bool().Draw(rt, "packed") {
			_, err = f.s.Pack(f.t.Context(), at(1000*dayOf))
			require.NoError(rt, err)
		}
		who := rapid.SampledFrom(users).Draw(rt, "erased")
		before := f.all(rt)
		registered, err := f.s.EraseUser(f.t.Context(), storage.User{AppID: app, IDs: []string{who}})
		require.NoError(rt, err)
		_, err = f.s.RunErasures(f.t.Context())
		require.NoError(rt, err)
		text, err := readAll(f.t.Context(), f.s)
		require.NoError(rt, err)
		require.NotContains(rt, text, who)
		after := f.all(rt)
		require.Len(rt, after, len(before))
		for i := range before {
			checkErased(rt, before[i], after[i], who, registered.Pseudonym, owners(calls, who))
		}
	})
}

// owners returns the sessions of a user, by row or by rename.
func owners(calls []storage.Batch, who string) map[string]bool {
	own := map[string]bool{}
	for _, b := range calls {
		own[b.Session.ID] = own[b.Session.ID] || b.Session.UserID == who
		for _, r := range b.Records {
			data, _ := r.Attributes[semconv.EventData].(string)
			own[b.Session.ID] = own[b.Session.ID] || strings.Contains(data, `"local"`) && strings.Contains(data, who+"-new")
		}
	}
	return own
}

func checkErased(rt *rapid.T, before, after read, who, pseudonym string, own map[string]bool) {
	require.Equal(rt, before.session, after.session)
	if own[before.session] {
		want := maps.Clone(before.record.Attributes)
		maps.DeleteFunc(want, func(_ string, v any) bool { _, text := v.(string); return text })
		for name, value := range want {
			require.Equal(rt, value, after.record.Attributes[name], "measurements remain")
		}
	} else {
		for name, value := range before.record.Attributes {
			if text, ok := value.(string); ok {
				before.record.Attributes[name] = strings.ReplaceAll(text, who, pseudonym)
			}
		}
		require.Equal(rt, before.record.Attributes, after.record.Attributes)
	}
	before.record.Attributes, after.record.Attributes = nil, nil
	require.Equal(rt, before, after, "all else remains")
}

// all returns all records of the app.
func (f *usersFixture) all(rt *rapid.T) (out []read) {
	page, err := f.s.Conferences(f.t.Context(), storage.Query{AppID: app, Limit: 200})
	require.NoError(rt, err)
	for _, c := range page.Conferences {
		records, err := allRecords(f.t.Context(), f.s, storage.Ref{AppID: app, ConferenceID: c.ConferenceID, At: c.Start})
		require.NoError(rt, err)
		out = append(out, records...)
	}
	return out
}

func drawCalls(rt *rapid.T, person *rapid.Generator[string]) (out []storage.Batch) {
	for n := 1; n <= rapid.IntRange(1, 4).Draw(rt, "sessions"); n++ {
		b := batch(n)
		b.Session.UserID = person.Draw(rt, "user")
		b.Session.UserAlias = b.Session.UserID
		for seq := uint64(1); seq <= rapid.Uint64Range(1, 8).Draw(rt, "frames"); seq++ {
			b.Records = append(b.Records, drawRecord(rt, person, b.Session.UserID, seq))
		}
		out = append(out, b)
	}
	return out
}

// drawRecord draws a record of a session. A session is renamed to a name that no other has: all its names are
// erased in its conferences.
func drawRecord(rt *rapid.T, person *rapid.Generator[string], own string, seq uint64) storage.Record {
	second := float64(rapid.SampledFrom([]int{0, 10, 50, 500, 5000}).Draw(rt, "second"))
	who := person.Draw(rt, "who")
	r := withAttributes(activity(seq, 0, second), semconv.RemoteUserID, who, semconv.RemoteUserAlias, who)
	r.Attributes["count"], r.Attributes["share"] = int64(seq), 0.25
	switch rapid.IntRange(0, 6).Draw(rt, "kind") {
	case 0:
		r = renaming(seq, second, own+"-new")
	case 1:
		r = fabricEvent(seq, second, "customEvent", fmt.Sprintf(`{"a":[%q,1.50],"b":"%s, or so"}`, who, who))
	case 2:
		r = fabricEvent(seq, second, "userIDChange", fmt.Sprintf(`{"newUserID":%q,"userIDType":"remote"}`, who))
	case 3:
		r.Name, r.Attributes = semconv.EventError, map[string]any{semconv.ErrorFunction: "createOffer", semconv.ErrorMessage: "no " + who + " here"}
	case 4:
		r = annotation(seq, second, second)
		r.Attributes[semconv.FeedbackComment] = who + " annoyed me"
	}
	r.ConferenceID = rapid.SampledFrom([]string{call, "other"}).Draw(rt, "conferenceID")
	return r
}
