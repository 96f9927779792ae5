package storagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

// UsersStore is an engine that exports and erases users.
type UsersStore interface {
	PackStore
	storage.Users
	storage.Accounts
	storage.Follower
	storage.HourMaker
	storage.Remover
}

// UsersEngine is an engine whose exports and erasures are tested.
type UsersEngine struct {
	// Open returns an empty store, and closes it when the test ends.
	Open func(t *testing.T) UsersStore
	// Second opens the same store as another process, or returns it if processes cannot share it.
	Second func(t *testing.T, s UsersStore) UsersStore
	// Files returns the content of all files of a store, after the operator's commands that remove deleted data.
	Files func(t *testing.T, s UsersStore) []byte
}

// RunUsers tests the exports and erasures of an engine.
func RunUsers(t *testing.T, e UsersEngine) {
	t.Helper()
	for name, test := range map[string]func(*usersFixture){
		"every field":      testErasePlanted,
		"late":             testEraseLate,
		"new user":         testEraseNewUser,
		"former IDs":       testEraseFormer,
		"renamed often":    testEraseRenamedOften,
		"linked names":     testEraseLinked,
		"merged meanwhile": testEraseMerged,
		"damaged":          testEraseBadInput,
		"export":           testExport,
		"any calls":        testEraseAnyCalls,
		"pre-call tests":   testErasePreCalls,
	} {
		t.Run(name, func(t *testing.T) { test(e.fixture(t)) })
	}
}

type usersFixture struct {
	fixture
	engine UsersEngine
	s      UsersStore
}

// The names of the user that tests erase: they contain characters that JSON and URLs escape.
const (
	realName  = `Zoë "Zo" O'Neill <zo@example.test>`
	aliasName = "zo-4711"
)

func (f *usersFixture) erase(ids ...string) storage.Erasure {
	f.t.Helper()
	e, err := f.s.EraseUser(f.t.Context(), storage.User{AppID: app, IDs: ids})
	require.NoError(f.t, err)
	done, err := f.s.RunErasures(f.t.Context())
	require.NoError(f.t, err)
	require.Equal(f.t, 1, done)
	e, err = f.s.Erasure(f.t.Context(), app, e.ID)
	require.NoError(f.t, err)
	require.Equal(f.t, storage.ErasureDone, e.State)
	return e
}

func (f *usersFixture) export(ids ...string) (out []storage.Exported) {
	f.t.Helper()
	out, err := exported(f.t.Context(), f.s, ids...)
	require.NoError(f.t, err)
	return out
}

func exported(ctx context.Context, s storage.Users, ids ...string) (out []storage.Exported, err error) {
	err = s.ExportUser(ctx, storage.User{AppID: app, IDs: ids}, func(e storage.Exported) bool {
		out = append(out, e)
		return true
	})
	return out, err
}

// content returns all readable data of an app, as text.
func (f *usersFixture) content() string {
	f.t.Helper()
	text, err := readAll(f.t.Context(), f.s)
	require.NoError(f.t, err)
	return text
}

func readAll(ctx context.Context, s UsersStore) (string, error) {
	var out strings.Builder
	page, err := s.Conferences(ctx, storage.Query{AppID: app, Limit: 200})
	if err != nil {
		return "", err
	}
	for _, listed := range page.Conferences {
		ref := storage.Ref{AppID: app, ConferenceID: listed.ConferenceID, At: listed.Start}
		c, err := s.Conference(ctx, ref)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%+v\n", c.Participants)
		if c.Summary != nil {
			out.Write(c.Summary.Document)
			out.Write(c.Summary.Digest)
		}
		records, err := allRecords(ctx, s, ref)
		if err != nil {
			return "", err
		}
		for _, r := range records {
			fmt.Fprintf(&out, "%+v\n", r)
		}
	}
	lost, err := s.Unattached(ctx, storage.UnattachedQuery{AppID: app, Limit: 200})
	fmt.Fprintf(&out, "%+v\n", lost.Unattached)
	if err != nil {
		return "", err
	}
	audit, err := s.AuditPage(ctx, storage.AuditQuery{})
	for _, e := range audit {
		fmt.Fprintf(&out, "%s %s %s\n", e.Action, e.Target, e.Body)
	}
	return out.String(), err
}

