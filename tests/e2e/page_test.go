package e2e

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a state may take to come. It ends tests that hang, and no test is
// about it: a busy machine takes many times longer than an idle one.
const patience = 2 * time.Minute

// pollEvery is how often a condition is looked at. Conditions are what a user would wait
// for; nothing waits for a time to pass.
const pollEvery = 150 * time.Millisecond

// eventually waits until done returns true; what it returned last explains a failure.
func eventually(t *testing.T, within time.Duration, what string, done func() (bool, string)) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		ok, last := done()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s\nlast: %s", within, what, last)
		}
		<-time.After(pollEvery)
	}
}

// page is one window of a browser.
type page struct {
	t       *testing.T
	browser *browser
	context string
	name    string
}

// openPage opens a URL in a new window. A screenshot is kept when the test fails.
func openPage(t *testing.T, b *browser, name, address string) *page {
	t.Helper()
	context, err := b.open(address)
	require.NoError(t, err)
	p := &page{t: t, browser: b, context: context, name: name}
	t.Cleanup(p.keepIfFailed)
	return p
}

// get evaluates an expression in the page.
func (p *page) get(expression string, value any) {
	p.t.Helper()
	require.NoError(p.t, p.browser.evaluate(p.context, expression, value), p.name)
}

// run evaluates an expression for its effect.
func (p *page) run(expression string) {
	p.t.Helper()
	p.get(expression, nil)
}

// until waits for a condition in the page.
func (p *page) until(within time.Duration, condition string) {
	p.t.Helper()
	eventually(p.t, within, p.name+": "+condition, func() (bool, string) {
		var ok bool
		if err := p.browser.evaluate(p.context, "Boolean("+condition+")", &ok); err != nil {
			return false, err.Error()
		}
		if ok {
			return true, ""
		}
		var state json.RawMessage
		if err := p.browser.evaluate(p.context, "window.demo ? window.demo.state : document.body.innerText.slice(0, 2000)", &state); err != nil {
			return false, err.Error()
		}
		return false, string(state)
	})
}

// closeTab closes the window without a word, as a user does.
func (p *page) closeTab() {
	p.t.Helper()
	require.NoError(p.t, p.browser.do("browsingContext.close", map[string]any{"context": p.context}, nil))
	p.context = ""
}

var notInFileNames = regexp.MustCompile(`[^A-Za-z0-9-]+`)

func (p *page) keepIfFailed() {
	dir := artifacts(p.t)
	if !p.t.Failed() || p.context == "" || dir == "" {
		return
	}
	file := filepath.Join(dir, notInFileNames.ReplaceAllString(p.t.Name()+"-"+p.name, "-")+".png")
	if err := p.capture(file); err != nil {
		p.t.Logf("no screenshot of %s: %v", p.name, err)
		return
	}
	p.t.Logf("screenshot of %s: %s", p.name, file)
}

// capture writes a picture of the whole document.
func (p *page) capture(file string) error { return p.captureOf("document", file) }

// captureOf writes a picture of the document or of the viewport.
func (p *page) captureOf(origin, file string) error {
	data, err := p.browser.screenshot(p.context, origin)
	if err != nil {
		return err
	}
	png, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return err
	}
	return os.WriteFile(file, png, 0o600)
}

// artifacts returns where to keep what explains a failure, or "".
func artifacts(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("QOS_ARTIFACTS")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "qos-e2e")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Logf("no artifacts: %v", err)
		return ""
	}
	return dir
}

// demoURL is the demo page with its query parameters, given as key, value, key, value.
func demoURL(base, room, user string, more ...string) string {
	q := url.Values{"room": {room}, "user": {user}, "auto": {"1"}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return base + "/?" + q.Encode()
}

// mediaFlows waits until sound and picture of the other side are decoded here.
func (p *page) mediaFlows() {
	p.t.Helper()
	p.until(patience, `demo.pc && demo.pc.connectionState === 'connected' && await (async () => {
		const inbound = [...(await demo.pc.getStats()).values()].filter((one) => one.type === 'inbound-rtp');
		return inbound.some((one) => one.kind === 'audio' && one.packetsReceived > 20) &&
			inbound.some((one) => one.kind === 'video' && one.framesDecoded > 5);
	})()`)
}
