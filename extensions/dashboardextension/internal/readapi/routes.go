package readapi

import (
	"context"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/hours"
	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// Keeper is what the read API asks of an access extension.
type Keeper interface {
	// Visitor returns the visitor of a request; nil without a login or an API token that is valid now.
	Visitor(r *http.Request) (*access.Visitor, error)
	// Read writes an audit entry, once for what a page repeats.
	Read(ctx context.Context, v *access.Visitor, e access.Entry) error
	// Refused writes an audit entry of a request that the rights of the visitor do not permit.
	Refused(ctx context.Context, v *access.Visitor, appID, target, why string)
}

// Pseudonyms is what the read API asks of an apps extension.
type Pseudonyms interface {
	// StoredUserIDs returns the texts under which the store may have a user of an app: the ID itself, then its
	// pseudonyms.
	StoredUserIDs(appID, userID string) []string
	// PseudonymApps returns the apps that have pseudonyms of users.
	PseudonymApps() []string
}

// Settings is what a read API is made from.
type Settings struct {
	Reader   storage.Reader
	Follower storage.Follower
	Rules    rules.Rules // of summaries of conferences that go on

	Keeper        Keeper     // nil: no sign-in, all who reach the endpoint read everything
	Pseudonyms    Pseudonyms // nil: user IDs are stored as they are
	ShowUserNames bool       // shows real names of users; without Keeper only
	MCP           bool       // serves /mcp

	Log       *zap.Logger
	Telemetry *metadata.TelemetryBuilder
	Now       func() time.Time // the clock
}

// New returns the read API of settings. The caller has to call EndStreams and Close.
func New(s *Settings) *API {
	a := &API{
		reader: s.Reader, keeper: s.Keeper, userIDs: userIDs{s.Pseudonyms}, showNames: s.ShowUserNames, open: s.Keeper == nil, mcp: s.MCP,
		log: s.Log, telemetry: s.Telemetry, now: s.Now,
		room: newRoom(), comparing: make(chan struct{}, maxComparisons),
		hours: hours.New(s.Reader, s.Follower, s.Now), ending: make(chan struct{}),
	}
	a.soFar = newSoFar(a, s.Rules)
	a.live = newLive(a, s.Follower, a.ending)
	return a
}

// EndStreams ends the streams that are open, and those that are opened later. Further calls do nothing. A server that
// shuts down waits for its streams.
func (a *API) EndStreams() { a.endStreams.Do(func() { close(a.ending) }) }

// Close waits for what New started. No request may be under way, or follow.
func (a *API) Close() { a.hours.Close() }

// Register registers the routes.
func (a *API) Register(mux *access.Mux) {
	mux.Handle("GET /trace/{trace}", http.HandlerFunc(a.trace))
	mux.Handle("GET /api/conferences", a.serve(a.conferences))
	mux.Handle("GET /api/conferences.csv", a.exported(csvFormat))
	mux.Handle("GET /api/conferences.json", a.exported(jsonFormat))
	mux.Handle("GET /api/conference", a.serve(a.conference))
	mux.Handle("GET /api/conference/text", a.serve(a.conferenceText))
	mux.Handle("GET /api/conference/tail", a.serve(a.tail))
	mux.Handle("GET /api/unattached", a.serve(a.unattached))
	mux.Handle("GET /api/precalls", a.serve(a.preCalls))
	mux.Handle("GET /api/precalls/providers", a.serve(a.providers))
	mux.Handle("GET /api/overview", a.serve(a.overview))
	mux.Handle("GET /api/contrast", a.serve(a.contrast))
	mux.Handle("GET /api/user", a.serve(a.history))
	mux.Handle("GET /api/openapi.json", http.HandlerFunc(showOpenAPI))
	mux.Handle("GET /api/trend", a.serve(a.trend))
	mux.Handle("GET /api/live", a.live)
	if a.mcp {
		server := a.mcpServer()
		for _, method := range []string{"POST", "GET", "DELETE"} { // it refuses GET and DELETE, which belong to sessions
			mux.Handle(method+" /mcp", server)
		}
	}
	if a.open {
		mux.Handle("GET /api/session", a.serve(func(context.Context, *http.Request) (any, error) { return struct{}{}, nil }))
	}
}
