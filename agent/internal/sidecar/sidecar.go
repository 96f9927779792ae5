// Package sidecar is qos-agent while it runs: it connects the key directory, the login source
// and the token endpoint, serves, and stops gracefully.
package sidecar

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/config"
	"github.com/qosrtc/qos/agent/internal/monitor"
	"github.com/qosrtc/qos/agent/keydir"
)

// Limits of a connection. A token is a small affair: who is slow is let go.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 32 << 10
)

// errServe is a server that ended by itself.
var errServe = errors.New("cannot serve any more")

// errStopping is what /readyz says while requests end.
var errStopping = errors.New("stopping")

// sidecar is one run.
type sidecar struct {
	config   config.Config
	log      *zap.Logger
	keys     *keydir.Dir
	metrics  *monitor.Metrics
	who      loginSource
	stopping atomic.Bool
}

// Run serves until ctx ends, and reads the keys again with each hup. It returns nil after
// a stop in which every request got its answer.
func Run(ctx context.Context, c config.Config, log *zap.Logger, hup <-chan os.Signal) error {
	s, err := prepare(c, log)
	if err != nil {
		return err
	}
	defer s.who.close()
	tokens, err := s.tokenServer()
	if err != nil {
		return err
	}
	listener, err := listen(&c)
	if err != nil {
		return err
	}
	servers := []serving{{tokens, listener}}
	if c.Monitor != "" {
		listener, err := net.Listen("tcp", c.Monitor)
		if err != nil {
			return errors.Join(fmt.Errorf("monitor: %w", err), servers[0].listener.Close())
		}
		servers = append(servers, serving{s.server(monitor.Handler(s.metrics, s.ready)), listener})
	}
	return s.run(ctx, servers, hup)
}

func prepare(c config.Config, log *zap.Logger) (*sidecar, error) {
	s := &sidecar{config: c, log: log}
	keys, err := keydir.Open(c.Keys.Directory, keydir.Options{Permissions: c.KeyPermissions(), Report: s.keyChanged})
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	s.keys, s.metrics = keys, monitor.New(keys)
	s.who, err = newLoginSource(&c)
	return s, err
}

func (s *sidecar) tokenServer() (*http.Server, error) {
	handler, err := agent.NewHandler(agent.Options{
		AppID: s.config.AppID, Key: s.keys.Current, Who: s.who.who, Origins: s.config.Origins,
		Lifetime: s.config.Token.Lifetime, Backdate: s.config.Token.Backdate,
		InFlight: s.config.InFlight, Report: s.answered,
	})
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle(s.config.Path, handler)
	return s.server(mux), nil
}

func (s *sidecar) server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: zap.NewStdLog(s.log),
	}
}

func (s *sidecar) ready() error {
	if s.stopping.Load() {
		return errStopping
	}
	return s.who.ready()
}

// serving is a server and where it listens.
type serving struct {
	server   *http.Server
	listener net.Listener
}

// run serves until ctx ends or a server fails, and waits for every goroutine it began.
func (s *sidecar) run(ctx context.Context, servers []serving, hup <-chan os.Signal) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	defer work.Wait()
	for _, one := range servers {
		work.Go(func() {
			if err := one.server.Serve(one.listener); !errors.Is(err, http.ErrServerClosed) {
				cancel(fmt.Errorf("%w: %w", errServe, err))
			}
		})
	}
	work.Go(func() { s.keys.Watch(ctx) })
	work.Go(func() { s.reload(ctx, hup) })
	work.Go(func() { s.who.run(ctx, s.wayFailed) })
	s.log.Info("serving tokens", zap.String("listen", s.config.Listen), zap.String("path", s.config.Path),
		zap.String("who", s.config.Who), zap.String("keyID", s.keys.Current().ID()), zap.String("version", agent.Version))
	notify("READY=1")
	<-ctx.Done()
	err := s.stop(servers)
	if cause := context.Cause(ctx); errors.Is(cause, errServe) {
		err = errors.Join(cause, err)
	}
	return err
}

// stop takes no new connection and lets requests end; the monitor goes last.
func (s *sidecar) stop(servers []serving) error {
	s.stopping.Store(true)
	notify("STOPPING=1")
	ctx, cancel := context.WithTimeout(context.Background(), s.config.StopTimeout)
	defer cancel()
	var errs []error
	for _, one := range servers {
		if err := one.server.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("requests were still running after stop_timeout: %w", err))
			one.server.Close()
		}
	}
	s.log.Info("stopped")
	return errors.Join(errs...)
}

func (s *sidecar) reload(ctx context.Context, hup <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			if s.keys.Reload() == nil { // keyChanged reports its error
				s.log.Info("looked at the keys", zap.String("keyID", s.keys.Current().ID()))
			}
		}
	}
}

func (s *sidecar) keyChanged(c keydir.Change) {
	s.metrics.KeyChange(c)
	if c.Err != nil {
		s.log.Error("the key was not changed", zap.String("keyID", c.Key.ID()), zap.Error(c.Err))
		return
	}
	s.log.Info("the key was changed", zap.String("keyID", c.Key.ID()))
}

func (s *sidecar) wayFailed(err error) {
	s.log.Warn("cannot find out who is logged in yet; trying again", zap.Error(err))
}

// answered logs what became of a request: an operator's trouble as an error, the rest for
// those who ask for it. The token, its user and the page's headers are not known here.
func (s *sidecar) answered(a agent.Answer) {
	s.metrics.Answer(a)
	level := zap.DebugLevel
	if a.Status >= http.StatusInternalServerError {
		level = zap.ErrorLevel
	}
	entry := s.log.Check(level, "answered")
	if entry == nil {
		return
	}
	fields := []zap.Field{
		zap.Int("status", a.Status), zap.String("reason", string(a.Reason)), zap.Error(a.Err), zap.Duration("took", a.Took),
	}
	if a.TokenID != "" { // the collector's audit log has both
		fields = append(fields, zap.String("keyID", a.KeyID), zap.String("jti", a.TokenID))
	}
	entry.Write(fields...)
}