// forms returns the bytes by which a name may be stored: unchanged, and as in JSON and in a query.
func forms(name string) []string {
	literal, _ := json.Marshal(name)
	return []string{name, strings.Trim(string(literal), `"`)}
}

// absent requires that none of the names is in readable data, the index or the files.
func (f *usersFixture) absent(names ...string) {
	f.t.Helper()
	text, files := f.content(), f.engine.Files(f.t, f.s)
	for _, name := range names {
		for _, form := range forms(name) {
			if i := strings.Index(text, form); i >= 0 {
				require.Failf(f.t, "what is read has a name", "%q: %q", form, text[max(0, i-200):min(len(text), i+100)])
			}
			if i := bytes.Index(files, []byte(form)); i >= 0 {
				require.Failf(f.t, "a file has a name", "%q: %q", form, files[max(0, i-100):min(len(files), i+100)])
			}
		}
		for _, q := range []storage.Query{{UserID: name}, {Any: name}, {AdditionalID: name}} {
			require.Empty(f.t, f.list(q).Conferences, "%q is a search term", name)
		}
	}
}

// planted returns a record of each kind of record with a text in each of its attributes that hold one.
func planted(seq uint64, second float64, text, jsonText string) (out []storage.Record) {
	for _, event := range []string{
		semconv.EventStats, semconv.EventEvent, semconv.EventError, semconv.EventFeedback, semconv.EventLog, semconv.EventSDP, semconv.EventSkip,
	} {
		attributes := map[string]any{}
		for _, a := range semconv.Attributes {
			if a.Type == "string" && !structural[a.Name] && (a.On == event || a.On == "every record" || a.On == "scope" && a.Name != semconv.ConferenceID) {
				attributes[a.Name] = "about " + text + "."
			}
		}
		for m := range protocol.NumMeasures {
			if m.Info().Type == protocol.Text && event == semconv.EventStats {
				attributes[semconv.Measure(m)] = "about " + text
			}
		}
		attributes["some.attribute.of.an.application"] = text
		for _, name := range []string{semconv.RemoteUserID, semconv.FeedbackUserID} {
			if _, ok := attributes[name]; ok {
				attributes[name] = text
			}
		}
		for _, name := range []string{semconv.EventData, semconv.ErrorDetails} {
			if _, ok := attributes[name]; ok {
				attributes[name] = jsonText
			}
		}
		r := activity(seq, 0, second)
		r.Name, r.Attributes = event, attributes
		if event == semconv.EventFeedback || event == semconv.EventLog || event == semconv.EventSDP {
			r.Activity = false
		}
		out, seq = append(out, r), seq+1
	}
	return out
}

// structural are attributes whose texts are words of closed sets (the decoder refuses others), or identifiers of
// other things.
var structural = map[string]bool{
	semconv.FabricUsage: true, semconv.FabricDirection: true, semconv.RemoteEndpointType: true, semconv.StatsType: true, semconv.MediaType: true,
	semconv.SDPField: true, semconv.OutOfRange: true, semconv.QualityLabel: true, semconv.QualityModel: true, semconv.QualityReason: true,
	semconv.QualityAssumed: true, semconv.QualityConfidence: true, semconv.ErrorFunction: true, semconv.EventName: true,
}

// dataForms are forms in which the data of an event names a user.
func dataForms(name, alias string) []string {
	n, _ := json.Marshal(name)
	a, _ := json.Marshal(alias)
	escaped := strings.NewReplacer("Z", `\u005a`, "z", `\u007a`).Replace(string(n))
	return []string{
		fmt.Sprintf(`{"userIDType":"remote","newUserID":{"userName":%s,"aliasName":%s}}`, n, a),
		fmt.Sprintf(`{"userIDType":"remote","newUserID":%s}`, a),
		fmt.Sprintf(`{"ssrc":7,"userID":%s,"usageLabel":%s}`, n, a),
		fmt.Sprintf(`{"deep":[{"list":[1,%s,{"text":"so %s said"}]}],"n":1.50}`, escaped, alias),
		"no JSON, but " + name + " and " + alias,
	}
}

