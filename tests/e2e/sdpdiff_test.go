package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

const (
	offerSDP = "v=0\r\no=- 42 2 IN IP4 127.0.0.1\r\ns=<b>no</b> مكالمة 会議\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n" +
		"m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=ice-ufrag:abcd\r\na=fingerprint:sha-256 AA:BB\r\na=setup:actpass\r\na=mid:0\r\na=sendrecv\r\na=rtpmap:111 opus/48000/2\r\na=fmtp:111 useinbandfec=1\r\n" +
		"m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:1\r\na=sendrecv\r\na=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack pli\r\n"
)

// TestErrorSDPOnPage: the SDPs of an error are shown by sections, in words, and compared with each other and with those of
// another error of the connection; the page has a text of the conference for a ticket.
//
// spec: DASH-02, DASH-03
func TestErrorSDPOnPage(t *testing.T) {
	s := &scene{collector: startCollector(t)}
	at := time.Now().UnixMilli()
	one := s.connect("<i>ada</i> 日本 عدا")
	say := func(seq uint64, afterMs int64, members map[string]any) {
		members["seq"], members["at"], members["fabric"] = seq, at+afterMs, 1
		text, err := json.Marshal(members)
		require.NoError(t, err)
		one.say(string(text))
	}
	answer := strings.NewReplacer("actpass", "active", "AA:BB", "CC:DD", "m=video 9", "m=video 0").Replace(offerSDP)
	second := strings.Replace(offerSDP, "VP8", "AV1", 1)
	say(1, 0, map[string]any{"type": "event", "event": "fabricAdded"})
	say(2, 100, map[string]any{"type": "error", "function": "setRemoteDescription", "name": "OperationError", "message": "<b>no</b>", "localSDP": offerSDP, "remoteSDP": answer})
	say(3, 900, map[string]any{"type": "error", "function": "createAnswer", "name": "OperationError", "message": "no codec", "localSDP": second})
	for one.hears("ack").Seq != 3 {
	}
	row := s.list("by hand")[0]
	query := url.Values{"app": {appID}, "id": {"by hand"}, "at": {strconv.FormatInt(row.StartAt, 10)}}
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			browser.Require(t, kind)
			p := openPage(t, browser.Start(t, kind), "sdp", s.dashboard+"/conference?"+query.Encode())
			checkSDPs(t, p)
			say(4, 1000, map[string]any{"type": "error", "function": "createOffer", "name": "OperationError", "message": "again", "localSDP": offerSDP})
			keepsSDPs(t, p)
			checkTicket(t, s, p, query)
			p.accessible("conference-sdp")
			require.Empty(t, p.Browser.Errors(), "the page runs without an error")
		})
	}
}

// checkSDPs opens the SDPs.
func checkSDPs(t *testing.T, p *page) {
	t.Helper()
	p.Until(patience, "document.querySelectorAll('[data-testid=sdp]').length === 3")
	p.Run("document.querySelectorAll('[data-testid=sdp]').forEach((one) => { one.open = true; })")
	p.Until(patience, "document.querySelectorAll('[data-testid=sdp] .sdp').length === 3")
	var sections, options []string
	p.Get("[...document.querySelector('[data-testid=sdp]').querySelectorAll('.sdp-section > summary')].map((one) => one.textContent)", &sections)
	require.Equal(t, []string{"Session · 5 lines", "audio · mid 0 · sends and receives · 9 lines", "video · mid 1 · sends and receives · 5 lines"}, sections)
	p.Get("[...document.querySelector('[data-testid=sdp] select').options].map((one) => one.textContent.replace(/\\d\\d:\\d\\d:\\d\\d/, 'TIME'))", &options)
	require.Equal(t, []string{"Compare with …", "remote SDP of this error", "local SDP at TIME, createAnswer"}, options)

	compare := func(with int) (lines []string) {
		p.Run(fmt.Sprintf(`(() => { const select = document.querySelector("[data-testid=sdp] select"); select.selectedIndex = %d; select.dispatchEvent(new Event("change")); })()`, with))
		p.Get(`[...document.querySelectorAll('[data-testid=sdp-diff] :is(ins, del)')].map((one) => one.textContent.trim())`, &lines)
		return lines
	}
	require.Equal(t, []string{
		"− a=fingerprint:sha-256 AA:BB", "− a=setup:actpass", "+ a=fingerprint:sha-256 CC:DD", "+ a=setup:active",
		"− m=video 9 UDP/TLS/RTP/SAVPF 96", "+ m=video 0 UDP/TLS/RTP/SAVPF 96",
	}, compare(1))
	require.Equal(t, []string{"− a=rtpmap:96 VP8/90000", "+ a=rtpmap:96 AV1/90000"}, compare(2))

	p.Run("document.querySelectorAll('[data-testid=sdp] .sdp-tools button')[1].click()")
	var words string
	p.Get("document.querySelectorAll('[data-testid=sdp]')[1].querySelector('.sdp-words').parentElement.parentElement.textContent", &words)
	for _, text := range []string{"a=setup:activeis the DTLS client", "payload type 96: VP8, 90000 Hz", "video, rejected", "s=<b>no</b> مكالمة 会議"} {
		require.Contains(t, words, text)
	}
}

// keepsSDPs waits for one more error of the live conference: the SDP that is compared stays so, and can be compared with the new one.
func keepsSDPs(t *testing.T, p *page) {
	t.Helper()
	p.Until(patience, "document.querySelectorAll('[data-testid=sdp]').length === 4")
	var difference, words []string
	p.Get(`[...document.querySelectorAll('[data-testid=sdp-diff] :is(ins, del)')].map((one) => one.textContent.trim())`, &difference)
	require.Equal(t, []string{"− a=rtpmap:96 VP8/90000", "+ a=rtpmap:96 AV1/90000"}, difference)
	p.Get("[...document.querySelectorAll('[data-testid=sdp]')[1].querySelectorAll('.sdp-words code')].map((one) => one.textContent)", &words)
	require.Contains(t, words, "a=setup:active")
	p.Until(patience, "document.querySelector('[data-testid=sdp] select').options.length === 4")
}

// checkTicket copies the conference as text. The clipboard of a browser without a window is replaced.
func checkTicket(t *testing.T, s *scene, p *page, query url.Values) {
	t.Helper()
	p.Run(`(() => {
		Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } });
		[...document.querySelectorAll("button")].find((one) => one.textContent === "Copy as text").click();
	})()`)
	p.Until(patience, "window.copied")
	var copied string
	p.Get("copied", &copied)
	require.Contains(t, copied, "Conference by hand (app demo)\nOutcome: ")
	require.Contains(t, copied, "\nPage: "+s.dashboard+"/conference?"+query.Encode()+"\n")
	require.Contains(t, copied, "<i>ada</i> 日本 عدا: setRemoteDescription OperationError: <b>no</b>\n")
	body := s.read(s.dashboard + "/api/conference/text?" + query.Encode())
	require.Contains(t, body, "createAnswer OperationError: no codec")
}
