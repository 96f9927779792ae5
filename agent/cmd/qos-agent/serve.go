package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/qosrtc/qos/agent/internal/config"
	"github.com/qosrtc/qos/agent/internal/sidecar"
)

// healthTimeout is how long the running agent may take to say how it is.
const healthTimeout = 2 * time.Second

func serve(args []string, s streams) error {
	c, err := config.Load(args, s.getenv, s.err)
	if err != nil {
		return err
	}
	log, err := newLogger(c.Log, s.err)
	if err != nil {
		return err
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	return sidecar.Run(ctx, c, log, hup)
}

// newLogger writes to standard error. Where the same line comes again and again, one of a
// hundred is kept after the first hundred of a second.
func newLogger(c config.Log, w io.Writer) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(c.Level)
	if err != nil {
		return nil, fmt.Errorf("log.level: %w", err)
	}
	form := zap.NewProductionEncoderConfig()
	form.EncodeTime, form.EncodeDuration = zapcore.RFC3339NanoTimeEncoder, zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(form)
	if c.Format == "console" {
		encoder = zapcore.NewConsoleEncoder(form)
	}
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)
	return zap.New(zapcore.NewSamplerWithOptions(core, time.Second, 100, 100)), nil
}

func healthcheck(args []string, s streams) error {
	c, err := config.Load(args, s.getenv, s.err)
	if err != nil {
		return err
	}
	if c.Monitor == "" {
		return fmt.Errorf("monitor is off: %w", errUsage)
	}
	client := &http.Client{Timeout: healthTimeout, Transport: new(http.Transport)} // no proxy of the environment
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+c.Monitor+"/readyz", http.NoBody)
	if err != nil {
		return fmt.Errorf("monitor: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("not healthy: %w", err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", text)
	}
	_, _ = fmt.Fprintf(s.out, "%s", text)
	return nil
}