var eventNames = []string{"userIDChange", "userIDChange", "associateMstWithUserID", "customEvent", "customStats"}

// plant returns records that have the user's name wherever a record can have it.
func plant(seq uint64, second float64) (out []storage.Record) {
	for i, data := range dataForms(realName, aliasName) {
		out = append(out, planted(seq, second, realName, data)...)
		out = append(out, planted(seq+7, second+1, aliasName, data)...)
		for j := len(out) - 14; j < len(out); j++ {
			if out[j].Name == semconv.EventEvent {
				out[j].Attributes[semconv.EventName] = eventNames[i]
			}
		}
		seq += 14
	}
	return out
}

// summaryOf returns a summary of the user's session and another's, from second 0 on.
func summaryOf(end float64, other string) storage.Summary {
	sessionName, alias := sessionID(1), aliasName
	n, _ := json.Marshal(realName)
	document := fmt.Sprintf(`{"appID":"app","startMs":1.0e3,"issues":[{"session":%q,"userID":%s,"alias":%q,"value":0.10}],"worstParticipant":{"session":%q,"userID":%s,"alias":%q,"mos":1.5},
		"participants":[{"session":%q,"userID":%s,"alias":%q,"userIDs":[%s,"later-17"],"feedback":[{"comment":"me, %s","overall":2}],"fabrics":[{"remoteUserID":%q,"remoteAlias":%q,"localAddress":"192.0.2.0"}],"mos":3.25},
		{"session":%q,"userID":%q,"alias":%q,"userIDs":[],"feedback":[{"comment":"%s was loud","overall":4}],"fabrics":[{"remoteUserID":%s,"remoteAlias":%q,"remoteUserIDs":[%s],"streams":[{"userID":%s,"usageLabel":"of %s"}]}],"mos":4.5}]}`,
		sessionName, n, alias, sessionName, n, alias, sessionName, n, alias, n, alias, other, other, sessionID(2), other, other, alias, n, alias, n, n, alias)
	return storage.Summary{
		AppID: app, ConferenceID: call, Start: at(0), End: at(end), Revision: 1, Outcome: "success", Document: json.RawMessage(document),
		Digest: digestOf(aliasName, realName).Encode(),
	}
}

func (f *usersFixture) putSummary(s storage.Summary) {
	f.t.Helper()
	require.NoError(f.t, f.w.PutSummary(f.t.Context(), s))
}

func zo(n int, records ...storage.Record) storage.Batch {
	b := batch(n, records...)
	b.Session.UserID, b.Session.UserAlias = realName, aliasName
	b.Session.Details = map[string]string{
		semconv.SiteID: "hq of " + aliasName, semconv.ApplicationVersion: "2.3", semconv.LibraryVersion: "1", semconv.UserAgent: "Mozilla/5.0 (" + aliasName + ") Firefox/118.0",
		semconv.AdditionalPrefix + "customerID": aliasName, semconv.AdditionalPrefix + "tenantID": realName,
	}
	return b
}

