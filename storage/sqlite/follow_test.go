package sqlite

import (
	"testing"

	"github.com/qosrtc/qos/tests/store/storagetest"
)

func TestFollow(t *testing.T) {
	storagetest.RunFollow(t, func(t *testing.T) storagetest.Followed {
		t.Helper()
		return temp(t)
	})
}
