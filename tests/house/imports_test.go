package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/qosrtc/qos/"

// rule says what a room may import besides the standard library. A room is a folder with
// everything below it, or one package when Only is set.
type rule struct {
	room    string
	only    bool     // the package itself, without those below it
	allowed []string // rooms of this module, and prefixes of other modules
	reason  string
}

// components is what every component may use of this module.
var components = []string{
	"protocol", "internal/identity/access", "internal/identity/auth", "internal/record/semconv", "internal/call/instance", "internal/call/quality",
	"internal/call/conference", "internal/call/conference/live", "internal/call/cause", "internal/call/contrast", "internal/call/digest", "internal/call/detect", "internal/call/event", "internal/record/eventattr", "internal/record/eventlog", "internal/record/eventrow", "internal/metrics/series", "internal/metrics/seriescomponent", "internal/metrics/zeros", "internal/serve/jsonapi", "internal/serve/jsonobject", "internal/identity/visible", "internal/identity/mask", "internal/serve/periodic", "internal/identity/pseudonym", "internal/serve/publicaddr", "internal/call/recommend", "internal/call/rules", "internal/serve/logonce", "internal/serve/loopback", "internal/serve/serverlog", "internal/serve/budget", "internal/serve/throttle", "internal/serve/tlsserver", "internal/identity/turnrest", "internal/call/notice", "storage",
}

// engine is what every engine of the store may use of this module.
var engine = []string{
	"github.com/google/uuid", "storage", "internal/call/instance", "storage/internal/chunk", "storage/internal/erasure", "storage/internal/follow", "storage/internal/frames", "storage/internal/group", "storage/internal/join", "storage/internal/sqlstore", "storage/internal/term",
}

