package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// settings is a test of the settings pages: an administrator in a window, and the application's own pages.
type settings struct {
	*collector
	t      *testing.T
	b      *browser.Browser
	served *libraryPages
	admin  *page
	hook   *hookReceiver
}

// hookReceiver receives webhooks, and answers with a status that tests set.
type hookReceiver struct {
	url    string
	status atomic.Int64 // of the answers
	got    atomic.Int64
}

func startHook(t *testing.T) *hookReceiver {
	t.Helper()
	h := &hookReceiver{}
	h.status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.got.Add(1)
		w.WriteHeader(int(h.status.Load()))
	}))
	t.Cleanup(server.Close)
	h.url = server.URL + "/hook"
	return h
}

// TestSettings makes an app on the settings pages, in a real browser, and uses it with the real library. Two
// administrators change it at the same time, and nothing of either is lost.
//
// spec: DASH-03, OUT-03
func TestSettings(t *testing.T) {
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			s := startSettings(t, kind)
			s.makesApp()
			secret := s.makesSecret()
			s.registersKey()
			s.setsOrigins()
			s.configures()
			s.calls(secret)
			s.twoAdministrators()
			require.Empty(t, s.b.ScriptErrors(), "the pages run without an error")
		})
	}
}

// TestSettingsOfNotices registers webhooks, sets what they report, and ends an app: its credentials, the data of a user, and
// the app itself.
//
// spec: DASH-03, OUT-03
func TestSettingsOfNotices(t *testing.T) {
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			s := startSettings(t, kind)
			s.calls(s.hasApp())
			s.opens(shopPage)
			s.admin.fill(field("userIDs"), "1") // pseudonyms from here on
			s.admin.saves("measuring")
			s.webhooks()
			s.conditions()
			s.credentialsEnd()
			s.personalData()
			s.deletesApp()
			require.Empty(t, s.b.ScriptErrors(), "the pages run without an error")
		})
	}
}

func startSettings(t *testing.T, kind string) *settings {
	t.Helper()
	browser.Require(t, kind)
	s := &settings{t: t, hook: startHook(t)}
	s.collector, s.served = startSigned(t)
	s.b = browser.Start(t, kind)
	s.admin = openAs(t, s.b, "admin", s.printed(`(http://\S+/signin/link\?token=\S+)`))
	s.admin.focused("button")
	s.admin.press(keyEnter)
	s.admin.at("/")
	return s
}

// hasApp makes the app by the API, with a key and two secrets, and returns a secret.
func (s *settings) hasApp() string {
	s.t.Helper()
	public, _ := publicKey(s.t)
	const path = "/api/v1/apps/shop"
	require.Equal(s.t, http.StatusCreated, s.admin.manages("PUT", path, map[string]any{"name": "The shop", "origins": []string{s.served.url}}, map[string]string{"If-None-Match": "*"}, nil))
	require.Equal(s.t, http.StatusCreated, s.admin.manages("POST", path+"/keys", map[string]any{"keyID": "shop-1", "algorithm": "ES256", "publicKey": public}, nil, nil))
	var made struct{ Secret string }
	for range 2 {
		require.Equal(s.t, http.StatusCreated, s.admin.manages("POST", path+"/secrets", map[string]any{}, nil, &made))
	}
	return made.Secret
}

// opens goes to a page of the settings and waits until it is drawn.
func (s *settings) opens(path string) {
	s.t.Helper()
	s.admin.goes(s.dashboard + path)
	s.admin.Until(patience, "document.querySelector('#parts section, [aria-busy=false]')")
}

const shopPage = "/settings/app?app=shop"

