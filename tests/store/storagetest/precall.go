package storagetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// preCall returns a test of session n that ended at a second, with all members set.
func preCall(n int, seq uint64, second float64, providers ...string) storage.PreCall {
	p := storage.PreCall{
		Session: session(n), Seq: seq, At: at(second), ObservedAt: at(second + 1),
		Result: storage.PreCallResult{
			Trigger: "initialize", Status: "success", Reason: "a call began", Interrupted: true, MediaConnectivity: true, RTTMs: new(23.5),
			LossFraction: new(0.0), NetworkType: "wifi", BytesSent: 812_345, DurationMs: 6012.5,
		},
	}
	p.Session.Details = map[string]string{semconv.SiteID: fmt.Sprint("site ", n), semconv.ApplicationVersion: "2.3", semconv.AdditionalPrefix + "tenantID": fmt.Sprint("tenant ", n)}
	for _, name := range providers {
		p.Result.Providers = append(p.Result.Providers, storage.PreCallProvider{
			Provider: name, Acceptable: true, Reason: "jitter", RTTMs: new(23.5), JitterMs: new(1.5), LossFraction: new(0.0), ThroughputBps: new(2.1e6),
			Transports: []storage.PreCallTransport{{RelayProtocol: "udp", Connected: true, ConnectMs: new(120.5)}, {RelayProtocol: "tls", Error: "no answer"}},
		})
	}
	return p
}

func (f *fixture) appendPreCalls(tests ...storage.PreCall) storage.Appended {
	f.t.Helper()
	done, err := f.w.AppendPreCalls(f.t.Context(), tests)
	require.NoError(f.t, err)
	return done
}

// preCalls returns all tests of a query, page by page.
func (f *fixture) preCalls(q storage.PreCallQuery) (out []storage.PreCall) {
	f.t.Helper()
	for {
		page, err := f.r.PreCalls(f.t.Context(), q)
		require.NoError(f.t, err)
		require.Len(f.t, page.Cursors, len(page.PreCalls))
		out = append(out, page.PreCalls...)
		if q.Before = page.Next; q.Before == (storage.Cursor{}) {
			return out
		}
	}
}

// preCallsAt returns the times, in seconds, of the tests of a query.
func (f *fixture) preCallsAt(q storage.PreCallQuery) (out []float64) {
	f.t.Helper()
	for _, p := range f.preCalls(q) {
		out = append(out, p.At.Sub(epoch).Seconds())
	}
	return out
}

// A test is stored once, complete, and creates no conference.
//
// spec: PRE-02, INIT-08
func testPreCalls(f *fixture) {
	t := f.t
	first, second, bare := preCall(1, 2, 10, "eu-1", "eu-2"), preCall(1, 3, 20), preCall(2, 2, 15)
	bare.Session.Details, bare.Result = nil, storage.PreCallResult{Trigger: "makePrecallTest", Status: "failure", DurationMs: 1}
	require.Equal(t, storage.Appended{New: 2}, f.appendPreCalls(first, second))
	other := first
	other.Result.Status = "failure"
	require.Equal(t, storage.Appended{New: 1, Duplicates: 2}, f.appendPreCalls(other, bare, second))
	index := first
	index.Index = 1
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.appendPreCalls(index, index), "another identity")
	require.Equal(t, []storage.PreCall{second, bare, index, first}, f.preCalls(storage.PreCallQuery{}))
	require.Empty(t, f.spans())
	require.Empty(t, f.lost(storage.UnattachedQuery{}))
	require.Equal(t, storage.Appended{}, f.appendPreCalls())
}

// A batch with an invalid test is refused as a whole.
func testPreCallsInvalid(f *fixture) {
	refused := func(change func(*storage.PreCall)) {
		f.t.Helper()
		p := preCall(1, 1, 0)
		change(&p)
		_, err := f.w.AppendPreCalls(f.t.Context(), []storage.PreCall{preCall(2, 1, 0), p})
		require.ErrorIs(f.t, err, storage.ErrInvalid)
	}
	refused(func(p *storage.PreCall) { p.Session.AppID = "" })
	refused(func(p *storage.PreCall) { p.Session.AppID = strings.Repeat("a", storage.MaxIDBytes+1) })
	refused(func(p *storage.PreCall) { p.Session.ID = "none" })
	refused(func(p *storage.PreCall) { p.Seq = 0 })
	refused(func(p *storage.PreCall) { p.Seq = math.MaxUint64 })
	refused(func(p *storage.PreCall) { p.Index = -1 })
	refused(func(p *storage.PreCall) { p.At = time.UnixMilli(-1) })
	refused(func(p *storage.PreCall) { p.At = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) })
	refused(func(p *storage.PreCall) { p.Result.DurationMs = math.NaN() })
	refused(func(p *storage.PreCall) { p.Result.Reason = strings.Repeat("r", storage.MaxPreCallBytes) })
	require.Empty(f.t, f.preCalls(storage.PreCallQuery{}))
}

