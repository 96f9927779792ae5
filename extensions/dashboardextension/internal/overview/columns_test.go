package overview

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
)

// Columns are counted as the digests of which they are.
func TestAddColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 20 {
		var b digest.Builder
		var all, part Totals
		for i := range 300 {
			app, at := []string{"shop", "desk", "help"}[r.IntN(3)], time.UnixMilli(int64(i))
			d := draw(r)
			if r.IntN(4) == 0 {
				d.Errors = []digest.Count{{Name: fmt.Sprint("function ", r.IntN(3)), Count: 1 + r.IntN(5)}}
				d.Issues = []digest.Count{{Name: "frozenVideo", Count: 1}, {Name: "lowBandwidth", Count: 2}}
				d.Label, d.Cause, d.Ratings = "poor", "senderUplink", r.IntN(3)
			}
			if r.IntN(4) == 0 {
				d.Members = append(d.Members, member("", "", "other", ""), member("", "", "chrome", ""))
			}
			body := d.Encode()
			if r.IntN(10) == 0 {
				body = nil
			}
			b.Add(app, at, body)
			direct := func(t *Totals) {
				var decoded digest.Digest
				if body == nil || new(digest.Decoder).Decode(body, &decoded) != nil {
					t.Pending(app)
					return
				}
				t.Add(app, &decoded)
			}
			direct(&all)
			if i >= 100 && i < 250 {
				direct(&part)
			}
		}
		c := b.Columns()
		require.Equal(t, 300, c.Len())
		first, end := c.Between(time.UnixMilli(100), time.UnixMilli(250))
		require.Equal(t, []int{100, 250}, []int{first, end})
		f := func(want *Totals, first, end int) {
			t.Helper()
			var got Totals
			got.AddColumns(c, first, end)
			require.Equal(t, *want, got)
		}
		f(&all, 0, 300)
		f(&part, first, end)
		f(&Totals{}, end, end)
	}
}