// app is what the API has of the app.
func (s *settings) app() (doc struct {
	Name                            string
	UserIDs                         string
	Revision                        int64
	Origins                         []string
	StatsIntervalMs, RetentionHours int
	SingleUse                       bool
	DefaultConfiguration            map[string]any
	WebhookRules                    map[string]any
	Webhooks                        []struct{ ID, URL, Format string }
	Secrets                         []struct{ ID, NotAfter string }
	Keys                            []struct {
		KeyID, Algorithm string
		Disabled         bool
	}
	RevokedBefore string
},
) {
	s.t.Helper()
	require.Equal(s.t, http.StatusOK, s.admin.manages("GET", "/api/v1/apps/shop", nil, nil, &doc))
	return doc
}

// saves submits the form of a part, and waits for a word.
func (p *page) saves(part string) {
	p.T.Helper()
	p.click("#" + part + " [data-testid=save]")
	p.Until(patience, "document.querySelector('#"+part+" [data-testid=done]')")
}

// faulted is what a part says of the field that is wrong.
func (p *page) faulted(part, text string) {
	p.T.Helper()
	p.click("#" + part + " [data-testid=save]")
	p.Until(patience, fmt.Sprintf("document.querySelector('#%s [data-testid=fault]')?.innerText.includes(%s)", part, quote(text)))
	var invalid bool
	p.Get("document.activeElement.getAttribute('aria-invalid') === 'true'", &invalid)
	require.True(p.T, invalid, "the field has the focus")
}

// field is the selector of a control.
func field(path string) string {
	return fmt.Sprintf("[data-field='%s'] :is(input, textarea, select)", path)
}

// fill sets a control as a person does who pastes.
func (p *page) fill(selector, text string) {
	p.T.Helper()
	p.Until(patience, "document.querySelector("+quote(selector)+")")
	p.Run(fmt.Sprintf(`((c) => { c.focus(); c.value = %s; for (const kind of ["input", "change"]) c.dispatchEvent(new Event(kind, { bubbles: true })); })(document.querySelector(%s))`, quote(text), quote(selector)))
}

// makesApp: a new app by the keyboard alone.
func (s *settings) makesApp() {
	p := s.admin
	s.opens("/settings")
	p.shows("in the configuration") // the declared app
	p.accessible("apps")
	p.tabTo("[data-testid=new-app]")
	p.press(keyEnter)
	p.Until(patience, "document.querySelector('dialog[open]')")
	p.types("demo")
	p.press(keyEnter)
	p.Until(patience, "document.querySelector('dialog [data-testid=fault]')?.innerText.includes('he collector\\'s configuration declares this app')")
	p.accessible("new-app")
	p.press(keyEscape)
	p.Until(patience, "!document.querySelector('dialog')")
	var back bool
	p.Get("document.activeElement.matches('[data-testid=new-app]')", &back)
	require.True(s.t, back, "the focus is where it was")
	p.press(keyEnter)
	p.Until(patience, "document.querySelector('dialog[open]')")
	p.types("shop")
	p.press(keyTab)
	p.types("The shop")
	p.press(keyEnter)
	p.at("/settings/app")
	p.shows("The shop")
	p.Until(patience, "document.title === 'The shop · Settings · qos'")
}

// makesSecret: the secret is shown once.
func (s *settings) makesSecret() (secret string) {
	p := s.admin
	p.tabTo("[data-testid=add-secret]")
	p.press(keyEnter)
	p.tabTo("dialog [data-testid=submit]")
	p.press(keyEnter)
	p.Until(patience, "document.querySelector('dialog [data-testid=secret]')")
	p.Get("document.querySelector('dialog [data-testid=secret]').value", &secret)
	require.Len(s.t, secret, 43)
	p.accessible("secret")
	p.press(keyEscape)
	p.tabTo("dialog [data-testid=stored]") // Escape does not lose it
	p.press(keyEnter)
	p.Until(patience, "!document.querySelector('dialog') && document.querySelectorAll('[data-testid=secret-row]').length === 1")
	var text string
	p.Get("document.documentElement.outerHTML", &text)
	require.NotContains(s.t, text, secret)
	return secret
}

// publicKey makes a key pair for ES256, as PEM.
func publicKey(t *testing.T) (public, private string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	own, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: own}))
}

