package qoswssreceiver

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/recommend"
	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/pathhistory"
	"github.com/qosrtc/qos/storage"
)

const (
	// pastTime bounds the time that an answer waits for the store.
	pastTime = 300 * time.Millisecond
	// testAge is the time for which the result of a pre-call test is used in the same network.
	testAge = 24 * time.Hour
	// recentTests is the number of tests of a user that are read to find one in the same network.
	recentTests = 10
	// pastReads bounds the answers that read tests at the same time. Others continue without tests.
	pastReads = 16
)

// findTURN returns the extension that provides TURN servers, nil if none is configured.
func findTURN(host component.Host, id component.ID) (turnrest.Provider, error) {
	return find[turnrest.Provider](host, "turn", id, "has no TURN servers: name one of type qosturn")
}

// findReader returns the reader of past calls and tests, nil if no storage is configured.
func findReader(host component.Host, id component.ID) (storage.Reader, error) {
	source, err := find[interface{ Reader() storage.Reader }](host, "storage", id, "is not a storage extension: name one of type qosstorage")
	if err != nil || source == nil {
		return nil, err
	}
	return source.Reader(), nil
}

// find returns an optional extension.
func find[T any](host component.Host, key string, id component.ID, other string) (none T, _ error) {
	if id == (component.ID{}) {
		return none, nil
	}
	extension, ok := host.GetExtensions()[id]
	if !ok {
		return none, fmt.Errorf("%s: there is no extension %q: define it under extensions and list it under service::extensions", key, id)
	}
	found, ok := extension.(T)
	if !ok {
		return none, fmt.Errorf("%s: extension %q %s", key, id, other)
	}
	return found, nil
}

// pastCalls reads earlier calls and tests from the store. A nil past has none.
type pastCalls struct {
	reader  storage.Reader
	history *pathhistory.History
	log     *zap.Logger
	reads   chan struct{} // one element for each answer that reads tests
}

// newPast returns nil without a store.
func newPast(reader storage.Reader, log *zap.Logger) *pastCalls {
	if reader == nil {
		return nil
	}
	return &pastCalls{reader: reader, log: log, reads: make(chan struct{}, pastReads), history: pathhistory.New(reader, func(appID string, err error) {
		log.Warn("past calls of an application cannot be read; its recommendations use older counts or none",
			zap.String("app", appID), zap.Error(err))
	})}
}

// close stops the reads of the history.
func (p *pastCalls) close() {
	if p != nil {
		p.history.Close()
	}
}

// user is a user with the name that records have.
type user struct{ app, name string }

// lookup returns the newest test of the user in this network, or that of the request if it has one, and the network
// paths at the site. It waits at most pastTime for the store.
func (p *pastCalls) lookup(ctx context.Context, u user, request *protocol.ConfigurationRequest, now time.Time) (*protocol.TestResult, recommend.Paths) {
	if p == nil {
		return request.PreCall, recommend.Paths{}
	}
	ctx, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	test := request.PreCall
	if test == nil {
		test = p.test(ctx, u, request, now)
	}
	return test, p.history.Paths(ctx, u.app, request.SiteID, now)
}

// test returns the user's newest successful test at the same site and in a network of the same type; nil: none.
func (p *pastCalls) test(ctx context.Context, u user, request *protocol.ConfigurationRequest, now time.Time) *protocol.TestResult {
	select {
	case p.reads <- struct{}{}:
		defer func() { <-p.reads }()
	default:
		return nil
	}
	page, err := p.reader.PreCalls(ctx, storage.PreCallQuery{
		AppID: u.app, UserID: u.name, SiteID: request.SiteID, Status: statusSuccess, From: now.Add(-testAge), Limit: recentTests,
	})
	if err != nil {
		p.log.Warn("past tests of a user cannot be read; the answer is made without them", zap.String("app", u.app), zap.Error(err))
	}
	for i := range page.PreCalls {
		one := &page.PreCalls[i]
		if !one.Result.Interrupted && one.Session.Details[semconv.SiteID] == request.SiteID && one.Result.NetworkType == request.NetworkType {
			return resultOf(&one.Result)
		}
	}
	return nil
}

// statusSuccess is the status of a test that has results.
const statusSuccess = "success"

func resultOf(r *storage.PreCallResult) *protocol.TestResult {
	t := &protocol.TestResult{RTTMs: r.RTTMs, LossFraction: r.LossFraction, ThroughputBps: r.ThroughputBps}
	for i := range r.Providers {
		t.Providers = append(t.Providers, protocol.PreCallProvider{
			Provider: r.Providers[i].Provider, Acceptable: r.Providers[i].Acceptable, RTTMs: r.Providers[i].RTTMs,
		})
	}
	return t
}
