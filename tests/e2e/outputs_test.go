package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/harness"
)

// checkDashboard reads the pages in a browser.
//
// spec: DASH-01, DASH-02, STAT-08
func (s *scene) checkDashboard(t *testing.T, b *browser.Browser) {
	t.Helper()
	first, before := s.calls[0], len(b.Errors())
	p := openPage(t, b, "conference", first.url)
	for _, text := range []string{first.room, "ada", "grace", reportedMessage, reportedFunction, comment, "opus", "VP8"} {
		p.Until(patience, fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
	p.Until(patience, "/mute/i.test(document.querySelector('#timeline').innerText)")
	p.Until(patience, "(document.querySelector('#streams').scrollIntoView(), document.querySelectorAll('#streams canvas').length > 0)")

	list := openPage(t, b, "conferences", s.dashboard+"/search")
	list.Until(patience, fmt.Sprintf("document.body.innerText.includes(%q)", first.room))
	list.Run(fmt.Sprintf("[...document.querySelectorAll('a')].find((a) => a.innerText.includes(%q)).click()", first.room))
	list.Until(patience, "location.pathname.endsWith('/conference') && document.querySelector('#timeline').innerText !== ''")
	p.CloseTab()
	list.CloseTab()
	require.Empty(t, b.Errors()[before:], "the pages run without an error")
}

// checkMetrics reads the scrape endpoint.
//
// spec: OUT-01
func (s *scene) checkMetrics(t *testing.T) {
	m := samples(t, s.read(s.metrics+"/metrics"))
	calls, long := float64(len(s.calls)), 0.0
	for _, one := range s.calls {
		if !one.brief {
			long++
		}
	}
	require.Equal(t, calls, m.Sum("qos_conferences_total", `app="demo"`, `outcome="success"`), "each once, whatever revisions came")
	for kind, name := range map[string]string{browser.Chromium: "chrome", browser.Firefox: "firefox"} {
		label := fmt.Sprintf("browser=%q", name)
		require.Equal(t, s.joined[kind], m.Sum("qos_participants_total", `app="demo"`, label))
		require.Equal(t, s.joined[kind], m.Sum("qos_fabric_setup_delay_seconds_count", `app="demo"`, label))
	}
	require.Equal(t, 2*calls, m.Sum("qos_participants_total"))
	require.Equal(t, calls, m.Sum("qos_conference_mos_count", `app="demo"`))
	require.Equal(t, long, m.Sum("qos_reported_errors_total", `app="demo"`, fmt.Sprintf("function=%q", reportedFunction)))
	require.Equal(t, long, m.Sum("qos_feedback_total", `app="demo"`, fmt.Sprintf(`rating="%d"`, rating)))
	require.Zero(t, m.Sum("qos_client_dropped_frames_total"))
	for _, labels := range []string{`media="audio",direction="inbound"`, `media="video",direction="inbound"`, `media="audio",direction="outbound"`} {
		require.GreaterOrEqual(t, m.Sum("qos_stream_mos_count", `app="demo"`, labels), long*2*float64(measurements-2), labels)
		require.Positive(t, m.Sum("qos_stream_mos_sum", `app="demo"`, labels), labels)
	}
	own := samples(t, s.read(s.telemetry+"/metrics"))
	for name, value := range own {
		if strings.Contains(name, "refused") || strings.Contains(name, "send_failed") {
			require.Zero(t, value, name)
		}
	}
}

// samples reads the text format.
func samples(t *testing.T, text string) harness.Metrics {
	t.Helper()
	m, err := harness.ParseMetrics(text)
	require.NoError(t, err)
	return m
}

// storeFile finds the store in its directory.
func storeFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sqlite3"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	return files[0]
}
