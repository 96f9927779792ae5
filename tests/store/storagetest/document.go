package storagetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// Column changes the stored document of the only summary in a store.
type Column func(t *testing.T, s Store, change func(column []byte) []byte)

// RunDocuments tests how an engine stores the documents of summaries.
func RunDocuments(t *testing.T, open func(t *testing.T) Store, column Column) {
	t.Helper()
	for name, test := range map[string]func(*documentFixture){
		"compressed": testDocumentCompressed,
		"schema 1":   testDocumentPlain,
		"damaged":    testDocumentDamaged,
		"moves":      testDocumentMoves,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			test(&documentFixture{fixture{t: t, w: s, r: s}, func(change func([]byte) []byte) { t.Helper(); column(t, s, change) }})
		})
	}
}

type documentFixture struct {
	fixture
	column func(change func([]byte) []byte)
}

// long returns a summary with a document as long as that of a call of two.
func long(revision int) storage.Summary {
	s := summary(0, 0, revision)
	var streams []string
	for i := range 40 {
		streams = append(streams, fmt.Sprintf(`{"ssrc":%d,"statsType":"inbound-rtp","jitterMs":{"mean":%d.%d,"p50":%d.5,"max":%d}}`, i*7919, i%40, i*i%97, i%30, i*3))
	}
	s.Document = json.RawMessage(`{"streams":[` + strings.Join(streams, ",") + `]}`)
	return s
}

func (f *documentFixture) write() storage.Summary {
	f.append(batch(1, activity(1, 0, 0)))
	s := long(1)
	f.put(s)
	return s
}

func testDocumentCompressed(f *documentFixture) {
	s := f.write()
	require.Equal(f.t, s.Document, f.conference(0).Summary.Document)
	f.column(func(kept []byte) []byte {
		require.Less(f.t, len(kept), len(s.Document)/3)
		return kept
	})
	page := f.list(storage.Query{})
	require.Nil(f.t, page.Conferences[0].Summary.Document, "a listing has none")
	s.Document = nil
	require.Equal(f.t, &s, page.Conferences[0].Summary)
}

// Stores of the first schema have documents as plain JSON.
func testDocumentPlain(f *documentFixture) {
	s := f.write()
	f.column(func([]byte) []byte { return s.Document })
	require.Equal(f.t, &s, f.conference(0).Summary)
}

// Without the document everything is read, the error names the conference, and a new revision repairs it.
func testDocumentDamaged(f *documentFixture) {
	t := f.t
	s := f.write()
	var whole []byte
	f.column(func(kept []byte) []byte { whole = kept; return kept })
	spoilt := map[string][]byte{"cut off": whole[:len(whole)/2], "one byte": whole[:1], "longer": append(slices.Clip(whole), 0)}
	for _, bit := range []int{9, 8 * len(whole) / 2, 8*len(whole) - 1} {
		flipped := append([]byte{}, whole...)
		flipped[bit/8] ^= 1 << (bit % 8)
		spoilt[fmt.Sprint("bit ", bit)] = flipped
	}
	s.Document = nil
	for name, column := range spoilt {
		f.column(func([]byte) []byte { return column })
		c, err := f.r.Conference(t.Context(), ref(0))
		require.ErrorIs(t, err, storage.ErrDamaged, name)
		require.ErrorContains(t, err, `"`+call+`"`, name)
		require.ErrorContains(t, err, `"`+app+`"`, name)
		require.Equal(t, &s, c.Summary, name)
		require.Equal(t, []string{sessionID(1)}, people(c), name)
		require.Len(t, f.list(storage.Query{}).Conferences, 1, name)
		require.Len(t, f.records(ref(0)), 1, name)
	}
	mended := long(2)
	f.put(mended)
	require.Equal(t, &mended, f.conference(0).Summary)
}

// A merge does not change a document.
func testDocumentMoves(f *documentFixture) {
	s := long(3)
	f.append(batch(1, activity(1, 0, 20)))
	f.put(s)
	require.Equal(f.t, &s, f.conference(20).Summary)
	f.append(batch(1, activity(2, 0, -35)))
	f.append(batch(1, activity(3, 0, -10))) // merges them into the earlier row
	require.Len(f.t, f.spans(), 1)
	require.Equal(f.t, &s, f.conference(0).Summary)
}
