package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// subject is what visits share: each is a subtest that opens frames of its own.
type subject func(*testing.T, *windows)

// logins is what the subtests leave to be looked at when all is over.
type logins struct {
	mu      sync.Mutex
	stories []*story
}

func (l *logins) tell(one *story) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stories = append(l.stories, one)
}

// TestAuth logs real browsers in at a site whose nginx ends TLS, by secret and by tokens of
// the real agent, and shows what each fault comes to in the page.
//
// spec: AUTH-01, AUTH-02, AUTH-03, AUTH-04, AUTH-05, AUTH-06, AUTH-07, AUTH-08, SRV-01
func TestAuth(t *testing.T) {
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin") // where Debian has nginx
	browser.Require(t, browserKinds()...)
	testenv.Program(t, "nginx")
	testenv.Program(t, "certutil")
	s := startSite(t)
	all := map[string]subject{}
	for _, some := range []map[string]subject{s.forms(), s.generators(), s.faults(), s.origins(), s.registered()} {
		maps.Copy(all, some)
	}
	t.Run("Browsers", func(t *testing.T) {
		for _, kind := range browserKinds() {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				w := s.open(t, kind)
				for name, test := range all {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						test(t, w)
					})
				}
			})
		}
	})
	for _, one := range s.logins.stories {
		one.awaits(t)
	}
	s.collector.stop()
	for _, one := range s.logins.stories {
		t.Run("Account/"+one.tab.room, one.check)
	}
	t.Run("Logs", s.checkLogs)
}

// Applications that the collector knows beside demo, which has the agent's key too.
const (
	openAppID     = "open" // any origin may use it
	openAppSecret = "open-secret"
	sharedApp     = "shared" // so is its key named
	sharedKey     = "a-key-that-the-origin-server-shares-with-the-collector"
)

// register makes the applications of the site known to the collector, and has it keep
// further ones, which an operator makes while it runs.
func (s *site) register() {
	s.t.Helper()
	file := filepath.Join(s.dir, "public.pem")
	require.NoError(s.t, os.WriteFile(file, []byte(s.agent.publicKey()), 0o600))
	keys := fmt.Sprintf("keys: [{key_id: %q, public_key_file: %q}]", s.agent.key.ID(), file)
	s.collector.more = fmt.Sprintf(`
extensions:
  qosapps:
    storage: qosstorage
    management: {endpoint: %q, tokens: [{name: test, token: %s}]}
    apps:
      - {id: %s, secrets: [%s], origins: [%s], %s}
      - {id: %s, secrets: [%s], %s}
      - {id: %s, keys: [{key_id: %s, algorithm: HS256, secret: %s}]}
      - {id: %s, %s, limits: {handshakes_per_second: 0.2}}
      - {id: %s, %s, limits: {handshakes_per_second: 0.2}}
`, strings.TrimPrefix(s.management, "http://"), managerToken, appID, appSecret, appOrigin, keys,
		openAppID, openAppSecret, keys, sharedApp, sharedApp, sharedKey,
		throttledApp+browser.Chromium, keys, throttledApp+browser.Firefox, keys)
}