// registersKey: a private key is refused at its field.
func (s *settings) registersKey() {
	p := s.admin
	public, private := publicKey(s.t)
	p.click("[data-testid=add-key]")
	p.fill("dialog "+field("keyID"), "shop-1")
	p.fill("dialog "+field("publicKey"), private)
	p.click("dialog [data-testid=submit]")
	p.Until(patience, "document.querySelector('dialog [data-field=publicKey] [data-testid=fault]')?.innerText.includes('this is a private one')")
	p.accessible("new-key")
	p.fill("dialog "+field("publicKey"), public)
	p.click("dialog [data-testid=submit]")
	p.Until(patience, "document.querySelector('[data-testid=key-row]')?.innerText.includes('shop-1')")
	p.click("[data-testid=add-key]")
	p.fill("dialog "+field("algorithm"), "1") // HS256
	p.click("dialog [data-testid=submit]")
	p.Until(patience, "document.querySelector('dialog [data-testid=secret]')?.value.length === 43")
	p.click("dialog [data-testid=stored]")
	p.Until(patience, "document.querySelectorAll('[data-testid=key-row]').length === 2")
	require.Equal(s.t, "shop-1", s.app().Keys[0].KeyID)
	require.Equal(s.t, "HS256", s.app().Keys[1].Algorithm)
}

func (s *settings) setsOrigins() {
	p := s.admin
	p.fill(field("origins"), s.served.url+"\nhttps://shop.example/path")
	p.faulted("origins", "Line 2 must")
	p.fill(field("origins"), s.served.url+"\n\nhttps://*.shop.example\n")
	p.saves("origins")
	require.Equal(s.t, []string{s.served.url, "https://*.shop.example"}, s.app().Origins)
}

// configures: what cannot be a default configuration is refused at its field.
func (s *settings) configures() {
	p := s.admin
	pc, media := field("defaultConfiguration.peerConnection"), field("defaultConfiguration.media")
	p.fill(pc, `{"iceServers": [`)
	p.faulted("configuration", "It is not JSON")
	p.fill(pc, `{"iceServers": [{"urls": "https://stun.example"}]}`)
	p.faulted("configuration", "iceServers[0].urls must be a URL stun:")
	p.fill(pc, `{"iceServers": [{"urls": "stun:stun.example"}], "bundlePolicy": "max-bundle"}`)
	p.fill(media, `{"audio": true, "video": {"pan": {"exact": 1}}}`)
	p.faulted("configuration", "video.pan must be no condition")
	p.accessible("app")
	p.fill(media, `{"audio": true, "video": {"height": {"ideal": 720}}}`)
	p.saves("configuration")
	require.JSONEq(s.t, `{"peerConnection": {"iceServers": [{"urls": "stun:stun.example"}], "bundlePolicy": "max-bundle"}, "media": {"audio": true, "video": {"height": {"ideal": 720}}}}`,
		jsonOf(s.app().DefaultConfiguration))
}

// calls makes a call with the secret that the page showed.
func (s *settings) calls(secret string) {
	p := openPage(s.t, s.b, "caller", s.served.url+"/search.html?"+url.Values{"room": {"shop call"}, "app": {"shop"}, "secret": {secret}}.Encode())
	until(s.t, p, "outcome.sent > 0 && outcome.init.some(([word]) => word === 'success')")
	p.Run("end()")
	p.CloseTab()
	list := openPage(s.t, s.b, "list", s.dashboard+"/signin") // without the administrator's cookies
	list.CloseTab()
	s.admin.goes(s.dashboard + "/search?app=shop")
	s.admin.shows("shop call")
}

