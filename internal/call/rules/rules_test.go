package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/call/rules/rulestest"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// other is an extension without rules.
type other struct {
	component.StartFunc
	component.ShutdownFunc
}

// spec: QUAL-01
func TestOf(t *testing.T) {
	strict := rulestest.Owner{Has: rules.Rules{Labels: quality.Bounds{4.5, 4.4, 4.3, 4.2}}}
	f := func(h component.Host, want rules.Rules) {
		t.Helper()
		got, err := rules.Of(h)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	store := component.MustNewID("qosstorage")
	f(componenttest.NewNopHost(), rules.Default())
	f(hosttest.Host{store: other{}}, rules.Default())
	f(hosttest.Host{store: other{}, rulestest.ID: strict}, strict.Has)

	_, err := rules.Of(hosttest.Host{rulestest.ID: strict, component.MustNewIDWithName("qosrules", "night"): strict})
	require.EqualError(t, err, `extensions "qosrules" and "qosrules/night" both have the rules of labels and detectors: list one of them under service::extensions`)
}
