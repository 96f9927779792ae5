package dashboardextension

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// TestReasonsOfPreCalls: each reason of a provider that is not acceptable has its words on the page, its meaning in the documents
// and its name in the library's types.
//
// spec: PRE-04
func TestReasonsOfPreCalls(t *testing.T) {
	for file, format := range map[string]string{
		"web/js/precalltable.js":     `\b%s: "[a-z]`,
		"../../client/src/types.ts":  `\| '%s'`,
		"../../docs/library.md":      "\n\\|[^|]*`%s`",
		"../../docs/protocol.md":     `\b%s\b`,
		"../../client/dist/qos.d.ts": `\| '%s'`,
	} {
		text, err := os.ReadFile(filepath.FromSlash(file))
		require.NoError(t, err)
		for _, reason := range protocol.PreCallReasons {
			require.Regexp(t, fmt.Sprintf(format, reason), string(text), file)
		}
	}
}
