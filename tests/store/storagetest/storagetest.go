// Package storagetest is the conformance suite of package storage: every engine must pass it.
package storagetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// Open returns an empty store of the engine, and closes it when the test ends.
type Open func(t *testing.T) (storage.Writer, storage.Reader)

// Run tests a store with one goroutine. RunConcurrent and RunFollow have the other tests.
func Run(t *testing.T, open Open) {
	t.Helper()
	for name, test := range map[string]func(*fixture){
		"Append/duplicates":      testDuplicates,
		"Append/partial frames":  testPartialFrames,
		"Append/frame of many":   testFrameOfManyConferences,
		"Append/portions":        testFrameOfManyTransactions,
		"Append/number again":    testNumberAgain,
		"Append/all or nothing":  testAllOrNothing,
		"Append/invalid":         testInvalid,
		"Append/nothing":         testNothing,
		"Append/cancelled":       testCancelled,
		"Records/values":         testValues,
		"Records/order":          testOrder,
		"Records/any bytes":      testAnyBytes,
		"Records/any names":      testAnyNames,
		"Records/stop":           testStop,
		"Records/many":           testMany,
		"Records/late":           testLate,
		"Session/users":          testUsers,
		"Session/newest wins":    testNewestSession,
		"Session/apps apart":     testAppsApart,
		"Join/gap":               testGap,
		"Join/merge":             testMerge,
		"Join/annotations":       testAnnotations,
		"Join/any order":         testAnyOrder,
		"Renames/order":          testRenames,
		"Renames/merged":         testRenamesMerged,
		"Summary/revisions":      testRevisions,
		"Summary/near":           testSummaryNear,
		"Summary/of nothing":     testSummaryOfNothing,
		"Summary/merge":          testSummaryMerge,
		"Summary/invalid":        testSummaryInvalid,
		"Summary/digest":         testDigest,
		"Summary/digest, merged": testDigestMerged,
		"Digests/order":          testDigests,
		"Digests/many":           testDigestsMany,
		"Digests/while written":  testDigestsWhileWritten,
		"Conferences/pages":      testPages,
		"Conferences/crowded":    testCrowdedPages,
		"Conferences/search":     testSearch,
		"Conferences/any query":  testAnyQuery,
		"Find/each word":         testFind,
		"Find/described anew":    testFindDescribedAnew,
		"Find/merged":            testFindMerged,
		"Find/summary":           testFindSummary,
		"Find/scores":            testFindScores,
		"Find/too many":          testFindTooMany,
		"Conference/not found":   testNotFound,
		"Unattached/borders":     testUnattachedBorders,
		"Unattached/attached":    testUnattachedAttached,
		"Unattached/day away":    testNeighbourADayAway,
		"Unattached/list":        testUnattachedList,
		"Unattached/many":        testUnattachedMany,
		"Unattached/retention":   testUnattachedRetention,
		"Retention/of a summary": testSummaryRetention,
		"Retention/of an app":    testAppRetention,
		"Conference/near a time": testNearTime,
		"PreCalls/stored":        testPreCalls,
		"PreCalls/invalid":       testPreCallsInvalid,
		"PreCalls/found":         testPreCallsFound,
		"PreCalls/failed":        testPreCallsFailed,
		"PreCalls/retention":     testPreCallsRetention,
	} {
		t.Run(name, func(t *testing.T) {
			w, r := open(t)
			test(&fixture{t: t, w: w, r: r})
		})
	}
}

// fixture is one store and helpers for tests.
type fixture struct {
	t *testing.T
	w storage.Writer
	r storage.Reader

	count uint64 // number of frames that named appended
}

const (
	app  = "app"
	call = "standup"
)

// epoch is second 0 of the tests.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second))).Truncate(time.Millisecond)
}

// sessionID returns the id of session n; ids are in order of n.
func sessionID(n int) string { return fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", n) }

func session(n int) storage.Session {
	return storage.Session{ID: sessionID(n), AppID: app, UserID: fmt.Sprint("user ", n), UserAlias: fmt.Sprint("alias ", n)}
}

// activity returns a record that keeps a conference alive.
func activity(seq uint64, index int, second float64) storage.Record {
	return storage.Record{
		Seq: seq, Index: index, ConferenceID: call, ConferenceAt: at(second), Fabric: 1, Name: "qos.stats",
		At: at(second), ObservedAt: at(second + 1), Activity: true,
		Attributes: map[string]any{"qos.stats.packets": int64(seq), "qos.stats.type": "inbound-rtp"},
	}
}

// annotation returns an annotation about a second.
func annotation(seq uint64, conferenceAt, second float64) storage.Record {
	return storage.Record{
		Seq: seq, ConferenceID: call, ConferenceAt: at(conferenceAt), Name: "qos.feedback",
		At: at(second), ObservedAt: at(second), Attributes: map[string]any{"qos.feedback.overall": int64(4)},
	}
}

func batch(n int, records ...storage.Record) storage.Batch {
	return storage.Batch{Session: session(n), Records: records}
}

// append appends batches and returns the result.
func (f *fixture) append(batches ...storage.Batch) storage.Appended {
	f.t.Helper()
	got, err := f.w.Append(f.t.Context(), batches)
	require.NoError(f.t, err)
	return got
}

func (f *fixture) list(q storage.Query) storage.Page {
	f.t.Helper()
	page, err := f.r.Conferences(f.t.Context(), q)
	require.NoError(f.t, err)
	return page
}

// spans returns start and end, in seconds, of all conferences, the earliest first.
func (f *fixture) spans() (out [][2]float64) {
	f.t.Helper()
	list := f.list(storage.Query{}).Conferences
	for _, c := range slices.Backward(list) {
		out = append(out, [2]float64{c.Start.Sub(epoch).Seconds(), c.End.Sub(epoch).Seconds()})
	}
	return out
}

func (f *fixture) conference(second float64) storage.Conference {
	f.t.Helper()
	c, err := f.r.Conference(f.t.Context(), ref(second))
	require.NoError(f.t, err)
	return c
}

func ref(second float64) storage.Ref {
	return storage.Ref{AppID: app, ConferenceID: call, At: at(second)}
}

// read is a record yielded by Records.
type read struct {
	session string
	record  storage.Record
}

func (f *fixture) records(r storage.Ref) []read {
	f.t.Helper()
	out, err := allRecords(f.t.Context(), f.r, r)
	require.NoError(f.t, err)
	return out
}

func allRecords(ctx context.Context, r storage.Reader, ref storage.Ref) (out []read, err error) {
	err = r.Records(ctx, ref, func(session string, r storage.Record) bool {
		out = append(out, read{session, r})
		return true
	})
	return out, err
}

// seqs returns the numbers of the records of the conference at a second.
func (f *fixture) seqs(second float64) (out []uint64) {
	f.t.Helper()
	for _, r := range f.records(ref(second)) {
		out = append(out, r.record.Seq)
	}
	return out
}

// people returns the session ids of a conference's participants.
func people(c storage.Conference) (out []string) {
	for _, p := range c.Participants {
		out = append(out, p.Session.ID)
	}
	return out
}