// Each member of a query is a condition, and a test must fulfil all of them.
//
// spec: INIT-08
func testPreCallsFound(f *fixture) {
	t := f.t
	for n := range 4 {
		f.appendPreCalls(preCall(n, 1, float64(10*n), fmt.Sprint("eu-", n), "us"), preCall(n, 2, float64(10*n+5), "eu-9", "eu-9"))
	}
	failed := preCall(7, 1, 100, "tenant 2")
	failed.Session.AppID, failed.Result.Status = "other\x00app", "failure"
	failed.Session.Details[semconv.AdditionalPrefix+"pbxID"] = "tenant 7" // two keys, one value
	f.appendPreCalls(failed)
	finds := func(q storage.PreCallQuery, want ...float64) {
		t.Helper()
		q.Limit = 3
		require.Equal(t, want, f.preCallsAt(q))
	}
	for _, appID := range []string{"", app} {
		finds(storage.PreCallQuery{AppID: appID, UserID: "user 1"}, 15, 10)
		finds(storage.PreCallQuery{AppID: appID, UserID: "alias 1"}, 15, 10)
		finds(storage.PreCallQuery{AppID: appID, UserID: "alias 1", AliasesOnly: true}, 15, 10)
		finds(storage.PreCallQuery{AppID: appID, UserID: "user 1", AliasesOnly: true})
		finds(storage.PreCallQuery{AppID: appID, SiteID: "site 2"}, 25, 20)
		finds(storage.PreCallQuery{AppID: appID, SiteID: "site"})
		finds(storage.PreCallQuery{AppID: appID, AdditionalID: "tenant 2"}, 25, 20)
		finds(storage.PreCallQuery{AppID: appID, AdditionalID: "tenant 2", AdditionalKey: "tenantID"}, 25, 20)
		finds(storage.PreCallQuery{AppID: appID, AdditionalID: "tenant 2", AdditionalKey: "pbxID"})
		finds(storage.PreCallQuery{AppID: appID, Provider: "us"}, 30, 20, 10, 0)
		finds(storage.PreCallQuery{AppID: appID, Provider: "eu-9"}, 35, 25, 15, 5)
		finds(storage.PreCallQuery{AppID: appID, Provider: "us", From: at(10), To: at(30)}, 20, 10)
		finds(storage.PreCallQuery{AppID: appID, Provider: "us", SiteID: "site 3", UserID: "user 3", Status: "success", ApplicationVersion: "2.3"}, 30)
		finds(storage.PreCallQuery{AppID: appID, Provider: "us", UserID: "user 3", Status: "failure"})
	}
	finds(storage.PreCallQuery{}, 100, 35, 30, 25, 20, 15, 10, 5, 0)
	finds(storage.PreCallQuery{AppID: app, ApplicationVersion: "2.3"}, 35, 30, 25, 20, 15, 10, 5, 0)
	finds(storage.PreCallQuery{AppID: app, From: at(10), To: at(25)}, 20, 15, 10)
	finds(storage.PreCallQuery{Status: "failure"}, 100)
	finds(storage.PreCallQuery{AppID: "other\x00app", AdditionalID: "tenant 7"}, 100)
	finds(storage.PreCallQuery{AdditionalID: "tenant 7"}, 100)
	finds(storage.PreCallQuery{AppID: "app "})
	for n := range 2 {
		office := preCall(8+n, 1, 200+float64(n))
		office.Session.Details[semconv.SiteID] = "user 8"
		f.appendPreCalls(office)
	}
	for _, appID := range []string{"", app} {
		finds(storage.PreCallQuery{AppID: appID, SiteID: "user 8"}, 201, 200)
		finds(storage.PreCallQuery{AppID: appID, SiteID: "user 8", AliasesOnly: true}, 201) // another user has this name
	}
}

// A query of failed tests finds the tests that count as failed: of a provider, or as a whole.
func testPreCallsFailed(f *fixture) {
	t := f.t
	test := func(second float64, status string, interrupted bool, providers ...string) storage.PreCall {
		p := preCall(1, uint64(second), second, providers...)
		p.Result.Status, p.Result.Interrupted = status, interrupted
		for i := range p.Result.Providers {
			p.Result.Providers[i].Acceptable = p.Result.Providers[i].Provider == "good"
		}
		return p
	}
	f.appendPreCalls(test(1, "failure", false, "bad", "worse"), test(2, "success", false, "good", "bad"), test(3, "failure", true, "bad"),
		test(4, "failure", false), test(5, "success", false, "good"))
	for _, appID := range []string{"", app} {
		require.Equal(t, []float64{1}, f.preCallsAt(storage.PreCallQuery{AppID: appID, OnlyFailed: true}))
		require.Equal(t, []float64{2, 1}, f.preCallsAt(storage.PreCallQuery{AppID: appID, OnlyFailed: true, Provider: "bad"}))
		require.Empty(t, f.preCallsAt(storage.PreCallQuery{AppID: appID, OnlyFailed: true, Provider: "good"}))
		require.Equal(t, []float64{3, 2, 1}, f.preCallsAt(storage.PreCallQuery{AppID: appID, Provider: "bad"}))
	}
}

