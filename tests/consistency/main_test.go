package consistency

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/qosrtc/qos/storage/storagetest"
)

func TestMain(m *testing.M) {
	storagetest.ShortUnderRace()
	goleak.VerifyTestMain(m)
}
