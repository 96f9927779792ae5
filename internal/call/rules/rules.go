// Package rules has the rules by which a collector assesses calls: the bounds of the labels of
// scores and the thresholds of the detectors (requirements QUAL-01, ISS-01). One extension
// owns them, and every component that needs them takes them from there, so that a collector
// has one definition of a good call.
package rules

import (
	"fmt"

	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/quality"
)

// Rules are safe for concurrent use: nothing changes them.
type Rules struct {
	Labels    quality.Bounds
	Detectors *detect.Rules
}

// Owner is an extension that has rules. It has them from its creation on, before any
// component starts.
type Owner interface{ Rules() Rules }

// Default returns the rules of a collector whose configuration names none.
func Default() Rules {
	return Rules{Labels: quality.DefaultBounds(), Detectors: detect.NewRules(detect.DefaultConfig())}
}

// Of returns the rules of the host's extension that has some, and the default without such an
// extension. It fails where there are several.
func Of(host component.Host) (Rules, error) {
	var found component.ID
	rules := Default()
	for id, extension := range host.GetExtensions() {
		owner, ok := extension.(Owner)
		switch {
		case !ok:
		case found != component.ID{}:
			first, second := min(found.String(), id.String()), max(found.String(), id.String())
			return Rules{}, fmt.Errorf("extensions %q and %q both have the rules of labels and detectors: list one of them under service::extensions", first, second)
		default:
			found, rules = id, owner.Rules()
		}
	}
	return rules, nil
}