// Every attribute of every kind of record, the data of events in each form, sessions, renames, summaries, unattached
// annotations and the audit log have the names of a user: own and others' records, packed and loose. After the erasure
// nothing that can be read, no search term and no file of the store has them. Before it, the same search finds them.
//
// spec: PRIV-02
func testErasePlanted(f *usersFixture) {
	t := f.t
	f.append(zo(1, plant(1, 0)...), batch(2, plant(1, 0)...))
	f.append(batch(3, activity(1, 0, 200), renaming(2, 200, "ann-2")))
	f.putSummary(summaryOf(1, "user 2"))
	_, err := f.s.Pack(t.Context(), at(hour))
	require.NoError(t, err)
	loose := plant(1000, 1000)
	f.append(zo(1, loose...), batch(2, loose...))
	tagged := batch(4, activity(1, 0, 1000))
	tagged.Session.Details = map[string]string{semconv.AdditionalPrefix + "customerID": "desk " + realName, semconv.SiteID: "hq", semconv.UserAgent: "of " + aliasName}
	f.append(tagged)
	for _, b := range []storage.Batch{zo(1), batch(2)} {
		lost := planted(5000, 0, aliasName, `{}`)[3:6]
		for i := range lost {
			lost[i].ConferenceAt = at(-500000)
		}
		b.Records = lost
		f.append(b)
	}
	require.NoError(t, f.s.AddAudit(t.Context(), []storage.AuditEntry{
		{At: epoch, Actor: "sue", Action: "search", AppID: app, Target: "user=Zo%C3%AB+%22Zo%22+O%27Neill+%3Czo%40example.test%3E&app=app"},
		{At: epoch, Actor: "sue", Action: "search", Target: "any=" + aliasName},
		{At: epoch, Actor: "sue", Action: "readConference", AppID: app, Target: call, Body: []byte(`{"note":"of ` + aliasName + `"}`)},
		{At: epoch, Actor: "sue", Action: "search", AppID: "other", Target: "any=nobody"},
	}))
	text, files := f.content(), f.engine.Files(t, f.s)
	for _, name := range []string{realName, aliasName} {
		require.Contains(t, text, name)
		require.Contains(t, string(files), name)
		require.Len(t, f.list(storage.Query{UserID: name}).Conferences, 2)
	}
	before := len(f.records(ref(0)))

	e := f.erase(realName, aliasName)
	f.absent(realName, aliasName, "later-17", "192.0.2.0")
	require.Equal(t, 1, e.Sessions)
	require.Equal(t, 2, e.Conferences)
	require.Equal(t, 1, e.Summaries)
	require.Zero(t, e.Damaged)
	require.Len(t, f.list(storage.Query{UserID: e.Pseudonym}).Conferences, 2)
	require.Len(t, f.records(ref(0)), before, "the records are there")
	c := f.conference(0)
	require.Equal(t, storage.Session{
		ID: sessionID(1), AppID: app, UserID: e.Pseudonym, UserAlias: e.Pseudonym, Details: map[string]string{
			semconv.SiteID: "hq of " + e.Pseudonym, semconv.ApplicationVersion: "2.3", semconv.LibraryVersion: "1", semconv.UserAgent: "Firefox/118",
		},
	}, c.Participants[0].Session)
	require.Equal(t, session(2), c.Participants[1].Session)
	require.Contains(t, string(c.Summary.Document), `"value":0.10`, "figures remain as they are written")
	require.Contains(t, string(c.Summary.Document), e.Pseudonym+" was loud")
	require.NotContains(t, string(c.Summary.Document), "me, ")
	requireDigest(t, erasedDigest(e.Pseudonym), c.Summary.Digest)
	require.Equal(t, [][]storage.Name{{name("ann-2")}}, f.renames(200))
	entries, err := f.s.AuditPage(t.Context(), storage.AuditQuery{})
	require.NoError(t, err)
	require.Equal(t, []string{"any=nobody", call, "any=" + e.Pseudonym, "user=" + e.Pseudonym + "&app=app"},
		[]string{entries[0].Target, entries[1].Target, entries[2].Target, entries[3].Target})
	require.NoError(t, f.s.AddAudit(t.Context(), []storage.AuditEntry{{At: epoch, Actor: "sue", Action: "search", AppID: app, Target: "user=" + aliasName}}))
	entries, err = f.s.AuditPage(t.Context(), storage.AuditQuery{})
	require.NoError(t, err)
	require.Equal(t, "user="+e.Pseudonym, entries[0].Target, "the search that verifies it")
	require.Len(t, f.export(realName, aliasName), 1, "an export has nothing but the IDs that were asked for")

	again := f.erase(realName, aliasName)
	require.Equal(t, []int{0, 0, 0, 0}, []int{again.Sessions, again.Conferences, again.Records, again.Entries}, "nothing is left to erase")
}

