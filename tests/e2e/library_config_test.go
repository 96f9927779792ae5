package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/browser"
)

// leaves: a page that goes elsewhere ends its fabrics, and says so; with
// disableBeforeUnloadHandler it goes without a word.
//
// spec: INIT-04, FAB-08
func leaves(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	rooms := map[string]*labPage{}
	for _, config := range []string{"{}", "{ disableBeforeUnloadHandler: true }"} {
		p := l.open(t, b, "leaves with "+config)
		p.logsIn(config)
		p.does("await call(room)")
		p.sees(patience, "count(room) > 1")
		require.NoError(t, b.Navigate(p.Context, l.tabs+"/elsewhere"))
		rooms[config] = p
	}
	said := l.keeps(t, rooms["{}"].room, "a summary", ended)
	require.Equal(t, []map[string]any{{"reason": "pagehide"}}, said.events("fabricTerminated"))
	require.Equal(t, "pagehide", said.Summary.Participants[0].EndReason)
	silent := l.keeps(t, rooms["{ disableBeforeUnloadHandler: true }"].room, "a summary", ended)
	require.Empty(t, silent.events("fabricTerminated"))
	require.Equal(t, conference.EndSilence, silent.Summary.Participants[0].EndReason)
}

// isOfTheOldForm: the goog* reports of an object whose getStats wants a callback are taken
// where collectLegacyStats is not false; where it is, it is never called like that.
//
// spec: INIT-04, STAT-05, FAB-10
func isOfTheOldForm(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	var calls [2]int
	for i, config := range []string{"{}", "{ collectLegacyStats: false }"} {
		p := l.open(t, b, "of the old form with "+config)
		p.does(`window.asked = [];
			const report = (id, type, said) => ({ id, type, names: () => Object.keys(said), stat: (name) => said[name] });
			const old = {
				iceConnectionState: 'connected', signalingState: 'stable', addEventListener() {}, removeEventListener() {},
				getStats(callback, ...rest) {
					asked.push([typeof callback, rest.length]);
					if (typeof callback !== 'function') throw new TypeError('a callback is wanted');
					const n = asked.length;
					setTimeout(() => callback({ result: () => [
						report('ssrc_4711_send', 'ssrc', { ssrc: '4711', mediaType: 'audio', bytesSent: String(10000 * n), packetsSent: String(100 * n),
							packetsLost: '0', googRtt: '42', googCodecName: 'opus', audioInputLevel: '3277' }),
						report('pair', 'googCandidatePair', { googActiveConnection: 'true', googRtt: '42', bytesSent: String(10000 * n), bytesReceived: '0' }),
					] }), 0);
				},
			};
			ends[room] = { near: old }`)
		p.logsIn(config)
		p.does("monitor(room, { usage: 'audio' })")
		p.sees(patience, "count(room) > 3")
		p.Get("asked.filter(([callback]) => callback === 'function').length", &calls[i])
		p.does("hangUp(room)")
		whole := l.keeps(t, p.room, "the end", fabricEnded)
		var tracks []object
		p.Get("reported.flatMap(({ stats }) => stats.mediaStreamTracks).filter(({ bitrate }) => bitrate !== null)", &tracks)
		if i == 1 {
			require.Empty(t, whole.Streams)
			require.Empty(t, tracks)
			continue
		}
		var sound []heldStream
		for _, stream := range whole.Streams {
			if stream.StatsType == "outbound-rtp" {
				sound = append(sound, stream)
			}
		}
		require.Len(t, sound, 1)
		require.Equal(t, []any{4711.0, "audio"}, []any{sound[0].SSRC, sound[0].MediaType})
		require.NotEmpty(t, tracks)
		last := tracks[len(tracks)-1]
		require.InDelta(t, 42, last.number("rtt"), 0)
		require.Positive(t, last.number("packetRate"))
	}
	require.Positive(t, calls[0])
	require.Zero(t, calls[1], "that form is never called")
}

