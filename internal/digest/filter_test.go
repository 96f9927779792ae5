package digest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/digest"
)

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
		{Site: "Ålesund", ApplicationVersion: "4.2.0", Browser: "firefox"},
		{Browser: "firefox", BrowserVersion: "144"},
		{BrowserVersion: "144"},
	} {
		require.True(t, match.Match(d), match)
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
		{Site: "ålesund"},
		{ApplicationVersion: "4.2"},
		{Browser: "chrome"},
		{Browser: "firefox", BrowserVersion: "143"},
		{Failed: true, Label: "good"},
	} {
		require.False(t, other.Match(d), other)
	}
	require.False(t, (&digest.Filter{MaxRating: 2}).Match(&digest.Digest{WorstRating: 3}))
	two := &digest.Digest{Outcome: "missed", Members: []digest.Member{{Browser: "firefox", BrowserVersion: "144"}, {Browser: "chrome", BrowserVersion: "142"}}}
	require.False(t, (&digest.Filter{Browser: "firefox", BrowserVersion: "142"}).Match(two), "two participants are not one")
	require.False(t, (&digest.Filter{Failed: true}).Match(two), "a missed call has not failed")
	require.False(t, (&digest.Filter{MaxMOS: 5}).Match(two), "no score is in no range")
	require.False(t, (&digest.Filter{MinSetupMs: 1}).Match(two), "no setup is of any time")
	require.False(t, (&digest.Filter{AboveRTTMs: 1e-3}).Match(two), "no round-trip time is above none")
	require.False(t, (&digest.Filter{AboveLoss: 1e-6}).Match(two), "no loss is above none")
	require.False(t, (&digest.Filter{MaxRating: 5}).Match(two), "no rating is in no range")
	require.True(t, (&digest.Filter{}).Match(two))
}
