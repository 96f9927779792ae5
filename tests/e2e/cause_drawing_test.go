package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawing is a draw of calls, a function of its seed.
type drawing struct {
	name             string // of its folder in package tests/cause, and of its calls
	seed, stream     uint64
	kinds            []drawnKind
	controls, harmed int // calls
}

// drawnKind is a kind of call, and how many of it are drawn.
type drawnKind struct {
	name string
	n    int
	draw func(*freshDraw)
}

var recordDrawn = flag.Bool("record-drawn", false, "record the traces of the drawn calls of the tests that are run (package tests/cause)")

func (d *drawing) folder() string { return filepath.Join("../cause/testdata", d.name) }

// record makes every call of which there is no trace.
func (d *drawing) record(t *testing.T) {
	t.Helper()
	if !*recordDrawn {
		t.Skip("no -record-drawn")
	}
	recordAll(t, d.scenes(d.seed), d.folder())
}

// check checks that the draw is the same each time, of the size that was meant and as its file lists it, that each call
// has a label, and that another seed is another draw.
func (d *drawing) check(t *testing.T) {
	t.Helper()
	scenes, again := d.scenes(d.seed), d.scenes(d.seed)
	require.Equal(t, labelsOf(scenes), labelsOf(again))
	require.NotEqual(t, labelsOf(scenes), labelsOf(d.scenes(d.seed+1)))
	kinds := map[string]int{}
	controls := 0
	var list strings.Builder
	for _, s := range scenes {
		fmt.Fprintf(&list, "%s\t%s\t%s\t%s\n", s.name, s.label.Kind, s.label.Cause, s.label.Did)
		t.Logf("%s %s %v %s server=%v %v %v: %s", s.name, s.label.Kind, s.users, s.browser, s.server, s.label.Cause, s.label.Users, s.label.Did)
		require.NotEmpty(t, s.label.Did)
		kinds[s.label.Kind]++
		if s.label.Cause == "none" {
			controls++
		}
		for _, user := range s.label.Users {
			require.Contains(t, s.users, user)
		}
	}
	committed, err := os.ReadFile(filepath.Join(d.folder(), "draw.txt"))
	require.NoError(t, err)
	require.Equal(t, string(committed), list.String())
	require.Equal(t, d.controls, controls)
	require.Len(t, scenes, d.controls+d.harmed)
	require.Len(t, kinds, len(d.kinds))
}

// scenes returns the calls of a seed, in the order in which they are made.
func (d *drawing) scenes(seed uint64) []causeScene {
	r := rand.New(rand.NewPCG(seed, d.stream))
	var kinds []drawnKind
	for _, kind := range d.kinds {
		kinds = append(kinds, slices.Repeat([]drawnKind{kind}, kind.n)...)
	}
	r.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	scenes := make([]causeScene, 0, len(kinds))
	for i, kind := range kinds {
		f := &freshDraw{r: r}
		f.scene.name = fmt.Sprintf("%s-%03d", d.name, i+1)
		kind.draw(f)
		f.scene.label.Kind = kind.name
		scenes = append(scenes, f.scene)
	}
	return scenes
}
