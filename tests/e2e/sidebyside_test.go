package e2e

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

const (
	pairCharts = `[...document.querySelectorAll("[data-testid=side-by-side] [data-testid=chart]")]`
	pickSide   = `((label, text) => {
		const select = document.querySelector("select[aria-label='" + label + "']");
		select.value = [...select.options].find((one) => one.textContent === text).value;
		select.dispatchEvent(new Event("change"));
	})`
)

// TestSideBySide: what one participant sent and another received are charts next to each other, with one cursor and one zoom;
// the address has the choice; on a narrow screen they are below each other.
//
// spec: DASH-02
func TestSideBySide(t *testing.T) {
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			browser.Require(t, kind)
			w := lookAt(t, kind, 5*time.Minute)
			p := w.page
			p.Until(patience, `document.querySelector("#main").ariaBusy === "false"`)
			p.Run(`[...document.querySelectorAll("button")].find((one) => one.textContent === "Side by side").click()`)
			p.Run(pickSide + `("Left side", "guest 2, sent")`)
			p.Run(pickSide + `("Right side", "guest 5, received")`)
			var titles []string
			p.Get(pairCharts+`.map((one) => one.querySelector("figcaption").textContent)`, &titles)
			require.Len(t, titles, 8, "score, bit rate, loss, round trip and jitter without those that neither has: %q", titles)
			require.Equal(t, []string{"Scoreguest 2 · sent", "Scoreguest 5 · received"}, titles[:2])

			p.Until(patience, `(document.querySelector("[data-testid=side-by-side]").scrollIntoView(), `+pairCharts+`.every((one) => one.querySelector("canvas")))`)
			p.Run(pairCharts + `[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }))`)
			p.Until(patience, pairCharts+`.every((one) => !one.querySelector(".readout").classList.contains("means"))`)

			var address string
			p.Get("location.href", &address)
			again := openPage(t, p.Browser, "again", address)
			again.Until(patience, pairCharts+`.length === 8`)
			var sides []string
			again.Get(`["Left side", "Right side"].map((label) => document.querySelector("select[aria-label='" + label + "']").selectedOptions[0].textContent)`, &sides)
			require.Equal(t, []string{"guest 2, sent", "guest 5, received"}, sides)
			again.looks("conference-side-by-side")
			if kind == browser.Chromium {
				again.view(360, false)
				again.Until(patience, pairCharts+`[0].getBoundingClientRect().bottom <= `+pairCharts+`[1].getBoundingClientRect().top`)
			}
			other, err := url.Parse(address)
			require.NoError(t, err)
			query := other.Query()
			query.Set("left", "nobody")
			query.Set("right", "<b>.x.y")
			other.RawQuery = query.Encode()
			wrong := openPage(t, p.Browser, "wrong", other.String())
			wrong.Until(patience, `document.querySelector("#main").ariaBusy === "false" && !document.querySelector("[data-testid=side-by-side]")`)
			require.Empty(t, p.Browser.Errors(), "the page runs without an error")
		})
	}
}
