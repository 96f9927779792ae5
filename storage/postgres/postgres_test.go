package postgres

import (
	"testing"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/storagetest"
)

func TestConformance(t *testing.T) {
	t.Parallel() // two long tests at once, after those that stop the server
	storagetest.Run(t, func(t *testing.T) (storage.Writer, storage.Reader) {
		t.Helper()
		s := temp(t)
		return s, s
	})
}
