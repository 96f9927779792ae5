package browser

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Patience bounds each wait for a state. It ends tests that hang, and no test asserts it: a busy machine takes many
// times longer than an idle one.
const Patience = 2 * time.Minute

// A condition is evaluated again after pollFirst, then after twice that, and at last every pollEvery.
const (
	pollFirst = 10 * time.Millisecond
	pollEvery = 150 * time.Millisecond
)

// Eventually waits until done returns true. The text that it returned last explains a failure.
func Eventually(t *testing.T, within time.Duration, what string, done func() (bool, string)) {
	t.Helper()
	var last string
	met := func() (ok bool) {
		ok, last = done()
		return ok
	}
	poll(within, met, func() { t.Fatalf("not within %s: %s\nlast: %s", within, what, last) })
}

// poll calls met until it returns true, or fail at the end of the time.
func poll(within time.Duration, met func() bool, fail func()) {
	deadline := time.Now().Add(within)
	for pause := pollFirst; !met(); pause = min(2*pause, pollEvery) {
		if time.Now().After(deadline) {
			fail()
			return
		}
		<-time.After(pause)
	}
}

// A Page is one window of a browser.
type Page struct {
	T       *testing.T
	Browser *Browser
	Context string // of WebDriver BiDi; empty: the window is closed
	Name    string // in messages and file names
}

// OpenPage opens a URL in a new window. If the test fails, a screenshot is kept in Artifacts.
func OpenPage(t *testing.T, b *Browser, name, address string) *Page {
	t.Helper()
	context, err := b.Open(address)
	require.NoError(t, err)
	p := &Page{T: t, Browser: b, Context: context, Name: name}
	t.Cleanup(p.KeepIfFailed)
	return p
}

// Get evaluates an expression in the page and decodes its value.
func (p *Page) Get(expression string, value any) {
	p.T.Helper()
	require.NoError(p.T, p.Browser.Evaluate(p.Context, expression, value), p.Name)
}

// Run evaluates an expression for its effect.
func (p *Page) Run(expression string) {
	p.T.Helper()
	p.Get(expression, nil)
}

// Until waits for a condition in the page.
func (p *Page) Until(within time.Duration, condition string) {
	p.T.Helper()
	var failed error
	met := func() (ok bool) {
		failed = p.Browser.Evaluate(p.Context, "Boolean("+condition+")", &ok)
		return ok && failed == nil
	}
	poll(within, met, func() {
		var state json.RawMessage
		if failed == nil {
			failed = p.Browser.Evaluate(p.Context, "window.demo ? window.demo.state : document.body.innerText.slice(0, 2000)", &state)
		}
		p.T.Fatalf("%s: not within %s: %s\nlast: %s %v", p.Name, within, condition, state, failed)
	})
}

// CloseTab closes the window, as a user does.
func (p *Page) CloseTab() {
	p.T.Helper()
	require.NoError(p.T, p.Browser.Do("browsingContext.close", map[string]any{"context": p.Context}, nil))
	p.Context = ""
}

var notInFileNames = regexp.MustCompile(`[^A-Za-z0-9-]+`)

// FileName returns a text with "-" for all that does not belong in a file name.
func FileName(text string) string { return notInFileNames.ReplaceAllString(text, "-") }

// KeepIfFailed writes a screenshot if the test has failed.
func (p *Page) KeepIfFailed() {
	dir := Artifacts(p.T)
	if !p.T.Failed() || p.Context == "" || dir == "" {
		return
	}
	file := filepath.Join(dir, FileName(p.T.Name()+"-"+p.Name)+".png")
	if err := p.Capture(file); err != nil {
		p.T.Logf("no screenshot of %s: %v", p.Name, err)
		return
	}
	p.T.Logf("screenshot of %s: %s", p.Name, file)
}

// Capture writes a picture of the whole document.
func (p *Page) Capture(file string) error { return p.CaptureOf("document", file) }

// CaptureOf writes a picture of the "document" or of the "viewport".
func (p *Page) CaptureOf(origin, file string) error {
	data, err := p.Browser.Screenshot(p.Context, origin)
	if err != nil {
		return err
	}
	png, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return err
	}
	return os.WriteFile(file, png, 0o600)
}

// Artifacts returns the folder of files that explain a failure (QOS_ARTIFACTS), or "".
func Artifacts(t *testing.T) string {
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
