package digest_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
)

// matches is what Filter.In is compared with: the same conditions on a digest.
func matches(f digest.Filter, d *digest.Digest) bool {
	return hasResult(&f, d) && hasCounts(&f, d) && hasMember(&f, d)
}

func hasResult(f *digest.Filter, d *digest.Digest) bool {
	switch {
	case f.Failed && !digest.Failed(d.Outcome),
		f.Outcome != "" && f.Outcome != d.Outcome,
		f.Label != "" && f.Label != d.Label,
		f.Cause != "" && f.Cause != d.Cause,
		f.MinMOS > 0 && d.MOS < f.MinMOS,
		f.MaxMOS > 0 && (d.MOS == 0 || d.MOS > f.MaxMOS),
		f.MinSetupMs > 0 && (len(d.SetupMs) == 0 || d.SetupMs[len(d.SetupMs)-1] < f.MinSetupMs),
		f.AboveRTTMs > 0 && d.RTTMs <= f.AboveRTTMs,
		f.AboveLoss > 0 && d.LossFraction <= f.AboveLoss,
		f.MaxRating > 0 && (d.WorstRating == 0 || d.WorstRating > f.MaxRating):
		return false
	}
	return true
}

func hasCounts(f *digest.Filter, d *digest.Digest) bool {
	return (f.Function == "" || has(d.Errors, f.Function)) && (f.Issue == "" || has(d.Issues, f.Issue))
}

func has(counts []digest.Count, name string) bool {
	return slices.ContainsFunc(counts, func(c digest.Count) bool { return c.Name == name })
}

func hasMember(f *digest.Filter, d *digest.Digest) bool {
	someone := func(match func(m *digest.Member) bool) bool {
		for i := range d.Members {
			if match(&d.Members[i]) {
				return true
			}
		}
		return false
	}
	return (f.SiteID == "" || someone(func(m *digest.Member) bool { return m.SiteID == f.SiteID })) &&
		(f.ApplicationVersion == "" || someone(func(m *digest.Member) bool { return m.ApplicationVersion == f.ApplicationVersion })) &&
		(f.Browser == "" && f.BrowserVersion == "" || someone(func(m *digest.Member) bool {
			return (f.Browser == "" || m.Browser == f.Browser) && (f.BrowserVersion == "" || m.BrowserVersion == f.BrowserVersion)
		}))
}

func TestFilter(t *testing.T) {
	d := want()
	d.Cause = "senderUplink"
	for _, match := range []digest.Filter{
		{},
		{Failed: true},
		{Outcome: "partiallyFailed", Label: "fair", Cause: "senderUplink"},
		{MinMOS: 3.123, MaxMOS: 3.123},
		{MinSetupMs: 3002, MaxRating: 1},
		{AboveRTTMs: 212.345, AboveLoss: 0.031234},
		{Function: "createOffer", Issue: "frozenVideo"},
		{SiteID: "Ålesund", ApplicationVersion: "4.2.0", Browser: "firefox"},
		{Browser: "firefox", BrowserVersion: "144"},
		{BrowserVersion: "144"},
	} {
		require.True(t, matches(match, d), match)
	}
	for _, other := range []digest.Filter{
		{Outcome: "success"},
		{Label: "good"},
		{Cause: "unknown"},
		{MinMOS: 3.2},
		{MaxMOS: 3.1},
		{MinSetupMs: 3003},
		{AboveRTTMs: 212.346},
		{AboveLoss: 0.031235},
		{Function: "frozenVideo"},
		{Issue: "createOffer"},
		{SiteID: "ålesund"},
		{ApplicationVersion: "4.2"},
		{Browser: "chrome"},
		{Browser: "firefox", BrowserVersion: "143"},
		{Failed: true, Label: "good"},
	} {
		require.False(t, matches(other, d), other)
	}
	require.False(t, matches(digest.Filter{MaxRating: 2}, &digest.Digest{WorstRating: 3}))
	two := &digest.Digest{Outcome: "missed", Members: []digest.Member{{Browser: "firefox", BrowserVersion: "144"}, {Browser: "chrome", BrowserVersion: "142"}}}
	require.False(t, matches(digest.Filter{Browser: "firefox", BrowserVersion: "142"}, two), "two participants are not one")
	require.False(t, matches(digest.Filter{Failed: true}, two), "a missed call has not failed")
	require.False(t, matches(digest.Filter{MaxMOS: 5}, two), "no score is in no range")
	require.False(t, matches(digest.Filter{MinSetupMs: 1}, two), "no setup is of any time")
	require.False(t, matches(digest.Filter{AboveRTTMs: 1e-3}, two), "no round-trip time is above none")
	require.False(t, matches(digest.Filter{AboveLoss: 1e-6}, two), "no loss is above none")
	require.False(t, matches(digest.Filter{MaxRating: 5}, two), "no rating is in no range")
	require.True(t, matches(digest.Filter{}, two))
}
