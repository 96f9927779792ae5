// Package rulestest gives tests an extension that has rules.
package rulestest

import (
	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// ID is that of the rules extension.
var ID = component.MustNewID("qosrules")

// HostWith returns a host whose only extension has these rules.
func HostWith(r rules.Rules) hosttest.Host { return hosttest.Host{ID: Owner{Has: r}} }

// Owner is an extension that has rules.
type Owner struct {
	component.StartFunc
	component.ShutdownFunc
	Has rules.Rules
}

// Rules implements rules.Owner.
func (o Owner) Rules() rules.Rules { return o.Has }