// twoAdministrators: what one saves first is shown to the other, whose own change is kept and applied to it.
func (s *settings) twoAdministrators() {
	t, p := s.t, s.admin
	var made struct{ Password string }
	require.Equal(t, http.StatusCreated, p.manages("PUT", "/api/v1/users/root", map[string]any{"roles": []string{"admin"}, "scope": map[string]any{"all": true}}, map[string]string{"If-None-Match": "*"}, &made))
	other := openAs(t, s.b, "root", s.dashboard+shopPage)
	other.signsIn("root", made.Password)
	other.changesPassword(made.Password, firstPassword, firstPassword)
	other.at("/settings")
	other.goes(s.dashboard + shopPage)
	s.opens(shopPage)
	other.Until(patience, "document.querySelector('#general form')")

	other.fill(field("name"), "Root's shop")
	other.saves("general")
	other.fill(field("retentionHours"), "48")
	other.fill(field("userIDs"), "1")
	other.saves("measuring")
	require.Equal(t, "hash", s.app().UserIDs)

	p.fill(field("name"), "Admin's shop")
	p.fill(field("statsIntervalMs"), "2.5")
	p.click("#measuring [data-testid=save]")
	p.Until(patience, "document.querySelector('#measuring [data-testid=changed]')")
	var changes []string
	p.Get("[...document.querySelectorAll('#measuring [data-testid=changed] li')].map((li) => li.innerText)", &changes)
	require.Equal(t, []string{"Name: The shop → Root's shop", "Retention: not set → 48 hours", "IDs of users: stored as the application sends them → replaced by pseudonyms"}, changes)
	p.accessible("changed")
	var values []string
	p.Get(fmt.Sprintf("[%s].map((one) => document.querySelector(one).value)", strings.Join([]string{quote(field("name")), quote(field("statsIntervalMs")), quote(field("retentionHours"))}, ",")), &values)
	require.Equal(t, []string{"Admin's shop", "2.5", "48"}, values, "what was typed is kept, and what was not is theirs")
	require.Zero(t, s.app().StatsIntervalMs, "nothing was written")
	p.Until(patience, "document.querySelector('#general [data-testid=conflict]')?.innerText.includes(\"Root's shop\")")
	p.click("#measuring [data-testid=again]")
	p.Until(patience, "document.querySelector('#measuring [data-testid=done]')")
	doc := s.app()
	require.Equal(t, []any{"Root's shop", 2500, 48}, []any{doc.Name, doc.StatsIntervalMs, doc.RetentionHours})
	p.fill(field("limits.dailyMiB"), "500")
	p.saves("measuring")
	p.Until(patience, "document.querySelector('[data-testid=today]')?.innerText === '0 B of 524.3 MB a day used since midnight UTC'")
	p.click("#general [data-testid=conflict] button") // theirs
	p.Get("document.querySelector("+quote(field("name"))+").value", &values[0])
	require.Equal(t, "Root's shop", values[0])

	other.click("[data-testid=add-secret]") // at another revision than the one that is stored
	other.click("dialog [data-testid=submit]")
	other.Until(patience, "document.querySelector('dialog [data-testid=changed]')?.innerText.includes('Measurement interval: not set → 2.5 s')")
	require.Len(t, s.app().Secrets, 1)
	other.click("dialog [data-testid=again]")
	other.Until(patience, "document.querySelector('dialog [data-testid=secret]')")
	other.click("dialog [data-testid=stored]")
	require.Len(t, s.app().Secrets, 2)
	other.CloseTab()
}

