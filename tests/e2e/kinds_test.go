package e2e

import (
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// browserKinds are the browsers of tests that are the same in each: Chromium in `make test`, Firefox in `make test-long`.
func browserKinds() []string { return []string{testenv.Pick(browser.Chromium, browser.Firefox)} }
