package agent

import (
	"testing"

	"github.com/qosrtc/qos/tests/harness"
)

func TestMain(m *testing.M) { harness.VerifyMain(m) }
