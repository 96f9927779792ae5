package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/tests/browser"
)

// hangUps are the ways to end a call, and the reason that is stored for each.
var hangUps = map[string]struct{ does, reason string }{
	"terminated": {"hangUp(room)", "application"},
	"closed":     {"ends[room].near.close()", "closed"},
	"both":       {"hangUp(room); ends[room].near.close()", "application"},
}

// hangsUp: a call that is hung up is hung up, however soon the page goes.
//
// spec: FAB-08, CONF-05, INIT-04
func hangsUp(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	pages := map[string]*labPage{}
	for _, config := range []string{"{}", "{ disableBeforeUnloadHandler: true }"} {
		for _, leaves := range []string{"after 0 ms", "after 100 ms", "after 500 ms", "by closing its tab"} {
			name := fmt.Sprintf("hangs up with %s and leaves %s", config, leaves)
			pages[name] = l.hangsUpAndLeaves(t, b, name, config, leaves)
		}
	}
	for name, p := range pages {
		for way, one := range hangUps {
			room := way + " " + p.room
			whole := l.keeps(t, room, "a summary", ended)
			var events []string
			for _, entry := range whole.Timeline {
				if entry.Kind == "event" && entry.Name != "selectedCandidatePairChange" { // Firefox has it at times
					events = append(events, entry.Name)
				}
			}
			require.ElementsMatch(t, []string{"fabricAdded", "remoteDescriptionSet", "fabricSetup", "fabricTerminated"}, events, "%s, %s", name, way)
			require.Equal(t, one.reason, whole.events("fabricTerminated")[0]["reason"], "%s, %s", name, way)
			require.Equal(t, conference.OutcomeSuccess, whole.Summary.Outcome, "%s, %s", name, way)
			require.Equal(t, one.reason, whole.Summary.Participants[0].EndReason, "%s, %s", name, way)
		}
	}
}

// hangsUpAndLeaves makes a call for each way to end one, ends them all and leaves.
func (l *lab) hangsUpAndLeaves(t *testing.T, b *browser.Browser, name, config, leaves string) *labPage {
	t.Helper()
	var p *labPage
	closes := leaves == "by closing its tab"
	if closes { // a window that nobody can use again
		b.Opening.Lock()
		p = &labPage{openPage(t, b, name, l.pages.url+"/lab.html"), name + " in " + b.Kind}
		b.Opening.Unlock()
	} else {
		p = l.open(t, b, name)
	}
	p.logsIn(config)
	var endings []string
	for way, one := range hangUps {
		p.does(fmt.Sprintf("await call(%q + room)", way+" "))
		endings = append(endings, fmt.Sprintf("((room) => { %s })(%q + room); ", one.does, way+" "))
	}
	ending := strings.Join(endings, "")
	p.sees(patience, "events('fabricSetup').length === 3 && reported.some(({ stats }) => stats.connectionState === 'online')")
	if closes {
		p.does(ending)
		p.CloseTab()
		return p
	}
	var ms int
	_, err := fmt.Sscanf(leaves, "after %d ms", &ms)
	require.NoError(t, err)
	goes := "location.href = " + quote(l.tabs+"/elsewhere")
	if ms > 0 {
		goes = fmt.Sprintf("setTimeout(() => { %s }, %d)", goes, ms)
	}
	p.does(ending + goes)
	p.Until(patience, "location.pathname === '/elsewhere'")
	return p
}