// keepsAddresses: with collectIP the browser tells the addresses that it knows; without it none
// leaves the browser.
//
// spec: INIT-04, STAT-05
func keepsAddresses(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	for _, collect := range []bool{true, false} {
		p := l.open(t, b, fmt.Sprintf("addresses: %t", collect))
		p.does(`library.attachWifiStatsHandler(async () =>
			JSON.stringify({ signal: 50, rssi: -61, timestamp: Date.now(), addresses: ['192.168.7.8', 'fe80::1:2:3:4'] }))`)
		p.logsIn(fmt.Sprintf("{ collectIP: %t }", collect))
		p.does("await call(room)")
		p.sees(patience, "events('wifiStats').length && / typ host/.test(ends[room].near.localDescription.sdp)")
		p.does("library.reportError(ends[room].near, room, 'createOffer', new Error('reported'), ends[room].near.localDescription); hangUp(room)")
		whole := l.keeps(t, p.room, "a summary", ended)
		var setups []struct {
			LocalAddress   *string
			LocalAddresses []string
		}
		p.Get("events('fabricSetup').map(({ data }) => data)", &setups)
		fabric := whole.Summary.Participants[0].Fabrics[0]
		if collect {
			address := *setups[0].LocalAddress // of either family: the pair that answered first
			network := map[string]string{"127.0.0.1": "127.0.0.0/24", "::1": "::/48"}[address]
			require.NotEmpty(t, network, address)
			require.Contains(t, setups[0].LocalAddresses, address)
			cut, _, _ := strings.Cut(network, "/")
			require.Equal(t, cut, fabric.LocalAddress)
			require.Subset(t, []string{"127.0.0.0", "::"}, fabric.LocalAddresses)
			var link string
			p.Get("reported[0].stats.conferenceURL", &link)
			dashboard := l.window(t, b, "dashboard", link)
			dashboard.Until(patience, "document.querySelector('[data-testid=networks]')?.innerText.startsWith("+quote("local "+network)+")")
			dashboard.Run("document.querySelector('[data-testid=networks]').scrollIntoView({ block: 'center' })")
			l.picture(t, dashboard, "networks")
		} else {
			require.Nil(t, setups[0].LocalAddress)
			require.Empty(t, setups[0].LocalAddresses)
			require.Empty(t, fabric.LocalAddress+strings.Join(fabric.LocalAddresses, ""))
		}
		var wire []string
		p.Get(`sent.map((text) => text.replace(/"userAgent":"[^"]*"/, ''))`, &wire)
		said, kept := strings.Join(wire, "\n"), jsonOf(whole.Timeline)
		require.Contains(t, said, "typ host")
		for _, address := range []string{"192.168.7.8", "fe80::1:2:3:4"} {
			require.Equal(t, collect, strings.Contains(said, address), address)
		}
		require.Equal(t, collect, strings.Contains(kept, `"192.168.7.0"`), kept)
		for _, whole := range []string{"192.168.7.8", "fe80::1:2:3:4"} {
			require.NotContains(t, kept, whole, "the collector cuts it")
		}
	}
}

// cutsTexts: over-long values are cut, those of another type dropped; the rest is kept.
//
// spec: INIT-04, INIT-08, API-02, API-05
func cutsTexts(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "cuts")
	var said answer
	p.Get(`begin('ada', { applicationVersion: '😀'.repeat(31), siteID: 'é'.repeat(129), additionalIDs: { pbxID: 'é'.repeat(128) + 'x', customerID: 7, tenantID: null } })`, &said)
	require.Equal(t, "success", said.Status)
	for _, note := range []string{
		"applicationVersion was cut to 30 characters", "siteID was cut to 256 bytes", "additionalIDs.pbxID was cut to 256 bytes",
		"additionalIDs.customerID must be a string, got a number: ignored",
	} {
		require.Contains(t, said.Msg, note)
	}
	require.NotContains(t, said.Msg, "tenantID", "null is missing")
	p.does("await call(room)")
	p.Get("say('reportError', null, "+quote(p.room)+", 'applicationLog', 'é'.repeat(12_000))", &said)
	require.Equal(t, answer{"success", "domError was cut to 20480 bytes", "domError was cut to 20480 bytes"}, said)
	var warnings []string
	p.Get("heard.warnings", &warnings)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "20480 bytes")
	const data = `{ text: 'x'.repeat(4096 - '{"text":""}'.length + %d) }`
	p.Get("say('sendFabricEvent', ends["+quote(p.room)+"].near, 'audioMute', "+quote(p.room)+", "+fmt.Sprintf(data, 1)+")", &said)
	require.Equal(t, "failure", said.Status)
	require.Contains(t, said.Msg, "4097")
	p.Get("say('sendFabricEvent', ends["+quote(p.room)+"].near, 'audioMute', "+quote(p.room)+", "+fmt.Sprintf(data, 0)+")", &said)
	require.Equal(t, "success", said.Status)
	p.sees(patience, "up(room)")
	p.does("hangUp(room)")
	whole := l.keeps(t, p.room, "the end", fabricEnded)
	details := whole.Conference.Participants[0].Details
	require.Equal(t, strings.Repeat("😀", 30), details[semconv.ApplicationVersion])
	require.Equal(t, strings.Repeat("é", 128), details[semconv.SiteID])
	require.Contains(t, jsonOf(details), `"`+strings.Repeat("é", 128)+`"`)
	muted := whole.events("audioMute")
	require.Len(t, muted, 1)
	require.Len(t, muted[0]["text"], 4096-len(`{"text":""}`))
	for _, one := range whole.Timeline {
		if one.Kind == "log" {
			require.Equal(t, strings.Repeat("é", 10_240), one.Text)
		}
	}
}