// Data that arrives after an erasure about the time before it is erased before it is stored: records of the session, of
// others, and summaries from a processor's memory. A session of the user that was not stored yet is erased, too.
//
// spec: PRIV-02
func testEraseLate(f *usersFixture) {
	t := f.t
	f.append(zo(1, activity(1, 0, 0)), batch(2, activity(1, 0, 0)))
	e := f.erase(aliasName)
	tagged := batch(2, activity(9, 0, 0))
	tagged.Session.Details = map[string]string{semconv.UserAgent: "of " + aliasName}
	f.append(tagged)
	f.append(zo(1, plant(10, 1)...), batch(2, plant(10, 1)...), zo(5, plant(1, 500)...))
	f.putSummary(summaryOf(1, "user 2"))
	lateSummary := summaryOf(1, "user 2")
	lateSummary.Revision = 2
	f.putSummary(lateSummary)
	f.absent(realName, aliasName)
	requireDigest(t, erasedDigest(e.Pseudonym), f.conference(0).Summary.Digest)
	require.Equal(t, e.Pseudonym, f.conference(0).Participants[0].Session.UserID)
	require.Equal(t, e.Pseudonym, f.conference(500).Participants[0].Session.UserID)
	require.Equal(t, session(2), f.conference(0).Participants[1].Session)
	require.Equal(t, storage.Appended{Duplicates: 1}, f.append(zo(1, activity(1, 0, 0))))
	f.absent(realName, aliasName)
}

// A session, or a fabric, that begins after the erasure belongs to a new user.
//
// spec: PRIV-02
func testEraseNewUser(f *usersFixture) {
	t := f.t
	f.append(zo(1, activity(1, 0, 0)))
	e := f.erase(realName)
	begun := e.At.Add(time.Second)
	b := zo(9, activity(1, 0, 0))
	b.Session.ID = fmt.Sprintf("%08x-%04x-7c3e-9f10-000000000009", begun.UnixMilli()>>16, begun.UnixMilli()&0xffff)
	b.Records[0].At, b.Records[0].ConferenceAt = begun, begun
	f.append(b)
	other := batch(2, withAttributes(activity(1, 0, 0), semconv.RemoteUserAlias, aliasName))
	other.Records[0].At, other.Records[0].ConferenceAt = begun, begun
	f.append(other)
	found := f.list(storage.Query{UserID: aliasName}).Conferences
	require.Len(t, found, 1)
	require.Equal(t, begun, found[0].Start)
	require.Len(t, f.list(storage.Query{UserID: realName}).Conferences, 1)
}

// A user who was renamed is erased by either ID, in all conferences of the session. Others name the user by both.
//
// spec: PRIV-02 API-06
func testEraseFormer(f *usersFixture) {
	for n, id := range []string{"guest-99", "zo-after"} {
		second, others := float64(n*10000), batch(10+n, withAttributes(activity(1, 0, float64(n*10000)), semconv.RemoteUserID, "guest-99", semconv.RemoteUserAlias, "guest-99"),
			withAttributes(activity(2, 0, float64(n*10000)), semconv.RemoteUserAlias, "zo-after"))
		own := batch(n, renaming(1, second, "zo-after"), activity(2, 0, second+100))
		own.Session.UserID, own.Session.UserAlias = "guest-99", "guest-99"
		f.append(own, others)
		f.erase(id)
		f.absent("guest-99", "zo-after")
		require.Equal(f.t, [][]storage.Name{nil, nil}, f.renames(second))
	}
}

// The store keeps the newest renames of a participant in rows of their own; an older one counts, too.
//
// spec: PRIV-02 API-06
func testEraseRenamedOften(f *usersFixture) {
	records := []storage.Record{renaming(1, 0, "first-name")}
	for i := range uint64(20) {
		records = append(records, renaming(i+2, float64(i)/10, fmt.Sprint("name-no-", i)))
	}
	f.append(batch(1, records...))
	e := f.erase("first-name")
	f.absent("first-name", "name-no-19", "user 1")
	require.Equal(f.t, 1, e.Sessions)
}

