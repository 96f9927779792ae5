package event_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event"
)

// TestBrowser names the browser, not the ones that its user agent pretends to be.
//
// spec: OUT-01
func TestBrowser(t *testing.T) {
	const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
	for userAgent, want := range map[string][2]string{
		"": {"", ""},
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36":           {"chrome", "142"},
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/9.0.0.0 Safari/537.36":     {"chrome", "9"},
		"Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/141.0.1": {"edge", "141"},
		"Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 OPR/126.0":   {"opera", "126"},
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                          {"firefox", "140"},
		mac + "Version/18.2 Safari/605.1.15":              {"safari", "18"},
		mac + "CriOS/140.0.7 Mobile/15E148 Safari/604.1":  {"chrome", "140"},
		mac + "FxiOS/139.0 Mobile/15E148 Safari/605.1.15": {"firefox", "139"},
		"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0 Safari/537": {"other", ""},
		"curl/8.5.0":       {"other", ""},
		"Chrome/":          {"chrome", ""},
		"Chrome/99999.1":   {"chrome", ""},
		"Firefox/\"x\"} 1": {"firefox", ""},
		"Version/12":       {"other", ""},
	} {
		family, major := event.Browser(userAgent)
		require.Equal(t, want, [2]string{family, major}, userAgent)
		if userAgent != "" {
			require.Contains(t, event.Browsers, family)
		}
	}
}

func TestOperatingSystem(t *testing.T) {
	for userAgent, want := range map[string]string{
		"": "",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                       event.Linux,
		"Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36": event.Android,
		"Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0":                                         event.Android,
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537":  event.ChromeOS,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)":              event.IOS,
		"Mozilla/5.0 (iPad; CPU OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)":                       event.IOS,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)":                     event.MacOS,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0":            event.Windows,
		"curl/8.5.0": "",
	} {
		require.Equal(t, want, event.OperatingSystem(userAgent), userAgent)
		if want != "" {
			require.Contains(t, event.OperatingSystems, want)
		}
	}
}