// Rules are tried in order; the first whose room holds the package decides.
var rules = []rule{
	{room: "internal/call", only: true, reason: roomReason},
	{room: "internal/record", only: true, reason: roomReason},
	{room: "internal/metrics", only: true, reason: roomReason},
	{room: "internal/identity", only: true, reason: roomReason},
	{room: "internal/serve", only: true, reason: roomReason},
	{room: "protocol", reason: "other people's clients build on the contract: standard library only"},
	{room: "internal/call/instance", reason: "the store and the processor share it: standard library only"},
	{
		room: "internal/call/conference/conferencetest", allowed: []string{"internal/call/conference", "internal/call/event", "internal/call/event/eventtest", "internal/call/quality", "protocol", "github.com/stretchr/testify/", "pgregory.net/rapid"},
		reason: "a hand for tests: the records of conferences",
	},
	{room: "internal/call/event/eventtest", allowed: []string{"internal/call/event", "internal/record/semconv", "protocol"}, reason: "a hand for tests: measurements"},
	{room: "internal/call/event", allowed: []string{"protocol"}, reason: "pure domain: the form of an event; the contract's measures alone"},
	{room: "internal/record/eventattr", allowed: []string{"internal/call/event", "internal/record/semconv", "protocol"}, reason: "attributes of events, whatever carries them: no pdata, no store"},
	{
		room: "internal/record/eventlog", allowed: []string{"internal/call/event", "internal/record/eventattr", "internal/record/semconv", "protocol", "go.opentelemetry.io/collector/pdata"},
		reason: "reads events from records of the pipeline, knows no component and no store",
	},
	{
		room: "internal/record/eventrow", allowed: []string{"internal/call/event", "internal/record/eventattr", "internal/record/semconv", "storage"},
		reason: "reads events from records of the store, knows no component and no engine",
	},
	{
		room: "internal/call/rules", allowed: []string{"internal/call/rules", "tests/kit/hosttest", "internal/call/detect", "internal/call/quality", "go.opentelemetry.io/collector/component"},
		reason: "finds the rules among the host's extensions, knows no component",
	},
	{room: "internal/call/notice", allowed: []string{"internal/call/conference"}, reason: "pure domain: facts and times in, notifications out"},
	{
		room: "internal/identity/access", allowed: []string{"internal/serve/jsonobject", "internal/serve/loopback", "internal/serve/throttle", "internal/identity/visible", "github.com/alexedwards/argon2id", "golang.org/x/text/unicode/norm"},
		reason: "pure domain: who may do what; knows no store and no component",
	},
	{room: "receivers/qoswssreceiver/internal/address", reason: "cuts addresses: standard library only"},
	{room: "internal/call/contrast", allowed: []string{"internal/call/digest"}, reason: "pure statistics: facts of two sets of conferences in, findings out"},
	{room: "extensions/dashboardextension/internal/narrative", allowed: []string{"internal/call/cause", "internal/call/conference", "internal/call/detect"}, reason: "pure domain: a summary and names in, text out"},
	{room: "extensions/dashboardextension/internal/overview", allowed: []string{"internal/call/digest"}, reason: "pure domain: digests in, counts out"},
	{
		room: "internal/call/digest", allowed: []string{"protocol", "internal/call/conference", "internal/identity/mask", "github.com/google/uuid", "google.golang.org/protobuf/encoding/protowire"},
		reason: "pure domain: summaries in, bytes out, and back",
	},
	{room: "internal/call/recommend", allowed: []string{"protocol"}, reason: "pure domain: what is known of a network in, a configuration out"},
	{
		room: "receivers/qoswssreceiver/internal/pathhistory", allowed: []string{"internal/call/digest", "internal/call/recommend", "storage"},
		reason: "digests of a store in, counts out, knows no component",
	},
	{room: "internal/serve/jsonapi", allowed: []string{"internal/serve/jsonobject"}, reason: "HTTP requests in, answers out, whatever they are about"},
	{room: "internal/serve/jsonobject", reason: "texts in, members out: standard library only"},
	{room: "internal/identity/visible", reason: "a question about texts: standard library only"},
	{room: "internal/serve/periodic", reason: "a goroutine and its owner: standard library only"},
	{room: "internal/identity/mask", allowed: []string{"golang.org/x/text/unicode/norm"}, reason: "names and texts in, texts out: the forms of Unicode alone"},
	{room: "internal/identity/pseudonym", reason: "keys and IDs in, pseudonyms out: standard library only"},
	{room: "internal/serve/publicaddr", reason: "a question about addresses: standard library only"},
	{room: "internal/identity/turnrest", reason: "credentials from secrets and times: standard library only"},
	{room: "internal/serve/loopback", reason: "a question about addresses: standard library only"},
	{room: "internal/serve/logonce", allowed: []string{"go.opentelemetry.io/collector/component", "go.uber.org/zap", "go.uber.org/zap/zapcore"}, reason: "a logger around a logger: it knows no component"},
	{room: "internal/serve/serverlog", reason: "text in, text out: standard library only"},
	{
		room: "internal/serve/tlsserver", allowed: []string{"go.opentelemetry.io/collector/component", "go.opentelemetry.io/collector/config/confighttp", "go.opentelemetry.io/collector/config/configtls", "go.opentelemetry.io/otel/trace/noop", "go.uber.org/zap", "internal/serve/budget", "internal/serve/serverlog"},
		reason: "a listener from a configuration, knows no component",
	},
	{room: "internal/serve/budget", reason: "pure domain: owners and bytes in, decisions out; standard library only"},
	{room: "internal/serve/throttle", reason: "pure domain: keys and times in, decisions out; standard library only"},
	{room: "internal/call/quality", allowed: []string{"internal/call/event", "protocol"}, reason: "pure domain: measurements in, scores out; no pdata, no I/O, no clock"},
	{room: "internal/call/detect", allowed: []string{"internal/call/event", "protocol"}, reason: "pure domain: measurements in, findings out"},
	{room: "internal/call/cause", allowed: []string{"internal/call/event"}, reason: "pure domain: what was measured in, the likely cause out"},
	{
		room: "internal/call/conference/live", allowed: []string{"internal/serve/budget", "internal/call/conference", "internal/call/event", "internal/call/instance", "internal/call/quality", "internal/call/detect"},
		reason: "the registry of conferences: the fold, and what says which conference a record is of",
	},
	{
		room: "internal/call/conference", allowed: []string{"protocol", "internal/call/event", "internal/call/instance", "internal/call/quality", "internal/call/cause", "internal/call/detect", "github.com/DataDog/sketches-go/"},
		reason: "pure domain: only the shared functions and one sketch library",
	},
	{
		room: "internal/metrics/series", allowed: []string{"protocol", "internal/call/cause", "internal/call/conference", "internal/call/conference/live", "internal/call/detect", "internal/call/event", "internal/record/eventlog", "internal/record/semconv", "go.opentelemetry.io/collector/pdata"},
		reason: "records of the pipeline in, bounded series out: no component, no I/O, no clock",
	},
	{
		room: "internal/metrics/seriescomponent", allowed: []string{"internal/record/semconv", "internal/metrics/series", "internal/metrics/zeros", "go.opentelemetry.io/otel/"},
		reason: "what components that count series share: their metrics and their ticker",
	},
	{room: "internal/metrics/zeros", allowed: []string{"go.opentelemetry.io/otel/"}, reason: "counters of OpenTelemetry alone, knows no component"},
	{room: "tests/kit/bench", allowed: []string{"golang.org/x/sys/unix"}, reason: "a hand for benchmarks: the system alone"},
	{room: "tests/kit/freeport", reason: "a hand for tests: standard library only"},
	{room: "tests/kit/hosttest", allowed: []string{"storage", "go.opentelemetry.io/collector/component"}, reason: "a hand for tests: a host and its storage extension"},
	{room: "tests/kit/testenv", reason: "a hand for tests: standard library only"},
	{room: "tests/kit/testcert", reason: "a hand for tests: standard library only"},
	{room: "tests/kit/oddvalue", allowed: []string{"go.opentelemetry.io/collector/pdata", "pgregory.net/rapid"}, reason: "a hand for tests: values of attributes"},
	{room: "tests/kit/rapidfuzz", allowed: []string{"pgregory.net/rapid"}, reason: "a hand for tests: the property library alone"},
	{room: "internal/record/semconv", allowed: []string{"protocol"}, reason: "names are built on the contract alone"},
	{
		room: "internal/identity/auth", allowed: []string{
			"protocol", "internal/identity/auth", "internal/serve/jsonobject", "internal/identity/pseudonym", "github.com/google/uuid", "github.com/xdg-go/scram", "github.com/golang-jwt/jwt/v5", "golang.org/x/net/publicsuffix", "golang.org/x/text/unicode/norm",
		},
		reason: "the handshake knows no collector",
	},
	{room: "storage", only: true, allowed: []string{"github.com/google/uuid"}, reason: "the store's interfaces: the form of session ids, no engine"},
	{room: "storage/benchstore", allowed: []string{"*"}, reason: "measures the engines with what the pipeline makes; a program that nothing imports"},
	{
		room: "tests/store/storagetest", allowed: []string{"github.com/google/uuid", "storage", "internal/call/instance", "internal/call/digest", "internal/call/quality", "internal/call/event", "internal/record/semconv", "tests/kit/testenv", "protocol", "github.com/stretchr/testify/", "pgregory.net/rapid"},
		reason: "the conformance suite knows the interfaces, no engine",
	},
	{
		room: "storage/internal/envelope", allowed: []string{"github.com/klauspost/compress/zstd"},
		reason: "compresses bytes; knows no record and no engine",
	},
	{
		room: "storage/internal/erasure", allowed: []string{"github.com/google/uuid", "storage", "storage/internal/frames", "internal/call/conference", "internal/call/digest", "internal/identity/mask", "internal/record/semconv", "internal/call/event", "protocol"},
		reason: "says what remains of an erased user in sessions, records and summaries; knows no engine",
	},
	{
		room: "storage/internal/chunk", allowed: []string{"github.com/google/uuid", "storage", "storage/internal/frames", "storage/internal/envelope"},
		reason: "packs what package frames has; knows no engine",
	},
	{
		room: "storage/internal/term", allowed: []string{"storage", "internal/record/semconv", "internal/call/event", "protocol"},
		reason: "says which names find a conference; knows no record's encoding and no engine",
	},
	{
		room: "storage/internal", allowed: []string{
			"github.com/google/uuid", "storage", "internal/call/digest", "internal/call/instance", "storage/internal/chunk", "storage/internal/envelope", "storage/internal/erasure", "storage/internal/frames", "storage/internal/group", "storage/internal/join", "storage/internal/term",
		},
		reason: "what engines share knows no engine",
	},
	{
		room: "storage/sqlite", allowed: append([]string{"modernc.org/sqlite"}, engine...),
		reason: "an engine knows its driver and the interfaces",
	},
	{
		room: "tests/store/postgrestest", allowed: []string{"tests/kit/freeport", "tests/kit/testenv", "github.com/jackc/pgx/v5", "github.com/stretchr/testify/"},
		reason: "the tests' server knows no engine",
	},
	{
		room: "storage/postgres", allowed: append([]string{"github.com/jackc/pgx/v5"}, engine...),
		reason: "an engine knows its driver and the interfaces",
	},
	{
		room: "agent", only: true, allowed: []string{"internal/serve/jsonobject", "github.com/golang-jwt/jwt/v5"},
		reason: "origin servers take it in: a JWT library, the strict reader of JSON and nothing of the collector",
	},
	{room: "agent/keydir", allowed: []string{"agent"}, reason: "origin servers take it in too"},
	{
		room: "agent", allowed: []string{
			"agent", "agent/keydir", "agent/internal/config", "agent/internal/explain", "agent/internal/monitor", "agent/internal/oidctest", "agent/internal/sidecar", "agent/internal/who", "internal/serve/jsonobject", "external",
		},
		reason: "the agent stands beside the origin server and knows nothing of the collector",
	},
	{room: "client", reason: "embeds the built library, nothing more"},
	{room: "deploy/grafana", allowed: []string{"deploy/grafana"}, reason: "dashboards as code: names of metrics are text, which tests run in Prometheus"},
	{room: "deploy", allowed: []string{"go.opentelemetry.io/collector/confmap"}, reason: "configurations and their provider"},
	{room: "collector", allowed: []string{"*"}, reason: "generated: names every component"},
	{room: "tests", allowed: []string{"*"}, reason: "drives the whole"},
	{room: "receivers", allowed: append([]string{"client", "own", "external"}, components...), reason: componentReason},
	{room: "processors", allowed: append([]string{"own", "external"}, components...), reason: componentReason},
	{room: "connectors", allowed: append([]string{"own", "external"}, components...), reason: componentReason},
	{room: "exporters", allowed: append([]string{"own", "external"}, components...), reason: componentReason},
	{
		room: "extensions/storageextension", allowed: append([]string{"own", "external", "storage/sqlite", "storage/postgres"}, components...),
		reason: "the one component that knows the engines",
	},
	{room: "extensions/dashboardextension/internal/gzipped", reason: "bytes in, bytes out: standard library only"},
	{room: "extensions/dashboardextension/internal/usual", reason: "pure domain: what was in, what is usual out; standard library only"},
	{
		room: "extensions/dashboardextension/internal/hours", allowed: []string{"internal/call/digest", "extensions/dashboardextension/internal/overview", "storage"},
		reason: "counts digests of the store, knows no HTTP and no component",
	},
	{
		room: "extensions/dashboardextension/internal/readapi", allowed: append([]string{
			"extensions/dashboardextension/internal/narrative", "extensions/dashboardextension/internal/overview",
			"extensions/dashboardextension/internal/gzipped", "extensions/dashboardextension/internal/hours", "extensions/dashboardextension/internal/metadata", "extensions/dashboardextension/internal/usual",
			"internal/serve/budget", "github.com/google/uuid", "github.com/modelcontextprotocol/go-sdk/mcp", "go.opentelemetry.io/otel/", "go.uber.org/zap",
			"golang.org/x/sync/semaphore", "golang.org/x/text/unicode/norm",
		}, components...),
		reason: "answers from the store: no page, no listener, nothing of the collector",
	},
	{room: "extensions", allowed: append([]string{"own", "external"}, components...), reason: componentReason},
}