// The other names of a user's session are the user's in its conferences. Elsewhere they may be another's.
//
// spec: PRIV-02
func testEraseLinked(f *usersFixture) {
	t := f.t
	named := func(second float64) storage.Record {
		return withAttributes(activity(1, 0, second), semconv.RemoteUserAlias, aliasName)
	}
	f.append(zo(1, activity(1, 0, 0)), batch(2, named(0)), batch(3, named(500)))
	shared := batch(4, activity(1, 0, 500))
	shared.Session.UserAlias = aliasName
	f.append(shared)
	e := f.erase(realName)
	alias := func(second float64) any { return f.records(ref(second))[1].record.Attributes[semconv.RemoteUserAlias] }
	require.Equal(t, e.Pseudonym, alias(0))
	require.Equal(t, aliasName, f.records(ref(500))[0].record.Attributes[semconv.RemoteUserAlias])
	require.Equal(t, aliasName, f.conference(500).Participants[1].Session.UserAlias)
	require.Len(t, f.list(storage.Query{UserID: aliasName}).Conferences, 1)
	f.append(batch(2, withAttributes(activity(9, 0, 1), semconv.RemoteUserAlias, aliasName)), batch(3, withAttributes(activity(9, 0, 501), semconv.RemoteUserAlias, aliasName)))
	require.NotContains(t, fmt.Sprint(f.records(ref(0))), aliasName, "late")
	require.Len(t, f.list(storage.Query{UserID: aliasName}).Conferences, 1)
}

// Conferences merge while an erasure runs.
//
// spec: PRIV-02 CONF-02
func testEraseMerged(f *usersFixture) {
	f.append(zo(1, activity(1, 0, 0)), batch(2, withAttributes(activity(1, 0, 50), semconv.RemoteUserAlias, aliasName)))
	_, err := f.s.EraseUser(f.t.Context(), storage.User{AppID: app, IDs: []string{realName}})
	require.NoError(f.t, err)
	f.append(batch(3, activity(1, 0, 25)))
	_, err = f.s.RunErasures(f.t.Context())
	require.NoError(f.t, err)
	f.absent(realName, aliasName)
}

// Invalid users are refused, and unknown ones are not found.
//
// spec: PRIV-02
func testEraseBadInput(f *usersFixture) {
	t := f.t
	for _, u := range []storage.User{{}, {AppID: app}, {AppID: app, IDs: []string{""}}, {IDs: []string{"x"}}, {AppID: app, IDs: []string{strings.Repeat("x", 1025)}}, {AppID: app, IDs: make([]string, 17)}} {
		_, err := f.s.EraseUser(t.Context(), u)
		require.ErrorIs(t, err, storage.ErrInvalid)
		require.ErrorIs(t, f.s.ExportUser(t.Context(), u, func(storage.Exported) bool { return true }), storage.ErrInvalid)
	}
	_, err := f.s.Erasure(t.Context(), app, "unknown")
	require.ErrorIs(t, err, storage.ErrNoErasure)
	e := f.erase("nobody")
	_, err = f.s.Erasure(t.Context(), "other", e.ID)
	require.ErrorIs(t, err, storage.ErrNoErasure)
	done, err := f.s.RunErasures(t.Context())
	require.NoError(t, err)
	require.Zero(t, done)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.append(zo(1, activity(1, 0, 0)))
	_, err = f.s.EraseUser(t.Context(), storage.User{AppID: app, IDs: []string{realName}})
	require.NoError(t, err)
	_, err = f.s.RunErasures(ctx)
	require.ErrorIs(t, err, context.Canceled)
	done, err = f.s.RunErasures(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, done, "the next run continues")
	f.absent(realName, aliasName)
}

