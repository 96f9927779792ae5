package loopback

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// spec: OUT-01, DASH-01
func TestHosts(t *testing.T) {
	hosts := NewHosts("10.1.2.3:8482", []string{"QOS.example.org"})
	for host, want := range map[string]bool{
		"localhost:8482": true, "LOCALHOST": true, "localhost.": true, "127.0.0.1:1": true, "127.3.2.1": true, "[::1]:8482": true, "[::1]": true,
		"10.1.2.3:8482": true, "10.1.2.3": true, "qos.example.org": true, "qos.EXAMPLE.org.:443": true,
		"10.1.2.4:8482": false, "evil.example.org": false, "localhost.evil.example.org": false, "127.0.0.1.evil.example.org": false,
		"qos.example.org.evil": false, "": false, ":8482": false,
	} {
		require.Equal(t, want, hosts.Allow(host), "%q", host)
	}
	for _, endpoint := range []string{":8482", "0.0.0.0:8482", "[::]:8482"} {
		require.Empty(t, NewHosts(endpoint, nil), endpoint)
	}
}

// spec: OUT-01, DASH-01
func TestGuard(t *testing.T) {
	refused := 0
	h := NewHosts("localhost:1", nil).Guard("It", func(*http.Request) { refused++ }, http.NotFoundHandler())
	f := func(host string, status int, text string) {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
		r.Host = host
		h.ServeHTTP(w, r)
		require.Equal(t, status, w.Code)
		require.Equal(t, text, w.Body.String())
	}
	f("localhost:1", http.StatusNotFound, "404 page not found\n")
	require.Zero(t, refused)
	f("evil.example.org:1", http.StatusMisdirectedRequest, "It does not answer to this host name. If it should, add it to allowed_hosts.\n")
	require.Equal(t, 1, refused)
}

func TestValidateHosts(t *testing.T) {
	require.NoError(t, ValidateHosts([]string{"a.example", "10.0.0.1"}))
	for _, host := range []string{"", "*.example.org", "https://a.example", "a.example:443", "a b"} {
		err := ValidateHosts([]string{"a.example", host})
		require.EqualError(t, err, "allowed_hosts must be host names without scheme, port or wildcard (entry 2 is not)", host)
	}
}