// Retention deletes tests by their time, of all apps or of one.
//
// spec: PRIV-02
func testPreCallsRetention(f *fixture) {
	t := f.t
	remover, ok := f.w.(storage.Remover)
	require.True(t, ok)
	for n := range 3 {
		other := preCall(n, 1, float64(n), "eu")
		other.Session.AppID = "other\x00app"
		f.appendPreCalls(preCall(n, 1, float64(n), "eu"), other)
	}
	n, err := remover.DeleteAppBefore(t.Context(), "other\x00app", at(1))
	require.NoError(t, err)
	require.Zero(t, n, "they are no conferences")
	require.Equal(t, []float64{2, 1, 0}, f.preCallsAt(storage.PreCallQuery{AppID: app, Provider: "eu"}))
	require.Equal(t, []float64{2, 1}, f.preCallsAt(storage.PreCallQuery{AppID: "other\x00app", Provider: "eu"}))
	_, err = remover.DeleteBefore(t.Context(), at(2))
	require.NoError(t, err)
	require.Equal(t, []float64{2, 2}, f.preCallsAt(storage.PreCallQuery{}))
	require.Equal(t, []float64{2}, f.preCallsAt(storage.PreCallQuery{AppID: app, Provider: "eu"}))
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.appendPreCalls(preCall(1, 1, 1, "eu"), preCall(2, 1, 2, "eu")), "what was deleted may come again")
}

// An erasure keeps the measurements of the user's tests under the pseudonym, also of tests that arrive later, and
// replaces the ID in the texts of others. An export has only the user's tests.
//
// spec: PRIV-02
func testErasePreCalls(f *usersFixture) {
	t := f.t
	own := func(seq uint64) storage.PreCall {
		p := preCall(1, seq, float64(seq), "eu-1")
		p.Session.UserID, p.Session.UserAlias = realName, aliasName
		p.Session.Details[semconv.AdditionalPrefix+"pbxID"] = "of " + realName
		p.Session.Details[semconv.UserAgent] = "Mozilla/5.0 Chrome/130.0.6723.58 Safari/537.36"
		p.Result.Reason = "of " + realName
		p.Result.Providers[0].Transports[1].Error = "also " + realName
		return p
	}
	mention := preCall(2, 1, 50, "eu-1")
	mention.Session.Details[semconv.AdditionalPrefix+"pbxID"] = "of " + realName
	mention.Result.Reason = "said " + realName
	stays := preCall(3, 1, 60, "eu-1")
	f.appendPreCalls(own(1), mention, stays)
	renamed := preCall(4, 1, 70, "eu-1") // of a session that has the name only in a rename
	f.appendPreCalls(renamed)
	name, err := json.Marshal(realName)
	require.NoError(t, err)
	f.append(batch(4, fabricEvent(1, 70, "userIDChange", `{"userIDType":"local","newUserID":`+string(name)+`}`)))

	var exportedAt []int64
	for _, e := range f.export(realName) {
		if e.Type == storage.ExportedPreCall {
			exportedAt = append(exportedAt, e.AtMs)
			require.Contains(t, string(e.Document), `"provider":"eu-1"`)
		}
	}
	require.Equal(t, []int64{at(1).UnixMilli(), at(70).UnixMilli()}, exportedAt)

	e := f.erase(realName)
	f.appendPreCalls(own(2))
	want := own(1)
	want.Session.UserID, want.Session.UserAlias = e.Pseudonym, e.Pseudonym
	want.Session.Details = map[string]string{semconv.SiteID: "site 1", semconv.ApplicationVersion: "2.3", semconv.UserAgent: "Chrome/130"}
	want.Result.Reason, want.Result.Providers[0].Transports[1].Error = "", ""
	late := want
	late.Seq, late.At, late.ObservedAt = 2, at(2), at(3)
	require.Equal(t, []storage.PreCall{late, want}, f.preCalls(storage.PreCallQuery{SiteID: "site 1"}))
	require.Len(t, f.preCalls(storage.PreCallQuery{UserID: e.Pseudonym}), 3)
	require.Empty(t, f.preCalls(storage.PreCallQuery{UserID: realName}))
	require.Empty(t, f.preCalls(storage.PreCallQuery{AdditionalID: "tenant 1"}))
	others := f.preCalls(storage.PreCallQuery{SiteID: "site 2"})
	require.Equal(t, "said "+e.Pseudonym, others[0].Result.Reason)
	require.Equal(t, "user 2", others[0].Session.UserID)
	require.Len(t, f.preCalls(storage.PreCallQuery{AdditionalID: "of " + e.Pseudonym}), 1)
	require.Equal(t, []storage.PreCall{stays}, f.preCalls(storage.PreCallQuery{UserID: "user 3"}))
	require.Equal(t, storage.Appended{Duplicates: 2}, f.appendPreCalls(own(1), own(2)))
	require.NotContains(t, fmt.Sprint(f.preCalls(storage.PreCallQuery{})), realName)
	require.False(t, slices.ContainsFunc([]string{realName, aliasName}, func(name string) bool { return bytes.Contains(f.engine.Files(t, f.s), []byte(name)) }))
}
