package proxies

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

// reader is a browser of the dashboard with an address of its own in 127.0.0.0/8.
type reader struct {
	t    *testing.T
	http *http.Client
}

// readerAt connects to the proxy. It follows no redirect.
func readerAt(t *testing.T, ip, proxy string, trust *tls.Config) *reader {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	transport := &http.Transport{
		TLSClientConfig: trust.Clone(), ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, proxy)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &reader{t, &http.Client{
		Jar: jar, Timeout: harness.Patience, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// do sends a request of a page of the dashboard, as browsers without Sec-Fetch-Site do: they prove it by the origin.
func (r *reader) do(method, path, body string, header ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "https://"+dashboardHost+path, strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Origin", "https://"+dashboardHost)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := r.http.Do(req)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(r.t, 2, res.ProtoMajor)
	return res
}

// read returns the body of an answer.
func (r *reader) read(res *http.Response) string {
	r.t.Helper()
	text, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	return string(text)
}

var formToken = regexp.MustCompile(`name="form" value="([^"]*)"`)

// post fills in the form of a page.
func (r *reader) post(path string, form url.Values, header ...string) *http.Response {
	r.t.Helper()
	found := formToken.FindStringSubmatch(r.read(r.do(http.MethodGet, path, "")))
	require.NotNil(r.t, found)
	form.Set("form", found[1])
	return r.do(http.MethodPost, path, form.Encode(), append(header, "Content-Type", "application/x-www-form-urlencoded")...)
}

// guess signs in with a wrong password and returns the status.
func (r *reader) guess(header ...string) int {
	r.t.Helper()
	return r.post("/signin", url.Values{"user": {"admin"}, "password": {"wrong, but long enough"}}, header...).StatusCode
}

var signInLink = regexp.MustCompile("https://" + regexp.QuoteMeta(dashboardHost) + `/signin/link\?token=(\S+)`)

// TestDashboardBehindProxies: readers sign in at the host name of the dashboard, with cookies and a transport of TLS
// only. A live page gets what was committed at once, through no buffer. Who guesses passwords makes only their own
// address wait, whatever the header that they forge. Other host names get nothing of the dashboard.
//
// spec: DASH-01, DASH-03
func TestDashboardBehindProxies(t *testing.T) {
	each(t, func(t *testing.T, c *harness.Collector, dashboard, proxy string, trust *tls.Config) {
		t.Helper()
		var token string
		require.Eventually(t, func() bool {
			found := signInLink.FindStringSubmatch(c.Log())
			if found != nil {
				token = found[1]
			}
			return found != nil
		}, harness.Patience, 20*time.Millisecond)
		admin := readerAt(t, "127.0.0.5", proxy, trust)
		signedIn := admin.post("/signin/link", url.Values{"token": {token}})
		require.Equal(t, http.StatusSeeOther, signedIn.StatusCode, admin.read(signedIn))
		require.Equal(t, "max-age=31536000", signedIn.Header.Get("Strict-Transport-Security"))
		var login *http.Cookie
		for _, cookie := range signedIn.Cookies() {
			if cookie.Name == "__Host-qos-login" {
				login = cookie
			}
		}
		require.NotNil(t, login, signedIn.Cookies())
		require.True(t, login.Secure)

		made := admin.do(http.MethodPost, "/api/v1/tokens", `{"name":"live","roles":["support"],"scope":{"all":true}}`, "Content-Type", "application/json")
		bearer := regexp.MustCompile(`qos_[^"]+`).FindString(admin.read(made))
		require.NotEmpty(t, bearer)
		live := bufio.NewScanner(readerAt(t, "127.0.0.6", proxy, trust).do(http.MethodGet, "/api/live?app="+harness.AppID, "", "Authorization", "Bearer "+bearer).Body)
		require.True(t, live.Scan(), live.Err()) // a proxy that fills a buffer first passes none of these few bytes
		require.Equal(t, "retry: 3000", live.Text())
		page := hostAt(t, "127.0.0.7", trust, "")
		ws, answer := page.connect(proxy, page.login(proxy))
		require.Equal(t, "welcome", answer.Type)
		isAcknowledged(t, ws)
		for !strings.Contains(live.Text(), `"conference":"standup"`) {
			require.True(t, live.Scan(), live.Err())
		}

		guesser, other := readerAt(t, "127.0.0.2", proxy, trust), readerAt(t, "127.0.0.3", proxy, trust)
		for range 5 {
			require.Equal(t, http.StatusUnauthorized, guesser.guess())
		}
		require.Equal(t, http.StatusTooManyRequests, guesser.guess())
		require.Equal(t, http.StatusTooManyRequests, guesser.guess("X-Forwarded-For", "127.0.0.99"))
		require.Equal(t, http.StatusUnauthorized, other.guess("X-Forwarded-For", "127.0.0.2"))

		res, err := http.Get("http://" + dashboard + "/health")
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusNoContent, res.StatusCode, "loopback is a host name of the dashboard")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+proxy+"/signin", nil)
		require.NoError(t, err)
		res, err = readerAt(t, "127.0.0.8", proxy, trust).http.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusNotFound, res.StatusCode, "the receiver's host")
	})
}
