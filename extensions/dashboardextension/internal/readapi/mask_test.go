package readapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/mask"
)

// Text that is no JSON but may have a real name is withheld.
func TestBrokenDocuments(t *testing.T) {
	broken := `{"userID":{"userName":"Ann Re`
	require.Equal(t, mask.Withheld, newNames(false, false).document(broken, hiddenInEvents))
	require.Equal(t, broken, newNames(true, true).document(broken, hiddenInEvents))
	require.Equal(t, "{x", newNames(false, false).document("{x", hiddenInEvents))
}
