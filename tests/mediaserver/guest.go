package mediaserver

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// startGuest starts a participant without a page, who sends a recording (tests/guests), and waits until it has joined. It leaves
// cleanly at SIGTERM, and vanishes with the test.
func startGuest(t *testing.T, server, url, room, identity string) *browser.Process {
	t.Helper()
	guest, out, err := browser.StartProcess(t.TempDir(), testenv.Program(t, "guest"),
		"-server", server, "-url", url, "-key", Key, "-secret", Secret, "-room", room, "-identity", identity, "-for", "5m")
	require.NoError(t, err)
	t.Cleanup(guest.Kill)
	_, err = browser.FirstMatch(out, regexp.MustCompile(`"event":"(joined)"`))
	require.NoError(t, err)
	return guest
}
