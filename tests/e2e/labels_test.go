package e2e

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// boundsConfig is the rules extension as docs/quality.md shows it, with other bounds.
func boundsConfig(t *testing.T, bounds string) string {
	t.Helper()
	const usual = "[4.2, 3.8, 3.2, 2.6]"
	text, err := os.ReadFile("../../docs/quality.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(text), "```yaml\nextensions:\n")
	require.True(t, found)
	block, _, found = strings.Cut(block, "service:\n") // deploy/run.yaml lists the extension
	require.True(t, found)
	require.Equal(t, 1, strings.Count(block, usual), "they are written once")
	return "extensions:\n" + strings.Replace(block, usual, bounds, 1)
}

// TestLabelBounds: by the bounds of the rules extension the library labels for the application, the
// quality processor for the store and the conference processor in the summary: under these nothing
// is good.
//
// spec: QUAL-01, STAT-02
func TestLabelBounds(t *testing.T) {
	browser.Require(t, browser.Chromium)
	s := &scene{collector: newCollector(t)}
	s.more = boundsConfig(t, "[4.9, 4.8, 4.7, 4.6]")
	s.start()
	one := &call{name: "bounds", kind: browser.Chromium, room: "bounds of labels"}
	b := browser.Start(t, browser.Chromium)
	ada := s.join(t, b, one, "ada")
	grace := s.join(t, b, one, "grace")
	for _, p := range []*page{ada, grace} {
		p.mediaFlows()
	}
	labels := map[string]bool{}
	ada.Until(patience, "demo.state.statsCount >= 5")
	var stats struct {
		ConferenceURL     string
		MediaStreamTracks []struct{ Quality *string }
	}
	ada.Get("demo.state.stats", &stats)
	for _, track := range stats.MediaStreamTracks {
		if track.Quality != nil {
			labels[*track.Quality] = true
		}
	}
	require.Equal(t, map[string]bool{"bad": true}, labels, "what the library gave to the application")

	one.url = stats.ConferenceURL
	s.hangUp(one, ada)
	s.hangUp(one, grace)
	browser.Eventually(t, patience, "the summary", func() (bool, string) {
		rows := s.list(one.room)
		return len(rows) == 1 && rows[0].State == "ended", fmt.Sprintf("%+v", rows)
	})
	summary := s.detail(t, one).Summary
	require.Equal(t, "bad", summary.Label)
	require.InDelta(t, 1, *summary.ShareBad, 1e-9)
	streams, highest := 0, 0.0
	for _, p := range summary.Participants {
		for _, f := range p.Fabrics {
			for _, stream := range f.Streams {
				if stream.MOS != nil {
					require.Equal(t, map[string]float64{"bad": 1}, stream.QualityShare, "the stamp of the quality processor")
					require.Equal(t, "bad", stream.Labels[0].Label, "what the conference processor makes of the score")
					streams, highest = streams+1, max(highest, stream.MOS.Mean)
				}
			}
		}
	}
	require.GreaterOrEqual(t, streams, 6)
	require.Greater(t, highest, 2.6, "by the usual bounds not every stream was bad")
	require.NotContains(t, s.out.String(), "labelled by other bounds")
	s.checkLowest(t, one)
}

// checkLowest: the page shows what a stream's lowest score was made of.
//
// spec: DASH-02, QUAL-01
func (s *scene) checkLowest(t *testing.T, one *call) {
	t.Helper()
	address, err := url.Parse(one.url)
	require.NoError(t, err)
	var answer struct {
		Streams []struct {
			StatsType, MediaType, Codec string
			MOS                         []*float64
			Lowest                      *struct {
				MOS                        float64
				Model, Confidence, Assumed string
				Inputs                     map[string]float64
			}
		}
	}
	s.ask("/api/conference", address.Query(), &answer)
	scored := 0
	for _, stream := range answer.Streams {
		lowest := 5.0
		for _, mos := range stream.MOS {
			if mos != nil {
				lowest = min(lowest, *mos)
			}
		}
		if lowest == 5 {
			require.Nil(t, stream.Lowest)
			continue
		}
		scored++
		require.NotNil(t, stream.Lowest)
		t.Logf("%s %s %s: %+v", stream.StatsType, stream.MediaType, stream.Codec, *stream.Lowest)
		require.InDelta(t, lowest, stream.Lowest.MOS, 1e-4)
		require.NotEmpty(t, stream.Lowest.Confidence)
		if stream.MediaType == "audio" {
			require.Contains(t, stream.Lowest.Model, "qos-audio/")
			require.Contains(t, stream.Lowest.Inputs, "delay_ms")
		} else {
			require.Contains(t, stream.Lowest.Model, "qos-video/")
		}
	}
	require.GreaterOrEqual(t, scored, 6)
}

// TestTwoOwnersOfRules: the collector does not start with two, and names them.
//
// spec: QUAL-01
func TestTwoOwnersOfRules(t *testing.T) {
	browser.Require(t)
	c := newCollector(t)
	c.more = `
extensions:
  qosrules/strict: {labels: {preset: itu-g107}}
service:
  extensions: [healthcheckv2, qosapps, qosrules, qosrules/strict, qosstorage, qosdashboard, qosdemo]
`
	c.launch(t)
	select {
	case <-c.process.Done():
	case <-time.After(patience):
		t.Fatal("it goes on\n" + c.out.String())
	}
	require.False(t, c.process.Success())
	require.Contains(t, c.out.String(), `extensions "qosrules" and "qosrules/strict" both have the rules of labels and detectors`)
}
