package e2e

import (
	"net/url"
	"testing"

	"github.com/qosrtc/qos/tests/browser"
)

const patience = browser.Patience

// page is a window of a browser, with what tests of this package do in it.
type page struct{ *browser.Page }

// openPage opens a URL in a new window. A screenshot is kept when the test fails.
func openPage(t *testing.T, b *browser.Browser, name, address string) *page {
	t.Helper()
	return &page{browser.OpenPage(t, b, name, address)}
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
	p.T.Helper()
	p.Until(patience, `demo.pc && demo.pc.connectionState === 'connected' && await (async () => {
		const inbound = [...(await demo.pc.getStats()).values()].filter((one) => one.type === 'inbound-rtp');
		return inbound.some((one) => one.kind === 'audio' && one.packetsReceived > 20) &&
			inbound.some((one) => one.kind === 'video' && one.framesDecoded > 5);
	})()`)
}
