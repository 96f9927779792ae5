package serverlog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	f := func(want, line string) {
		t.Helper()
		require.Equal(t, want, Line([]byte(line)))
	}
	f("http: TLS handshake error: EOF", "http: TLS handshake error from 192.0.2.7:54321: EOF\n")
	f("http: TLS handshake error: EOF", "http: TLS handshake error from [2001:db8::1]:54321: EOF")
	f("http: TLS handshake error: read tcp: i/o timeout", "http: TLS handshake error from 192.0.2.7:54321: read tcp 198.51.100.1:443->192.0.2.7:54321: i/o timeout\n")
	f("http: TLS handshake error: write tcp: write: broken pipe",
		"http: TLS handshake error from [2001:db8::1]:54321: write tcp [2001:db8::2]:443->[2001:db8::1]:54321: write: broken pipe\n")
	f("http: panic: x", "http: panic serving 192.0.2.7:1: x")
	f("http: Accept error: too many open files; retrying in 5ms", "http: Accept error: too many open files; retrying in 5ms\n")
}