// webhooks: one is registered, tested, refused, delivered again, and gets another secret.
func (s *settings) webhooks() {
	t, p := s.t, s.admin
	s.opens(shopPage)
	p.click("[data-testid=add-webhook]")
	p.fill("dialog "+field("id"), "ops")
	p.fill("dialog "+field("url"), "http://hooks.example/x")
	p.click("dialog [data-testid=submit]")
	p.Until(patience, "document.querySelector('dialog [data-field=url] [data-testid=fault]')?.innerText.includes('must begin with https://')")
	p.fill("dialog "+field("url"), s.hook.url)
	p.click("dialog [data-testid=submit]")
	p.Until(patience, "document.querySelector('dialog [data-testid=secret]')?.value.startsWith('whsec_')")
	p.click("dialog [data-testid=stored]")

	p.click("[data-testid=test]")
	p.Until(patience, "document.querySelector('[data-testid=webhook] [data-testid=done]')?.innerText.includes('answered with status 200')")
	require.Equal(t, int64(1), s.hook.got.Load())
	s.hook.status.Store(http.StatusInternalServerError)
	p.click("[data-testid=test]")
	p.Until(patience, "document.querySelector('[data-testid=webhook] .notice.error')?.innerText.includes('The test failed: status 500')")
	p.click("[data-testid=deliveries] summary")
	p.Until(patience, "document.querySelector('[data-testid=delivery][data-state=dead]') && document.querySelector('[data-testid=delivery][data-state=delivered]')")
	p.accessible("webhooks")
	s.hook.status.Store(http.StatusNoContent)
	p.click("[data-testid=replay]")
	browser.Eventually(t, patience, "the dead letter is delivered", func() (bool, string) {
		var n int
		p.click("[data-testid=refresh]")
		p.Get("document.querySelectorAll('[data-testid=delivery][data-state=delivered]').length", &n)
		return n == 2, strconv.Itoa(n)
	})
	require.Equal(t, int64(3), s.hook.got.Load())

	p.click("[data-testid=rotate]")
	p.click("dialog [data-testid=confirm]")
	p.Until(patience, "document.querySelector('dialog [data-testid=secret]')?.value.startsWith('whsec_')")
	p.click("dialog [data-testid=stored]")
	p.click("[data-testid=edit]")
	p.fill("dialog "+field("format"), "1")
	p.click("dialog [data-testid=submit]")
	p.Until(patience, "!document.querySelector('dialog') && document.querySelector('[data-testid=webhook]').innerText.includes('Slack')")
	require.Equal(t, "slack", s.app().Webhooks[0].Format)
	p.click("[data-testid=webhook] [data-testid=delete]")
	s.confirms("ops")
	p.Until(patience, "!document.querySelector('[data-testid=webhook]')")
	require.Empty(t, s.app().Webhooks)
}

// confirms types what a dialog asks for. Until then its button is disabled.
func (s *settings) confirms(text string) {
	s.t.Helper()
	p := s.admin
	p.Until(patience, "document.activeElement.matches('dialog #confirm-text')")
	var disabled bool
	p.types(text[1:])
	p.Get("document.querySelector('dialog [data-testid=confirm]').disabled", &disabled)
	require.True(s.t, disabled)
	p.write("#confirm-text", text)
	p.press(keyEnter)
}

// conditions: boundary conditions of one reason and of all.
func (s *settings) conditions() {
	t, p := s.t, s.admin
	const path = "webhookRules.reasons.lowQuality."
	p.fill(field(path+"limit"), "7")
	p.faulted("conditions", "It must be") // in a part that was folded
	p.fill(field(path+"limit"), "3.5")
	p.fill(field(path+"threshold"), "2.5")
	p.fill(field(path+"individual"), "2")
	p.fill(field("webhookRules.windowMs"), "30")
	p.saves("conditions")
	require.JSONEq(t, `{"windowMs": 1800000, "reasons": {"lowQuality": {"limit": 3.5, "threshold": 0.025, "individual": false}}}`, jsonOf(s.app().WebhookRules))
	p.accessible("conditions")
	p.fill(field("webhookRules.windowMs"), "")
	p.saves("conditions")
	require.NotContains(t, s.app().WebhookRules, "windowMs")
}

