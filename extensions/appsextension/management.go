package appsextension

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/throttle"
)

// storeTimeout ends a request whose store does not answer.
const storeTimeout = 10 * time.Second

// management is the API's server.
type management struct {
	registry  *registry
	tokens    *tokens
	audit     *zap.Logger
	strangers *throttle.Table // lines of the audit log that they may still cause
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
	m := &management{registry: r, tokens: tokens, audit: r.logger.Named("audit"), strangers: throttle.NewTable(1, time.Now())}
	server, err := cfg.ToServer(ctx, host.GetExtensions(), r.set, m.handler())
	if err != nil {
		return fmt.Errorf("management: %w", err)
	}
	listener, err := cfg.ToListener(ctx)
	if err != nil {
		return fmt.Errorf("management endpoint %s: %w", cfg.NetAddr.Endpoint, err)
	}
	m.server, m.addr = server, listener.Addr().String()
	m.wg.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	r.management = m
	return nil
}

func (m *management) shutdown(ctx context.Context) error {
	err := m.server.Shutdown(ctx)
	m.wg.Wait()
	return err
}
