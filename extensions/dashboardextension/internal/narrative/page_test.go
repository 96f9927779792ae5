package narrative

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/protocol"
)

// TestWordsOfPages compares the words that the pages import with those of this package: causes as sentences, titles and kinds of issues,
// outcomes, end reasons, stages of setups, and with the keys of additionalIDs.
func TestWordsOfPages(t *testing.T) {
	var b strings.Builder
	b.WriteString("// Written by go test ./extensions/dashboardextension/internal/narrative -run TestWordsOfPages -update: change the words there.\n")
	sentences := maps.Clone(causes)
	delete(sentences, "none") // the pages have no card for it
	writeObject(&b, "What each cause says; {at} is the participant at whose end it lies, {peer} the other end.", "causes", sentences)
	names := map[string]string{}
	for kind, title := range titles {
		names[string(kind)] = title
	}
	writeObject(&b, "Kinds of issues that do not read well in words.", "issueTitles", names)
	writeList(&b, "All kinds of issues.", "issueKinds", detect.Kinds)
	writeList(&b, "The keys that additionalIDs may have.", "additionalKeys", protocol.AdditionalIDKeys)
	b.WriteString("\n/** What each outcome says: its name and its meaning. */\nexport const outcomes = {\n  __proto__: null,\n")
	for _, outcome := range slices.Backward(conference.Outcomes) {
		name, meaning, found := strings.Cut(outcomes[outcome], ": ")
		require.True(t, found, outcome)
		fmt.Fprintf(&b, "  %s: [%q, %q],\n", outcome, name, strings.ToUpper(meaning[:1])+meaning[1:]+".")
	}
	b.WriteString("};\n")
	writeObject(&b, "How a connection or a participant ended.", "endReasons", endReasons)
	writeObject(&b, "In which stage a setup failed.", "stages", stages)
	file := filepath.Join("..", "..", "web", "js", "words.js")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have))
}

func writeList[T ~string](b *strings.Builder, doc, name string, words []T) {
	fmt.Fprintf(b, "\n/** %s */\nexport const %s = [\n", doc, name)
	for _, word := range words {
		fmt.Fprintf(b, "  %q,\n", word)
	}
	b.WriteString("];\n")
}

func writeObject(b *strings.Builder, doc, name string, words map[string]string) {
	fmt.Fprintf(b, "\n/** %s */\nexport const %s = {\n  __proto__: null,\n", doc, name)
	for _, key := range slices.Sorted(maps.Keys(words)) {
		fmt.Fprintf(b, "  %s: %q,\n", key, words[key])
	}
	b.WriteString("};\n")
}
