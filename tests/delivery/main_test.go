package delivery

import (
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/tests/harness"
)

func TestMain(m *testing.M) {
	harness.TestsAtOnce(8)
	zerolog.SetGlobalLevel(zerolog.Disabled) // of the proxy; it logs each toxic that ends
	// The proxy forgets goroutines whose connection ends in mid-write.
	const link = "github.com/Shopify/toxiproxy/v2.(*ToxicLink)."
	harness.VerifyMain(m,
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
		goleak.IgnoreAnyFunction(link+"read"), goleak.IgnoreAnyFunction(link+"write"))
}