const roomReason = "a room has a sentence and packages, no code of its own"

const componentReason = "a component never imports another: extensions are found through the host, by an interface that the caller owns"

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath   string
	Dir          string
	Doc          string
	Standard     bool
	Imports      []string
	TestImports  []string
	XTestImports []string
	GoFiles      []string
	TestGoFiles  []string
}

// listed has the packages of the module, once they were listed.
var listed []goPackage

func list(t *testing.T) []goPackage {
	t.Helper()
	if listed != nil {
		return listed
	}
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Imports,TestImports,XTestImports,GoFiles,TestGoFiles", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return listed
		} else if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, p)
	}
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range list(t) {
		room := strings.TrimPrefix(p.ImportPath, module)
		r, ok := ruleFor(room)
		require.True(t, ok, "%s stands in no room of docs/architecture.md", room)
		for _, imported := range p.Imports {
			require.True(t, r.permits(room, imported),
				"%s must not import %s: %s", room, imported, r.reason)
		}
	}
}

// TestRulesCatch breaks the rules on purpose.
func TestRulesCatch(t *testing.T) {
	for _, bad := range [][2]string{
		{"protocol", "github.com/gorilla/websocket"},
		{"internal/call/quality", "go.opentelemetry.io/collector/pdata/plog"},
		{"internal/call/event", "go.opentelemetry.io/collector/pdata/pcommon"},
		{"internal/call/event", module + "internal/record/semconv"},
		{"internal/call/conference", module + "internal/record/eventlog"},
		{"internal/call/conference", module + "internal/call/conference/live"},
		{"internal/call/conference/live", module + "storage"},
		{"internal/call/detect", module + "internal/record/eventattr"},
		{"internal/record/eventrow", "go.opentelemetry.io/collector/pdata/plog"},
		{"internal/record/eventlog", module + "storage"},
		{"receivers/qoswssreceiver", module + "exporters/storeexporter"},
		{"exporters/storeexporter", module + "storage/sqlite"},
		{"storage", "modernc.org/sqlite"},
		{"storage/postgres", "modernc.org/sqlite"},
		{"storage/internal/join", "github.com/jackc/pgx/v5"},
		{"extensions/dashboardextension", module + "collector"},
		{"extensions/dashboardextension/internal/readapi", module + "extensions/dashboardextension"},
		{"extensions/dashboardextension/internal/readapi", "go.opentelemetry.io/collector/component"},
		{"extensions/dashboardextension/internal/hours", module + "extensions/dashboardextension/internal/readapi"},
		{"agent/internal/sidecar", module + "protocol"},
		{"agent", "go.uber.org/zap"},
	} {
		r, ok := ruleFor(bad[0])
		require.True(t, ok)
		require.False(t, r.permits(bad[0], bad[1]), fmt.Sprint(bad))
	}
}

func ruleFor(room string) (rule, bool) {
	for _, r := range rules {
		if room == r.room || (!r.only && strings.HasPrefix(room, r.room+"/")) {
			return r, true
		}
	}
	return rule{}, false
}

func (r rule) permits(room, imported string) bool {
	if standard(imported) {
		return true
	}
	inside, ours := strings.CutPrefix(imported, module)
	for _, allowed := range r.allowed {
		switch {
		case allowed == "*":
			return true
		case allowed == "external" && !ours:
			return true
		case allowed == "own" && ours && strings.HasPrefix(inside, component(room)+"/"):
			return true
		case ours && inside == allowed:
			return true
		case !ours && (imported == allowed || strings.HasPrefix(imported, strings.TrimSuffix(allowed, "/")+"/")):
			return true
		}
	}
	return false
}

// component returns the folder of the component that a package belongs to.
func component(room string) string {
	parts := strings.SplitN(room, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
