package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSettingsOfUsers makes users and API tokens on the settings pages, and reads what was done in the audit log.
//
// spec: DASH-03
func TestSettingsOfUsers(t *testing.T) {
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			s := startSettings(t, kind)
			s.hasApp()
			s.declared()
			s.users()
			s.tokens()
			s.auditLog()
			require.Empty(t, s.b.ScriptErrors(), "the pages run without an error")
		})
	}
}

// declared: an app of the configuration is shown, and nothing of it can be changed. Its users can be exported and erased.
func (s *settings) declared() {
	p := s.admin
	s.opens("/settings/app?app=demo")
	p.shows("The collector's configuration declares this app")
	var controls int
	p.Get("document.querySelectorAll('#parts :is(input, textarea, select, button):not(:disabled, #requests *)').length", &controls)
	require.Zero(s.t, controls)
	p.accessible("declared")
}

// users: one is made, changed by two administrators, given a new password, and deleted.
func (s *settings) users() {
	t, p := s.t, s.admin
	const grace = "[data-testid=user][data-name='grace.hopper'] "
	s.opens("/settings/users")
	p.accessible("users")
	p.click("[data-testid=new-user]")
	p.fill("dialog "+field("user"), "Grace Hopper")
	p.click("dialog [data-testid=submit]")
	p.Until(patience, "document.querySelector('dialog [data-field=user] [data-testid=fault]')")
	p.accessible("new-user")
	p.fill("dialog "+field("user"), "grace.hopper")
	p.fill("dialog "+field("scope.all"), "1")
	p.fill("dialog "+field("scope.apps"), "shop\ndemo")
	p.click("dialog [data-testid=submit]")
	var first, second string
	p.Until(patience, "document.querySelector('dialog [data-testid=secret]')")
	p.Get("document.querySelector('dialog [data-testid=secret]').value", &first)
	p.click("dialog [data-testid=stored]")
	p.Until(patience, fmt.Sprintf("document.querySelector(%s)?.innerText.includes('shop, demo')", quote(grace)))

	p.click(grace + "[data-testid=edit]")
	status := p.manages("PUT", "/api/v1/users/grace.hopper", map[string]any{"roles": []string{"engineering", "support"}, "scope": map[string]any{"all": false, "apps": []string{"shop", "demo"}}},
		map[string]string{"If-Match": s.etag("grace.hopper")}, nil)
	require.Equal(t, http.StatusOK, status)
	p.fill("dialog "+field("scope.all"), "0")
	p.click("dialog [data-testid=submit]")
	p.Until(patience, "document.querySelector('dialog [data-testid=changed] li')?.innerText === 'Roles: engineering → support, engineering'")
	p.accessible("changed-user")
	p.click("dialog [data-testid=again]")
	p.Until(patience, "!document.querySelector('dialog')")
	p.Until(patience, fmt.Sprintf("document.querySelector(%s)?.innerText.includes('support, engineering') && document.querySelector(%[1]s).innerText.includes('all apps')", quote(grace)))

	p.click(grace + "[data-testid=reset]")
	p.click("dialog [data-testid=confirm]")
	p.Until(patience, "document.querySelector('dialog [data-testid=secret]')")
	p.Get("document.querySelector('dialog [data-testid=secret]').value", &second)
	require.NotEqual(t, first, second)
	p.click("dialog [data-testid=stored]")
	// A row takes no change until the list that follows the last one is there: it has an older revision.
	p.Until(patience, "!document.getElementById('list').inert")
	p.Run(`(window.answer = fetch, window.held = [], window.fetch = async (url, about) => {
		const got = await answer(url, about);
		if (about.method !== 'POST') await new Promise((go) => held.push(go));
		return got;
	})`)
	p.click(grace + "[data-testid=sign-out]")
	p.click("dialog [data-testid=confirm]")
	p.shows("All logins of grace.hopper were ended.")
	p.Until(patience, "held.length > 0")
	p.Until(patience, "document.getElementById('list').inert && document.getElementById('new').inert")
	p.Run("(window.fetch = answer, held.forEach((go) => go()))")
	p.click(grace + "[data-testid=delete]")
	s.confirms("grace.hopper")
	p.Until(patience, fmt.Sprintf("!document.querySelector(%s)", quote(strings.TrimSpace(grace))))
}

// tokens makes an API token, reads calls with it, and revokes it.
func (s *settings) tokens() {
	t, p := s.t, s.admin
	s.opens("/settings/tokens")
	p.accessible("no-tokens")
	p.click("[data-testid=new-token]")
	p.fill("dialog "+field("name"), "Assistant")
	p.click("dialog [data-testid=submit]")
	p.Until(patience, "document.querySelector('dialog [data-field=name] [data-testid=fault]')")
	p.accessible("new-token")
	p.fill("dialog "+field("name"), "assistant")
	p.fill("dialog "+field("expiresInDays"), "30")
	p.click("dialog [data-testid=submit]")
	var token string
	p.Until(patience, "document.querySelector('dialog [data-testid=secret]')")
	p.Get("document.querySelector('dialog [data-testid=secret]').value", &token)
	p.click("dialog [data-testid=stored]")
	p.Until(patience, "document.querySelector('[data-testid=token][data-name=assistant] [data-testid=state]')?.innerText === 'Valid'")
	p.accessible("tokens")
	require.Equal(t, http.StatusOK, s.readsWith(token))
	p.click("[data-testid=token][data-name=assistant] [data-testid=revoke]")
	p.click("dialog [data-testid=confirm]")
	p.shows("API token assistant was revoked.")
	p.Until(patience, "document.querySelector('#list [data-testid=empty]')")
	require.Equal(t, http.StatusUnauthorized, s.readsWith(token))
}

// readsWith lists conferences with an API token and returns the status.
func (s *settings) readsWith(token string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.dashboard+"/api/conferences", http.NoBody)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	return resp.StatusCode
}

// etag is that of a user.
func (s *settings) etag(user string) string {
	s.t.Helper()
	var one struct{ Revision int64 }
	require.Equal(s.t, http.StatusOK, s.admin.manages("GET", "/api/v1/users/"+user, nil, nil, &one))
	return fmt.Sprintf("%q", strconv.FormatInt(one.Revision, 10))
}

// auditLog: what was done is listed, and filters and pages lead through it.
func (s *settings) auditLog() {
	t, p := s.t, s.admin
	s.opens("/settings/audit")
	p.shows("Changed an app")
	p.accessible("audit")
	p.fill("[name=action]", "changeUser")
	p.fill("[name=actor]", "admin")
	p.click("#filters button")
	p.Until(patience, "location.search === '?actor=admin&action=changeUser' && document.querySelectorAll('[data-testid=entry]').length > 3")
	var actions []string
	p.Get("[...new Set([...document.querySelectorAll('[data-testid=entry]')].map((one) => one.dataset.action))]", &actions)
	require.Equal(t, []string{"changeUser"}, actions)
	s.opens("/settings/audit?action=changeApp&app=nothing")
	p.shows("No entry fits this filter.")
	p.accessible("audit-empty")
}
