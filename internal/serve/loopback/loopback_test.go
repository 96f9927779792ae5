package loopback

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// spec: SRV-01
func TestEndpoint(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"localhost:8480":          true,
		"LOCALHOST:0":             true,
		"127.0.0.1:8480":          true,
		"127.9.9.9:8480":          true,
		"[::1]:8480":              true,
		"[::ffff:127.0.0.1]:8480": true,
		"0.0.0.0:8480":            false,
		":8480":                   false,
		"[::]:8480":               false,
		"10.0.0.1:8480":           false,
		"example.org:8480":        false,
		"localhost.example.org:1": false,
		"localhost":               false,
		"":                        false,
	} {
		require.Equal(t, want, Endpoint(endpoint), endpoint)
	}
}
