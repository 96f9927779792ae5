package harness

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckQuiet(t *testing.T) {
	const line = "2026-11-28T16:00:00.000Z\terror\tx/y.go:7\tthe store is away\t{\"otelcol.component.id\": \"qosstore\", \"left\": 3, \"error\": \"refused\"}\n"
	for name, c := range map[string]struct{ log, fault string }{
		"one line":           {line, ""},
		"a minute later":     {line + "2026-11-28T16:01:00.000Z\terror\tx/y.go:7\tthe store is away\t{\"otelcol.component.id\": \"qosstore\", \"left\": 4}\n", ""},
		"another component":  {line + "2026-11-28T16:00:01.000Z\terror\tx/y.go:7\tthe store is away\t{\"otelcol.component.id\": \"conference\"}\n", ""},
		"information":        {line + "2026-11-28T16:00:01.000Z\tinfo\tx/y.go:7\tthe store is away\t{\"otelcol.component.id\": \"qosstore\"}\n", ""},
		"text of no logger":  {"qos: the first administrator\n\n  password x\n", ""},
		"another error":      {line + "2026-11-28T16:00:59.999Z\terror\tx/y.go:7\tthe store is away\t{\"otelcol.component.id\": \"qosstore\", \"error\": \"reset\"}\n", "twice within 59.999s"},
		"not ours":           {strings.Repeat(strings.ReplaceAll(line, "qosstore", "otlp_http")+"x.f\n\t/src/x/y.go:7\n", 2), ""},
		"a stack of zap":     {line + "github.com/qosrtc/qos/x.f\n\t/src/x/y.go:7\n", "has a stack"},
		"a stack of a panic": {line + "goroutine 7 [running]:\n", "has a stack"},
	} {
		err := checkQuiet(c.log)
		if c.fault == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.fault, name)
		}
	}
}
