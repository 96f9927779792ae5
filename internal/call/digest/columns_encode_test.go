package digest_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/digest"
)

// asTexts is a row with all that it refers to, as texts.
type asTexts struct {
	digest.Row
	texts          [4]string
	setup          []int64
	errors, issues []digest.Count
	members        [][]string
}

// conferencesOf returns what columns say of each conference. The row's own numbers are left out.
func conferencesOf(c *digest.Columns) (out []asTexts) {
	texts := c.Texts()
	counts := func(all []digest.NamedCount) (out []digest.Count) {
		for _, n := range all {
			out = append(out, digest.Count{Name: texts[n.Name], Count: n.Count})
		}
		return out
	}
	for i := range c.Len() {
		r := c.Row(i)
		one := asTexts{
			Row: digest.Row{
				Start: r.Start, MOS: r.MOS, Participants: r.Participants, Ratings: r.Ratings, RTTMs: r.RTTMs, LossFraction: r.LossFraction,
				WorstRating: r.WorstRating, Pending: r.Pending, Failed: r.Failed,
			},
			texts: [4]string{texts[r.App], texts[r.Outcome], texts[r.Label], texts[r.Cause]},
			setup: append([]int64(nil), c.Setup(r)...), errors: counts(c.Errors(r)), issues: counts(c.Issues(r)),
		}
		c.Members(r, func(facts []uint32) bool {
			member := []string{}
			for _, f := range facts {
				fact := c.Facts()[f]
				member = append(member, strconv.Itoa(int(fact.Attribute))+" "+texts[fact.Value])
			}
			one.members = append(one.members, member)
			return true
		})
		out = append(out, one)
	}
	return out
}

// drawnColumns are conferences of some apps, some of them without a summary.
func drawnColumns(t *rapid.T) (_ *digest.Columns, apps []string) {
	var b digest.Builder
	at := time.UnixMilli(rapid.Int64Range(-9, 9).Draw(t, "start")).UTC()
	for range rapid.IntRange(0, 6).Draw(t, "n") {
		at = at.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "later")) * time.Millisecond)
		apps = append(apps, rapid.SampledFrom([]string{"shop", "desk", "a", ""}).Draw(t, "app"))
		var body []byte
		if rapid.IntRange(0, 4).Draw(t, "state") > 0 {
			body = drawnDigest(t).Encode()
		}
		b.Add(apps[len(apps)-1], at, body)
	}
	return b.Columns(), apps
}

func TestEncodedColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, apps := drawnColumns(t)
		decoded, err := digest.DecodeColumns(c.Encode())
		require.NoError(t, err)
		want := conferencesOf(c)
		require.Equal(t, want, conferencesOf(decoded))
		require.Equal(t, c.Encode(), decoded.Encode())

		app := rapid.SampledFrom([]string{"shop", "desk", "a", "", "nobody"}).Draw(t, "of")
		var ofApp []asTexts
		for i := range want {
			if apps[i] == app {
				ofApp = append(ofApp, want[i])
			}
		}
		require.Equal(t, ofApp, conferencesOf(decoded.Of(app)))
	})
}

// The scores of a digest come back to the last bit.
func TestEncodedColumnsAreExact(t *testing.T) {
	for i := range 5001 {
		d := want()
		d.MOS, d.RTTMs, d.LossFraction = float64(i)/1000, float64(i)/1000, float64(i)/5000
		var b digest.Builder
		b.Add("shop", time.UnixMilli(1).UTC(), d.Encode())
		c := b.Columns()
		decoded, err := digest.DecodeColumns(c.Encode())
		require.NoError(t, err)
		require.Equal(t, conferencesOf(c), conferencesOf(decoded))
	}
}

func FuzzDecodeColumns(f *testing.F) {
	c := columnsOf("shop", want().Encode())
	f.Add(c.Encode())
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{2})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := digest.DecodeColumns(b)
		if err != nil {
			require.ErrorIs(t, err, digest.ErrMalformed)
			return
		}
		conferencesOf(c)
		for _, app := range c.Texts() {
			conferencesOf(c.Of(app))
		}
		again, err := digest.DecodeColumns(c.Encode())
		require.NoError(t, err)
		require.Equal(t, conferencesOf(c), conferencesOf(again))
	})
}

// Every cut and every other version is refused.
func TestColumnsOfOthers(t *testing.T) {
	whole := columnsOf("shop", want().Encode()).Encode()
	for n := range whole {
		_, err := digest.DecodeColumns(whole[:n])
		require.ErrorIs(t, err, digest.ErrMalformed, "%d bytes", n)
	}
	_, err := digest.DecodeColumns(append(slices.Clone(whole), 0))
	require.ErrorIs(t, err, digest.ErrMalformed)
	whole[0]++
	_, err = digest.DecodeColumns(whole)
	require.ErrorIs(t, err, digest.ErrMalformed)
}

// BenchmarkColumns is 1,400 conferences, an hour: made of digests, encoded, decoded.
func BenchmarkColumns(b *testing.B) {
	var builder digest.Builder
	body := want().Encode()
	build := func() *digest.Columns {
		for i := range 1400 {
			builder.Add("shop", time.UnixMilli(int64(i)), body)
		}
		return builder.Columns()
	}
	encoded := build().Encode()
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			build()
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		c := build()
		for b.Loop() {
			c.Encode()
		}
	})
	b.Run("of an app", func(b *testing.B) {
		b.ReportAllocs()
		c := build()
		for b.Loop() {
			c.Of("shop")
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(encoded)))
		for b.Loop() {
			if _, err := digest.DecodeColumns(encoded); err != nil {
				b.Fatal(err)
			}
		}
	})
}