// An export has all records of the user's sessions, and the parts of others' records that name the user. It replaces
// other users by placeholders, which are the same throughout.
//
// spec: PRIV-02
func testExport(f *usersFixture) {
	t := f.t
	own := zo(1, withAttributes(activity(1, 0, 0), semconv.RemoteUserID, "Bob Builder", semconv.RemoteUserAlias, "bob-1"), annotation(2, 0, 1),
		fabricEvent(3, 1, "customEvent", `{"with":"bob-1 and Bob Builder"}`))
	others := batch(2, withAttributes(activity(1, 0, 0), semconv.RemoteUserAlias, aliasName), withAttributes(activity(2, 0, 1), "qos.log.text", aliasName+" left bob-1"), activity(3, 0, 2))
	others.Session.UserID, others.Session.UserAlias = "Bob Builder", "bob-1"
	f.append(own, others, batch(3, activity(1, 0, 900)))
	f.putSummary(summaryOf(2, "bob-1"))
	require.NoError(t, f.s.AddAudit(t.Context(), []storage.AuditEntry{{At: epoch, Actor: "sue", Action: "search", AppID: app, Target: "any=" + aliasName}}))
	got := f.export(aliasName)
	var types []string
	for _, e := range got {
		types = append(types, e.Type)
	}
	require.Equal(t, []string{"user", "session", "record", "mention", "record", "record", "mention", "summary", "audit"}, types)
	require.Equal(t, []string{realName, aliasName}, got[0].IDs)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	for _, foreign := range []string{"bob-1", "Bob Builder", sessionID(2), "sue"} {
		require.NotContains(t, string(text), foreign)
	}
	placeholder := got[2].Attributes[semconv.RemoteUserID].(string)
	require.True(t, strings.HasPrefix(placeholder, "person-"), placeholder)
	require.Equal(t, placeholder, got[2].Attributes[semconv.RemoteUserAlias])
	i := slices.IndexFunc(got, func(e storage.Exported) bool { return e.Attributes[semconv.LogText] != nil })
	require.Equal(t, map[string]any{semconv.LogText: aliasName + " left " + placeholder}, got[i].Attributes)
	require.Contains(t, string(text), placeholder+" and "+placeholder)
	require.Contains(t, string(got[7].Document), `"mos":3.25`)
	require.NotContains(t, string(got[7].Document), `4.5`, "another's participant")
	stopped := 0
	require.NoError(t, f.s.ExportUser(t.Context(), storage.User{AppID: app, IDs: []string{aliasName}}, func(storage.Exported) bool { stopped++; return stopped < 3 }))
	require.Equal(t, 3, stopped)
}

// An erasure runs while others write records that name the user, under old and new numbers, and pack. A writer with
// the user's session in its cache, in another process if the engine allows it, does not store an ID again.
//
// spec: PRIV-02
func testEraseWhileWritten(f *usersFixture) {
	t := f.t
	second := f.engine.Second(t, f.s)
	const rounds = 20
	write := func(seq uint64) error {
		named := withAttributes(activity(seq, 0, float64(seq)), semconv.RemoteUserID, realName, semconv.RemoteUserAlias, aliasName)
		_, err := second.Append(t.Context(), []storage.Batch{zo(1, activity(seq, 0, float64(seq)), fabricEvent(seq+1000, float64(seq), "customEvent", `{"of":"`+aliasName+`"}`)), batch(2, named)})
		return err
	}
	for seq := uint64(1); seq <= rounds; seq++ {
		require.NoError(t, write(seq))
	}
	e, err := f.s.EraseUser(t.Context(), storage.User{AppID: app, IDs: []string{realName, aliasName}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	errs := make([]error, 3)
	wg.Go(func() {
		for seq := uint64(1); seq <= 2*rounds && errs[0] == nil; seq++ { // the first half again
			errs[0] = write(seq)
		}
	})
	wg.Go(func() {
		for i := 0; i < rounds && errs[1] == nil; i++ {
			_, errs[1] = second.Pack(t.Context(), at(hour))
		}
	})
	wg.Go(func() { _, errs[2] = f.s.RunErasures(t.Context()) })
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	_, err = f.s.RunErasures(t.Context()) // a reader may have kept the log from being truncated
	require.NoError(t, err)
	f.absent(realName, aliasName)
	require.Equal(t, e.Pseudonym, f.conference(0).Participants[0].Session.UserID)
	require.Len(t, f.records(ref(1)), 6*rounds)
}
