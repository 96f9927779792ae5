package qoswssreceiver

import (
	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/internal/auth"
)

// testApps is an apps extension made by a test.
type testApps struct {
	component.StartFunc
	component.ShutdownFunc
	keys *auth.Keys
	apps map[string]auth.App
}

func (a *testApps) App(id string) (auth.App, bool) {
	app, ok := a.apps[id]
	return app, ok
}

func (a *testApps) Keys() *auth.Keys { return a.keys }

// testHost is a host with one extension.
type testHost map[component.ID]component.Component

func (h testHost) GetExtensions() map[component.ID]component.Component { return h }

func newTestHost() component.Host {
	keys, err := auth.NewKeys(make([]byte, 32))
	if err != nil {
		panic(err)
	}
	return testHost{component.MustNewID("qosapps"): &testApps{keys: keys}}
}
