package monitoring

import (
	"testing"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// withPostgres runs the tests beside a server.
type withPostgres struct{ *testing.M }

func (m withPostgres) Run() int { return postgrestest.Run(m.M) }

func TestMain(m *testing.M) {
	harness.TestsAtOnce(8)
	harness.VerifyMain(withPostgres{m})
}
