package frames

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// However much is damaged, the error stays short, and says how much.
func TestDamageIsBounded(t *testing.T) {
	d := &Damage{}
	require.NoError(t, d.Err())
	for i := range 1000 {
		d.Add(fmt.Errorf("chunk %d: %w", i, errors.New("gone bad")))
	}
	require.ErrorIs(t, d.Err(), storage.ErrDamaged)
	require.ErrorContains(t, d.Err(), "1000 parts: chunk 0: gone bad; chunk 1")
	require.ErrorContains(t, d.Err(), "; and 990 more")
	require.Equal(t, damagedNames, strings.Count(d.Err().Error(), "chunk"))
}
