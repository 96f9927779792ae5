package agent_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// Each on one core (-cpu 1) and in one run. The signature is to be the cost: a token from the
// handler within 1.3 of it. Compare cpu-ns/op: it does not count what other processes take.

// onCPU runs f b.N times and reports the process's CPU time for each.
func onCPU(b *testing.B, f func()) {
	b.Helper()
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkBareSignature(b *testing.B) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(b, err)
	digest := sha256.Sum256([]byte("header.payload"))
	onCPU(b, func() { _, err = ecdsa.SignASN1(rand.Reader, key, digest[:]) })
	require.NoError(b, err)
}

func BenchmarkJWTLibrarySignature(b *testing.B) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(b, err)
	onCPU(b, func() { _, err = jwt.SigningMethodES256.Sign("header.payload", key) })
	require.NoError(b, err)
}

// discard is a ResponseWriter that keeps nothing, so that the handler alone is measured.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

func BenchmarkHandler(b *testing.B) {
	h := handler(b, options(b, newKey(b)))
	r := httptest.NewRequest(http.MethodPost, "/token", http.NoBody)
	r.AddCookie(&http.Cookie{Name: "session", Value: "alice"})
	onCPU(b, func() { h.ServeHTTP(discard{make(http.Header)}, r) })
}

// BenchmarkHTTP has client and server in one process and on one core, so it counts both.
func BenchmarkHTTP(b *testing.B) { benchmarkHTTP(b, handler(b, options(b, newKey(b)))) }

// BenchmarkHTTPAlone is BenchmarkHTTP without a token: what net/http costs by itself.
func BenchmarkHTTPAlone(b *testing.B) {
	benchmarkHTTP(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
}

func benchmarkHTTP(b *testing.B, h http.Handler) {
	b.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	client := server.Client()
	onCPU(b, func() {
		r, err := http.NewRequest(http.MethodPost, server.URL, http.NoBody)
		require.NoError(b, err)
		r.AddCookie(&http.Cookie{Name: "session", Value: "alice"})
		response, err := client.Do(r)
		require.NoError(b, err)
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		require.Equal(b, http.StatusOK, response.StatusCode)
	})
}
