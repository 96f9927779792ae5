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

// columnsOf returns one conference of an app as columns.
func columnsOf(app string, body []byte) *digest.Columns {
	var b digest.Builder
	b.Add(app, time.UnixMilli(1), body)
	return b.Columns()
}

func TestColumns(t *testing.T) {
	c := columnsOf("shop", want().Encode())
	r, texts := c.Row(0), c.Texts()
	require.Equal(t, []string{"shop", "partiallyFailed", "fair", ""}, []string{texts[r.App], texts[r.Outcome], texts[r.Label], texts[r.Cause]})
	require.Equal(t, []int{2, 2, 1}, []int{r.Participants, r.Ratings, c.Len()})
	require.InDelta(t, 3.123, r.MOS, 1e-9)
	require.Equal(t, []bool{true, false}, []bool{r.Failed, r.Pending})
	require.Equal(t, []int64{120, 3002}, c.Setup(r))
	require.Equal(t, []string{"addIceCandidate", "createOffer"}, []string{texts[c.Errors(r)[0].Name], texts[c.Errors(r)[1].Name]})
	require.Equal(t, []int{1, 2}, []int{c.Errors(r)[0].Count, c.Errors(r)[1].Count})
	require.Equal(t, 3, c.Issues(r)[0].Count)
	var members [][]string
	c.Members(r, func(facts []uint32) bool {
		var all []string
		for _, f := range facts {
			all = append(all, texts[c.Facts()[f].Value])
		}
		members = append(members, all)
		return true
	})
	slices.Sort(members[0])
	require.Equal(t, [][]string{
		{"192.0.2.0", "4.2.0", "Headset (0b0e:030a)", "VP8", "firefox", "firefox 144", "linux", "multiplex", "opus", "relay", "screen", "shop", "tls", "wifi", "Ålesund"},
		{"shop"},
	}, members)
	require.Greater(t, c.Bytes(), 100)
	_, ok := c.Text("nowhere")
	require.False(t, ok)
}

// drawnDigest is a digest whose texts are of few values.
func drawnDigest(t *rapid.T) *digest.Digest {
	text := rapid.SampledFrom([]string{"", "a", "b", "144", "145", "firefox"})
	counts := rapid.Custom(func(t *rapid.T) digest.Count {
		return digest.Count{Name: text.Draw(t, "name"), Count: rapid.IntRange(0, 9).Draw(t, "count")}
	})
	member := rapid.Custom(func(t *rapid.T) digest.Member {
		return digest.Member{
			SiteID: text.Draw(t, "site"), ApplicationVersion: text.Draw(t, "version"), Browser: text.Draw(t, "browser"), BrowserVersion: text.Draw(t, "major"),
			Fabrics: []digest.Fabric{{Usage: text.Draw(t, "usage"), Codecs: text.Draw(t, "codecs")}},
		}
	})
	return &digest.Digest{
		Outcome: rapid.SampledFrom([]string{"success", "dropped", ""}).Draw(t, "outcome"), Label: text.Draw(t, "label"), Cause: text.Draw(t, "cause"),
		MOS: float64(rapid.IntRange(0, 5).Draw(t, "mos")), Participants: rapid.IntRange(0, 4).Draw(t, "participants"),
		SetupMs: slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Int64Range(0, 9), 0, 3).Draw(t, "setup"))), WorstRating: rapid.IntRange(0, 5).Draw(t, "rating"),
		RTTMs: float64(rapid.IntRange(0, 3).Draw(t, "rtt")), LossFraction: float64(rapid.IntRange(0, 3).Draw(t, "loss")) / 4,
		Errors: rapid.SliceOfN(counts, 0, 2).Draw(t, "errors"), Issues: rapid.SliceOfN(counts, 0, 2).Draw(t, "issues"),
		Members: rapid.SliceOfN(member, 0, 3).Draw(t, "members"),
	}
}

// A filter selects of columns what it selects of digests.
func TestFilterInColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "", "", "a", "b", "144", "firefox", "nowhere"})
		score := rapid.SampledFrom([]float64{0, 0, 1, 3})
		f := digest.Filter{
			Failed: rapid.Bool().Draw(t, "failed") && rapid.Bool().Draw(t, "really"), Outcome: rapid.SampledFrom([]string{"", "", "dropped"}).Draw(t, "outcome"), Label: text.Draw(t, "label"), Cause: text.Draw(t, "cause"),
			MinMOS: score.Draw(t, "min"), MaxMOS: score.Draw(t, "max"), Function: text.Draw(t, "function"), Issue: text.Draw(t, "issue"), SiteID: text.Draw(t, "site"),
			ApplicationVersion: text.Draw(t, "version"), Browser: text.Draw(t, "browser"), BrowserVersion: text.Draw(t, "major"),
			MinSetupMs: max(0, rapid.Int64Range(-9, 9).Draw(t, "setup")), MaxRating: max(0, rapid.IntRange(-5, 5).Draw(t, "rating")),
			AboveRTTMs: max(0, float64(rapid.IntRange(-3, 3).Draw(t, "rtt"))), AboveLoss: max(0, float64(rapid.IntRange(-3, 3).Draw(t, "loss"))/4),
		}
		var b digest.Builder
		var bodies [][]byte
		for i := range rapid.IntRange(1, 5).Draw(t, "n") {
			bodies = append(bodies, drawnDigest(t).Encode())
			b.Add("app "+strconv.Itoa(i), time.UnixMilli(int64(i)), bodies[i])
		}
		c := b.Columns()
		match := f.In(c)
		for i, body := range bodies {
			require.Equal(t, len(body) > 0 && matches(f, decode(t, body)), match(c.Row(i)), "%+v of %+v", f, decode(t, body))
		}
	})
}

// Bytes that the decoder refuses are a conference without a summary, and leave the others as they are.
func FuzzColumns(f *testing.F) {
	f.Add(want().Encode())
	f.Add([]byte{0x5a, 0x02, 0x62, 0x05})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		var d digest.Digest
		bad := len(body) == 0 || new(digest.Decoder).Decode(body, &d) != nil
		var b digest.Builder
		good := want().Encode()
		b.Add("shop", time.UnixMilli(1), good)
		b.Add("shop", time.UnixMilli(2), body)
		b.Add("shop", time.UnixMilli(3), good)
		c := b.Columns()
		require.Equal(t, []bool{false, bad, false}, []bool{c.Row(0).Pending, c.Row(1).Pending, c.Row(2).Pending})
		if !bad {
			require.Equal(t, []int{d.Participants, d.Ratings}, []int{c.Row(1).Participants, c.Row(1).Ratings})
			require.Equal(t, d.Outcome, c.Texts()[c.Row(1).Outcome])
			require.Len(t, c.Errors(c.Row(1)), len(d.Errors))
			members := 0
			c.Members(c.Row(1), func([]uint32) bool { members++; return true })
			require.Equal(t, len(d.Members), members)
		}
		facts := func(i int) (all [][]uint32) {
			c.Members(c.Row(i), func(facts []uint32) bool { all = append(all, slices.Clone(facts)); return true })
			return all
		}
		require.Equal(t, facts(0), facts(2))
		require.Equal(t, c.Setup(c.Row(0)), c.Setup(c.Row(2)))
	})
}
