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
	"protocol", "internal/access", "internal/auth", "internal/semconv", "internal/instance", "internal/quality",
	"internal/conference", "internal/conference/live", "internal/cause", "internal/contrast", "internal/digest", "internal/detect", "internal/event", "internal/eventattr", "internal/eventlog", "internal/eventrow", "internal/series", "internal/seriescomponent", "internal/zeros", "internal/address", "internal/jsonapi", "internal/jsonobject", "internal/visible", "internal/mask", "internal/narrative", "internal/overview", "internal/pathhistory", "internal/periodic", "internal/pseudonym", "internal/publicaddr", "internal/recommend", "internal/rules", "internal/logonce", "internal/loopback", "internal/serverlog", "internal/budget", "internal/throttle", "internal/tlsserver", "internal/turnrest", "internal/notice", "storage",
}

// engine is what every engine of the store may use of this module.
var engine = []string{
	"github.com/google/uuid", "storage", "internal/instance", "storage/internal/chunk", "storage/internal/erasure", "storage/internal/follow", "storage/internal/frames", "storage/internal/group", "storage/internal/join", "storage/internal/sqlstore", "storage/internal/term",
}

// Rules are tried in order; the first whose room holds the package decides.
var rules = []rule{
	{room: "protocol", reason: "other people's clients build on the contract: standard library only"},
	{room: "internal/instance", reason: "the store and the processor share it: standard library only"},
	{
		room: "internal/conference/conferencetest", allowed: []string{"internal/conference", "internal/event", "internal/event/eventtest", "internal/quality", "protocol", "github.com/stretchr/testify/", "pgregory.net/rapid"},
		reason: "a hand for tests: the records of conferences",
	},
	{room: "internal/event/eventtest", allowed: []string{"internal/event", "internal/semconv", "protocol"}, reason: "a hand for tests: measurements"},
	{room: "internal/event", allowed: []string{"protocol"}, reason: "pure domain: the form of an event; the contract's measures alone"},
	{room: "internal/eventattr", allowed: []string{"internal/event", "internal/semconv", "protocol"}, reason: "attributes of events, whatever carries them: no pdata, no store"},
	{
		room: "internal/eventlog", allowed: []string{"internal/event", "internal/eventattr", "internal/semconv", "protocol", "go.opentelemetry.io/collector/pdata"},
		reason: "reads events from records of the pipeline, knows no component and no store",
	},
	{
		room: "internal/eventrow", allowed: []string{"internal/event", "internal/eventattr", "internal/semconv", "storage"},
		reason: "reads events from records of the store, knows no component and no engine",
	},
	{
		room: "internal/rules", allowed: []string{"internal/rules", "internal/hosttest", "internal/detect", "internal/quality", "go.opentelemetry.io/collector/component"},
		reason: "finds the rules among the host's extensions, knows no component",
	},
	{room: "internal/notice", allowed: []string{"internal/conference"}, reason: "pure domain: facts and times in, notifications out"},
	{
		room: "internal/access", allowed: []string{"internal/jsonobject", "internal/loopback", "internal/throttle", "internal/visible", "github.com/alexedwards/argon2id", "golang.org/x/text/unicode/norm"},
		reason: "pure domain: who may do what; knows no store and no component",
	},
	{room: "internal/address", reason: "cuts addresses: standard library only"},
	{room: "internal/contrast", allowed: []string{"internal/digest"}, reason: "pure statistics: facts of two sets of conferences in, findings out"},
	{room: "internal/narrative", allowed: []string{"internal/cause", "internal/conference", "internal/detect"}, reason: "pure domain: a summary and names in, text out"},
	{room: "internal/overview", allowed: []string{"internal/digest"}, reason: "pure domain: digests in, counts out"},
	{
		room: "internal/digest", allowed: []string{"protocol", "internal/conference", "internal/mask", "github.com/google/uuid", "google.golang.org/protobuf/encoding/protowire"},
		reason: "pure domain: summaries in, bytes out, and back",
	},
	{room: "internal/recommend", allowed: []string{"protocol"}, reason: "pure domain: what is known of a network in, a configuration out"},
	{
		room: "internal/pathhistory", allowed: []string{"internal/digest", "internal/recommend", "storage"},
		reason: "digests of a store in, counts out, knows no component",
	},
	{room: "internal/jsonapi", allowed: []string{"internal/jsonobject"}, reason: "HTTP requests in, answers out, whatever they are about"},
	{room: "internal/jsonobject", reason: "texts in, members out: standard library only"},
	{room: "internal/visible", reason: "a question about texts: standard library only"},
	{room: "internal/periodic", reason: "a goroutine and its owner: standard library only"},
	{room: "internal/mask", allowed: []string{"golang.org/x/text/unicode/norm"}, reason: "names and texts in, texts out: the forms of Unicode alone"},
	{room: "internal/pseudonym", reason: "keys and IDs in, pseudonyms out: standard library only"},
	{room: "internal/publicaddr", reason: "a question about addresses: standard library only"},
	{room: "internal/turnrest", reason: "credentials from secrets and times: standard library only"},
	{room: "internal/loopback", reason: "a question about addresses: standard library only"},
	{room: "internal/logonce", allowed: []string{"go.opentelemetry.io/collector/component", "go.uber.org/zap", "go.uber.org/zap/zapcore"}, reason: "a logger around a logger: it knows no component"},
	{room: "internal/serverlog", reason: "text in, text out: standard library only"},
	{
		room: "internal/tlsserver", allowed: []string{"go.opentelemetry.io/collector/component", "go.opentelemetry.io/collector/config/confighttp", "go.opentelemetry.io/collector/config/configtls", "go.opentelemetry.io/otel/trace/noop", "go.uber.org/zap", "internal/budget", "internal/serverlog"},
		reason: "a listener from a configuration, knows no component",
	},
	{room: "internal/budget", reason: "pure domain: owners and bytes in, decisions out; standard library only"},
	{room: "internal/throttle", reason: "pure domain: keys and times in, decisions out; standard library only"},
	{room: "internal/quality", allowed: []string{"internal/event", "protocol"}, reason: "pure domain: measurements in, scores out; no pdata, no I/O, no clock"},
	{room: "internal/detect", allowed: []string{"internal/event", "protocol"}, reason: "pure domain: measurements in, findings out"},
	{room: "internal/cause", allowed: []string{"internal/event"}, reason: "pure domain: what was measured in, the likely cause out"},
	{
		room: "internal/conference/live", allowed: []string{"internal/budget", "internal/conference", "internal/event", "internal/instance", "internal/quality", "internal/detect"},
		reason: "the registry of conferences: the fold, and what says which conference a record is of",
	},
	{
		room: "internal/conference", allowed: []string{"protocol", "internal/event", "internal/instance", "internal/quality", "internal/cause", "internal/detect", "github.com/DataDog/sketches-go/"},
		reason: "pure domain: only the shared functions and one sketch library",
	},
	{
		room: "internal/series", allowed: []string{"protocol", "internal/cause", "internal/conference", "internal/conference/live", "internal/detect", "internal/event", "internal/eventlog", "internal/semconv", "go.opentelemetry.io/collector/pdata"},
		reason: "records of the pipeline in, bounded series out: no component, no I/O, no clock",
	},
	{
		room: "internal/seriescomponent", allowed: []string{"internal/semconv", "internal/series", "internal/zeros", "go.opentelemetry.io/otel/"},
		reason: "what components that count series share: their metrics and their ticker",
	},
	{room: "internal/zeros", allowed: []string{"go.opentelemetry.io/otel/"}, reason: "counters of OpenTelemetry alone, knows no component"},
	{room: "internal/bench", allowed: []string{"golang.org/x/sys/unix"}, reason: "a hand for benchmarks: the system alone"},
	{room: "internal/freeport", reason: "a hand for tests: standard library only"},
	{room: "internal/hosttest", allowed: []string{"storage", "go.opentelemetry.io/collector/component"}, reason: "a hand for tests: a host and its storage extension"},
	{room: "internal/testenv", reason: "a hand for tests: standard library only"},
	{room: "internal/testcert", reason: "a hand for tests: standard library only"},
	{room: "internal/oddvalue", allowed: []string{"go.opentelemetry.io/collector/pdata", "pgregory.net/rapid"}, reason: "a hand for tests: values of attributes"},
	{room: "internal/rapidfuzz", allowed: []string{"pgregory.net/rapid"}, reason: "a hand for tests: the property library alone"},
	{room: "internal/semconv", allowed: []string{"protocol"}, reason: "names are built on the contract alone"},
	{
		room: "internal/auth", allowed: []string{
			"protocol", "internal/auth", "internal/jsonobject", "internal/pseudonym", "github.com/google/uuid", "github.com/xdg-go/scram", "github.com/golang-jwt/jwt/v5", "golang.org/x/net/publicsuffix", "golang.org/x/text/unicode/norm",
		},
		reason: "the handshake knows no collector",
	},
	{room: "storage", only: true, allowed: []string{"github.com/google/uuid"}, reason: "the store's interfaces: the form of session ids, no engine"},
	{room: "storage/benchstore", allowed: []string{"*"}, reason: "measures the engines with what the pipeline makes; a program that nothing imports"},
	{
		room: "storage/storagetest", allowed: []string{"github.com/google/uuid", "storage", "internal/instance", "internal/digest", "internal/quality", "internal/event", "internal/semconv", "internal/testenv", "protocol", "github.com/stretchr/testify/", "pgregory.net/rapid"},
		reason: "the conformance suite knows the interfaces, no engine",
	},
	{
		room: "storage/internal/envelope", allowed: []string{"github.com/klauspost/compress/zstd"},
		reason: "compresses bytes; knows no record and no engine",
	},
	{
		room: "storage/internal/erasure", allowed: []string{"github.com/google/uuid", "storage", "storage/internal/frames", "internal/conference", "internal/digest", "internal/mask", "internal/semconv", "internal/event", "protocol"},
		reason: "says what remains of an erased user in sessions, records and summaries; knows no engine",
	},
	{
		room: "storage/internal/chunk", allowed: []string{"github.com/google/uuid", "storage", "storage/internal/frames", "storage/internal/envelope"},
		reason: "packs what package frames has; knows no engine",
	},
	{
		room: "storage/internal/term", allowed: []string{"storage", "internal/semconv", "internal/event", "protocol"},
		reason: "says which names find a conference; knows no record's encoding and no engine",
	},
	{
		room: "storage/internal", allowed: []string{
			"github.com/google/uuid", "storage", "internal/digest", "internal/instance", "storage/internal/chunk", "storage/internal/envelope", "storage/internal/erasure", "storage/internal/frames", "storage/internal/group", "storage/internal/join", "storage/internal/term",
		},
		reason: "what engines share knows no engine",
	},
	{
		room: "storage/sqlite", allowed: append([]string{"modernc.org/sqlite"}, engine...),
		reason: "an engine knows its driver and the interfaces",
	},
	{
		room: "storage/postgres/postgrestest", allowed: []string{"internal/freeport", "internal/testenv", "github.com/jackc/pgx/v5", "github.com/stretchr/testify/"},
		reason: "the tests' server knows no engine",
	},
	{
		room: "storage/postgres", allowed: append([]string{"github.com/jackc/pgx/v5"}, engine...),
		reason: "an engine knows its driver and the interfaces",
	},
	{
		room: "agent", only: true, allowed: []string{"internal/jsonobject", "github.com/golang-jwt/jwt/v5"},
		reason: "origin servers take it in: a JWT library, the strict reader of JSON and nothing of the collector",
	},
	{room: "agent/keydir", allowed: []string{"agent"}, reason: "origin servers take it in too"},
	{
		room: "agent", allowed: []string{
			"agent", "agent/keydir", "agent/internal/config", "agent/internal/explain", "agent/internal/monitor", "agent/internal/oidctest", "agent/internal/sidecar", "agent/internal/who", "internal/jsonobject", "external",
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
		room: "extensions/dashboardextension/internal/hours", allowed: []string{"internal/digest", "internal/overview", "storage"},
		reason: "counts digests of the store, knows no HTTP and no component",
	},
	{
		room: "extensions/dashboardextension/internal/readapi", allowed: append([]string{
			"extensions/dashboardextension/internal/gzipped", "extensions/dashboardextension/internal/hours", "extensions/dashboardextension/internal/metadata", "extensions/dashboardextension/internal/usual",
			"internal/budget", "github.com/google/uuid", "github.com/modelcontextprotocol/go-sdk/mcp", "go.opentelemetry.io/otel/", "go.uber.org/zap",
			"golang.org/x/sync/semaphore", "golang.org/x/text/unicode/norm",
		}, components...),
		reason: "answers from the store: no page, no listener, nothing of the collector",
	},
	{room: "extensions", allowed: append([]string{"own", "external"}, components...), reason: componentReason},
}

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
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Imports,GoFiles,TestGoFiles", "./...")
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
		{"internal/quality", "go.opentelemetry.io/collector/pdata/plog"},
		{"internal/event", "go.opentelemetry.io/collector/pdata/pcommon"},
		{"internal/event", module + "internal/semconv"},
		{"internal/conference", module + "internal/eventlog"},
		{"internal/conference", module + "internal/conference/live"},
		{"internal/conference/live", module + "storage"},
		{"internal/detect", module + "internal/eventattr"},
		{"internal/eventrow", "go.opentelemetry.io/collector/pdata/plog"},
		{"internal/eventlog", module + "storage"},
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
