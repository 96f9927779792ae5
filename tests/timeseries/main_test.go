package timeseries

import (
	"testing"

	"github.com/qosrtc/qos/tests/harness"
)

func TestMain(m *testing.M) {
	harness.TestsAtOnce(8)
	harness.VerifyMain(m)
}
