package config

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the keys of docs/agent.md anew")

// TestTheGuideHasEveryKey compares the table of docs/agent.md with the keys that the agent takes.
func TestTheGuideHasEveryKey(t *testing.T) {
	var table strings.Builder
	table.WriteString("| key | default | |\n| --- | --- | --- |\n")
	c := Default()
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	c.bind(flags)
	flags.VisitAll(func(f *flag.Flag) {
		table.WriteString("| `" + f.Name + "` | ")
		if f.DefValue != "" {
			table.WriteString("`" + f.DefValue + "` ")
		}
		table.WriteString("| " + f.Usage + " |\n")
	})
	guide := filepath.Join("..", "..", "..", "docs", "agent.md")
	text, err := os.ReadFile(guide)
	require.NoError(t, err)
	block := regexp.MustCompile(`(?s)<!-- keys -->\n(.*?)<!-- /keys -->`)
	match := block.FindSubmatch(text)
	require.NotNil(t, match)
	if *update {
		text = block.ReplaceAllLiteral(text, []byte("<!-- keys -->\n"+table.String()+"<!-- /keys -->"))
		require.NoError(t, os.WriteFile(guide, text, 0o600))
		t.Fatal("docs/agent.md was written; run again without -update")
	}
	require.Equal(t, table.String(), string(match[1]))
}
