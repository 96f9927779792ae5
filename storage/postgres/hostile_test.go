package postgres

import (
	"testing"

	"github.com/qosrtc/qos/storage/storagetest"
)

func TestHostile(t *testing.T) {
	storagetest.RunHostile(t, func(t *testing.T) storagetest.Store { t.Helper(); return open(t, database(t)) })
}
