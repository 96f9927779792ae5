// Package rulestest gives tests a host whose extensions have rules.
package rulestest

import (
	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/internal/rules"
)

// ID is that of the rules extension.
var ID = component.MustNewID("qosrules") //nolint:gochecknoglobals // a name

// Host has the extensions of the map.
type Host map[component.ID]component.Component

// GetExtensions implements component.Host.
func (h Host) GetExtensions() map[component.ID]component.Component { return h }

// HostWith returns a host whose only extension has these rules.
func HostWith(r rules.Rules) Host { return Host{ID: Owner{Has: r}} }

// Owner is an extension that has rules.
type Owner struct {
	component.StartFunc
	component.ShutdownFunc
	Has rules.Rules
}

// Rules implements rules.Owner.
func (o Owner) Rules() rules.Rules { return o.Has }
