package e2e

import (
	"slices"

	"github.com/qosrtc/qos/internal/testenv"
)

// browserKinds are the browsers of tests that are the same in each: Chromium in `make test`, Firefox in `make test-long`.
func browserKinds() []string { return []string{testenv.Pick(chromium, firefox)} }

// needKinds are the programs of browserKinds, and more.
func needKinds(more ...string) []string { return slices.Concat(programs[browserKinds()[0]], more) }
