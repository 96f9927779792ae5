package appsextension

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/serve/serverlog"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
)

// storeTimeout ends a request whose store does not answer.
const storeTimeout = 10 * time.Second

// management is the API's server.
type management struct {
	registry  *registry
	tokens    *tokens
	audit     *zap.Logger
	strangers *throttle.Table // lines of the logs that they may still cause
	server    *http.Server
	addr      string // where it listens, once started
	wg        sync.WaitGroup
}

// manage starts the management API where it is configured.
func (r *registry) manage(ctx context.Context, host component.Host) error {
	if !r.cfg.Management.HasValue() {
		return nil
	}
	cfg := r.cfg.Management.Get()
	if err := r.makeTokens(cfg.Tokens); err != nil {
		return fmt.Errorf("management: %w", err)
	}
	tokens, err := newTokens(cfg.Tokens)
	if err != nil {
		return fmt.Errorf("management: %w", err)
	}
	m := r.newManagement()
	m.tokens = tokens
	server, err := cfg.ToServer(ctx, host.GetExtensions(), tlsserver.WithoutSpans(r.set), m.handler())
	if err != nil {
		return fmt.Errorf("management: %w", err)
	}
	listener, err := tlsserver.Listen(ctx, &cfg.ServerConfig)
	if err != nil {
		return fmt.Errorf("management endpoint %s: %w", cfg.NetAddr.Endpoint, err)
	}
	m.server, m.addr = tlsserver.Limit(server, r.logger), listener.Addr().String()
	server.ErrorLog = log.New(m, "", 0) // of which strangers may cause a few lines
	m.wg.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	r.management = m
	return nil
}

// Write takes one line that net/http logs by itself: strangers who do not speak TLS.
func (m *management) Write(line []byte) (int, error) {
	if m.strangers.Take(strangerConnections, strangerRate, time.Now()) == 0 {
		m.registry.logger.Warn("management API: " + serverlog.Line(line))
	}
	return len(line), nil
}

func (m *management) shutdown(ctx context.Context) error {
	err := m.server.Shutdown(ctx)
	m.wg.Wait()
	return err
}
