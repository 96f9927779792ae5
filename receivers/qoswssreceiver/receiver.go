package qoswssreceiver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"

	"github.com/qosrtc/qos/client"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/internal/serve/logonce"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
	"github.com/qosrtc/qos/storage"
)

// wssReceiver is the receiver: the server and the state of its connections.
type wssReceiver struct {
	set     receiver.Settings
	cfg     *Config
	next    consumer.Logs
	obs     *receiverhelper.ObsReport
	metrics *metadata.TelemetryBuilder
	timing  timing
	library []*libraryFile

	shared   *shared // nil until Start
	sockets  *sockets
	listener net.Listener
	server   *http.Server
	stop     context.CancelFunc
	unwatch  context.CancelFunc
	serving  sync.WaitGroup
}

func newReceiver(set receiver.Settings, cfg *Config, next consumer.Logs) (*wssReceiver, error) {
	transport := "http"
	if cfg.TLS.HasValue() {
		transport = "https"
	}
	obs, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID: set.ID, Transport: transport, ReceiverCreateSettings: set,
	})
	if err != nil {
		return nil, err
	}
	metrics, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	library, err := loadLibrary(client.Dist, "dist")
	if err != nil {
		return nil, err
	}
	return &wssReceiver{
		set: set, cfg: cfg, next: next, obs: obs, metrics: metrics, timing: defaultTiming(), library: library,
	}, nil
}

// Start listens and serves.
func (r *wssReceiver) Start(ctx context.Context, host component.Host) error {
	found, err := r.findExtensions(host)
	if err != nil {
		return err
	}
	revision := found.apps.Revision()
	own, stop := context.WithCancel(context.Background())
	if err := r.open(ctx, host, found, own); err != nil {
		stop()
		r.shared.pastCalls.close()
		r.shared = nil
		return err
	}
	r.stop = stop
	watching, unwatch := context.WithCancel(own)
	r.unwatch = unwatch
	r.serving.Go(func() { r.shared.watch.run(watching, found.apps, revision, r.timing.pollApps, r.sockets) })
	return nil
}

// open listens. own is the context of pipeline calls.
func (r *wssReceiver) open(ctx context.Context, host component.Host, found extensions, own context.Context) (err error) {
	apps, log := found.apps, logonce.Settings(r.set.TelemetrySettings).Logger
	r.shared = &shared{
		cfg: r.cfg, timing: r.timing, labels: found.labels, apps: apps, turn: found.turn,
		pastCalls: newPast(found.reader, log), next: r.next, obs: r.obs, metrics: r.metrics, log: log, ctx: own,
	}
	if r.shared.throttles, err = r.throttles(apps); err != nil {
		return err
	}
	if r.shared.addresses, err = address.New(r.cfg.Addresses, r.cfg.KeepNetworks); err != nil {
		return err
	}
	r.shared.memory = budget.NewLedger(r.cfg.Memory.limits())
	if err := observeMemory(r.metrics, r.shared.memory); err != nil {
		return err
	}
	if err := r.shared.pipeline.observe(r.metrics); err != nil {
		return err
	}
	r.shared.auth = auth.New(apps.Keys(), apps, newAudit(r.set.Logger, apps, r.metrics, r.shared.addresses, time.Now).record)
	if err := observeForgotten(r.metrics, r.shared.auth); err != nil {
		return err
	}
	r.sockets = newSockets(r.shared)
	return r.listen(ctx, host)
}

// extensions are the extensions of the host that the receiver uses.
type extensions struct {
	apps   registry
	turn   turnrest.Provider // nil: none
	reader storage.Reader    // nil: none
	labels quality.Bounds
}

func (r *wssReceiver) findExtensions(host component.Host) (found extensions, err error) {
	if found.apps, err = findApps(host, r.cfg.Apps); err != nil {
		return found, err
	}
	if found.turn, err = findTURN(host, r.cfg.TURN); err != nil {
		return found, err
	}
	if found.reader, err = findReader(host, r.cfg.Storage); err != nil {
		return found, err
	}
	assessment, err := rules.Of(host)
	if err != nil {
		return found, err
	}
	found.labels = assessment.Labels
	return found, nil
}

// findApps returns the apps extension of the host.
func findApps(host component.Host, id component.ID) (registry, error) {
	extension, ok := host.GetExtensions()[id]
	if !ok {
		return nil, fmt.Errorf("apps: there is no extension %q: define it under extensions and list it under service::extensions", id)
	}
	apps, ok := extension.(registry)
	if !ok {
		return nil, fmt.Errorf("apps: extension %q does not know applications: name one of type qosapps", id)
	}
	return apps, nil
}

func (r *wssReceiver) listen(ctx context.Context, host component.Host) error {
	telemetry := r.set.TelemetrySettings
	if r.cfg.Addresses != address.Keep {
		telemetry = tlsserver.WithoutSpans(telemetry)
	}
	server, err := r.cfg.ToServer(ctx, host.GetExtensions(), telemetry, r.routes(),
		confighttp.WithErrorHandler(r.shared.writeServerError))
	if err != nil {
		return err
	}
	listener, err := tlsserver.Listen(ctx, &r.cfg.ServerConfig)
	if err != nil {
		return err
	}
	r.server, r.listener = tlsserver.Limit(server, r.set.Logger), listener
	r.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return nil
}

// Shutdown stops accepting, asks the clients to connect elsewhere, and waits for frames in the
// pipeline. When ctx ends first, it cancels their calls: the clients send them again.
func (r *wssReceiver) Shutdown(ctx context.Context) error {
	defer r.metrics.Shutdown()
	if r.shared == nil {
		return nil
	}
	r.unwatch()
	r.sockets.closeAll()
	err := r.server.Shutdown(ctx)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		r.sockets.wg.Wait()
		r.serving.Wait()
	}()
	select {
	case <-drained:
	case <-ctx.Done():
		r.stop()
		err = errors.Join(err, r.server.Close())
		r.sockets.cut()
		<-drained
	}
	r.stop()
	r.shared.pastCalls.close()
	r.shared = nil
	return err
}