// credentialsEnd: a secret is switched off and deleted, a key is switched off, all sessions end.
func (s *settings) credentialsEnd() {
	t, p := s.t, s.admin
	p.click("[data-testid=secret-row] [data-testid=switch]")
	p.click("dialog [data-testid=confirm]")
	p.Until(patience, "document.querySelector('[data-testid=secret-row] [data-testid=state]').innerText === 'switched off'")
	require.NotEmpty(t, s.app().Secrets[0].NotAfter)
	p.click("[data-testid=secret-row] [data-testid=switch]")
	p.Until(patience, "document.querySelector('[data-testid=secret-row] [data-testid=state]').innerText === 'valid'")
	p.click("[data-testid=secret-row] [data-testid=delete]")
	p.click("dialog [data-testid=cancel]")
	require.Len(t, s.app().Secrets, 2)
	p.click("[data-testid=secret-row] [data-testid=delete]")
	p.click("dialog [data-testid=confirm]")
	p.Until(patience, "document.querySelectorAll('[data-testid=secret-row]').length === 1")
	p.click("[data-testid=key-row] [data-testid=switch]")
	p.click("dialog [data-testid=confirm]")
	p.Until(patience, "document.querySelector('[data-testid=key-row] [data-testid=state]').innerText === 'switched off'")
	require.True(t, s.app().Keys[0].Disabled)
	p.click("[data-testid=revoke-all]")
	s.confirms("shop")
	p.Until(patience, "document.querySelector('#sessions [data-testid=done]')")
	require.NotEmpty(t, s.app().RevokedBefore)
	p.fill(field("user"), "ada-1")
	p.click("[data-testid=revoke-user] button")
	p.click("dialog [data-testid=confirm]")
	p.Until(patience, "document.querySelector('#sessions details')?.innerText.includes('(1)')")
}

// personalData: what is stored of the caller is exported, and erased. The key of pseudonyms is replaced.
func (s *settings) personalData() {
	t, p := s.t, s.admin
	p.Run("((make) => { window.saved = []; URL.createObjectURL = (file) => { file.text().then((text) => saved.push(text)); return make(file); }; })(URL.createObjectURL)")
	p.click("[data-testid=export-user]")
	p.Until(patience, "document.querySelector('#requests [data-testid=fault]')?.innerText.includes('a user')")
	p.fill(field("userID"), "ada-1")
	p.click("[data-testid=export-user]")
	p.Until(patience, "saved.length === 1 && document.querySelector('#requests [data-testid=done]')?.innerText.includes('The export is complete')")
	var lines []map[string]any
	p.Get(`saved[0].trimEnd().split("\n").map((line) => JSON.parse(line))`, &lines)
	require.Equal(t, "user", lines[0]["type"])
	require.Contains(t, jsonOf(lines[0]), "Ada Lovelace")
	require.Contains(t, jsonOf(lines), "the customerID")
	require.Equal(t, map[string]any{"type": "end", "complete": true}, lines[len(lines)-1])
	p.accessible("requests")

	p.click("[data-testid=erase-user]")
	s.confirms("ada-1")
	p.Until(patience, "document.querySelector('#requests [data-testid=done]')?.innerText.includes('Erased: 1 session,')")
	p.click("[data-testid=user-id-key]")
	p.click("dialog [data-testid=confirm]")
	p.Until(patience, "document.querySelector('#requests [data-testid=done]')?.innerText.includes('A new key is in use')")
	p.goes(s.dashboard + "/search?" + url.Values{"app": {"shop"}, "user": {"ada-1"}}.Encode())
	p.Until(patience, "document.querySelector('[aria-busy=false]') && !document.body.innerText.includes('shop call')")
	p.goes(s.dashboard + "/search?app=shop")
	p.shows("shop call")
	var text string
	p.Get("document.body.innerText", &text)
	require.NotContains(t, text, "Ada")
	s.opens(shopPage)
}

func (s *settings) deletesApp() {
	p := s.admin
	s.opens(shopPage)
	p.click("[data-testid=delete-app]")
	p.accessible("delete")
	s.confirms("shop")
	p.at("/settings")
	p.Until(patience, "document.querySelector('[data-testid=app][data-id=demo]') && !document.querySelector('[data-testid=app][data-id=shop]')")
	p.goes(s.dashboard + shopPage)
	p.shows("There is no such app")
	p.accessible("no-app")
	s.opens("/settings?filter=nothing")
	p.shows("Nothing matches")
}
