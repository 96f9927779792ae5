package qoswssreceiver

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// contractClient sends one frame a call, again until it is acknowledged or refused for good.
type contractClient struct {
	t testing.TB
	c *collector

	mu   sync.Mutex
	peer *peer
	seq  uint64
}

func (g *contractClient) Start() {
	g.peer, g.seq = g.c.connect("demo"), 0
}

func (g *contractClient) Stop() { _ = g.peer.ws.Close() }

// Generate implements receivertest.Generator.
func (g *contractClient) Generate() []receivertest.UniqueIDAttrVal {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seq++
	g.peer.say(logText(g.seq))
	for {
		switch h := g.peer.next(); h.Type {
		case "ack":
			if h.Seq == g.seq {
				return []receivertest.UniqueIDAttrVal{receivertest.UniqueIDAttrVal(strconv.FormatUint(g.seq, 10))}
			}
		case "slow-down":
			if h.RetryAfterMs > 0 {
				<-time.After(time.Duration(h.RetryAfterMs) * time.Millisecond)
				g.peer.say(logText(g.seq))
			}
		}
	}
}

// contractReceiver starts the receiver with the test's apps and lets the client know
// where it is.
type contractReceiver struct {
	*wssReceiver
	client *contractClient
}

func (r contractReceiver) Start(ctx context.Context, _ component.Host) error {
	if err := r.wssReceiver.Start(ctx, newTestHost()); err != nil {
		return err
	}
	r.client.c.url = "http://" + r.listener.Addr().String() + "/"
	return nil
}

// spec: SRV-03
func TestConsumeContract(t *testing.T) {
	t.Parallel()
	g := &contractClient{t: t, c: startCollector(t)} // for its HTTP client
	factory := receiver.NewFactory(metadata.Type, createDefaultConfig, receiver.WithLogs(
		func(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
			identified, err := consumer.NewLogs(func(ctx context.Context, logs plog.Logs) error {
				for _, record := range records(logs) {
					seq, _ := record.Attributes().Get(semconv.FrameSeq)
					record.Attributes().PutStr(receivertest.UniqueIDAttrName, strconv.FormatInt(seq.Int(), 10))
				}
				return next.ConsumeLogs(ctx, logs)
			})
			if err != nil {
				return nil, err
			}
			r, err := newReceiver(set, cfg.(*Config), identified)
			if err != nil {
				return nil, err
			}
			r.timing.retry = time.Millisecond
			return contractReceiver{r, g}, nil
		}, metadata.LogsStability))
	cfg := createDefaultConfig().(*Config)
	cfg.NetAddr.Endpoint = "127.0.0.1:0"
	cfg.MaxFramesPerSecond = 1 << 20
	require.NoError(t, cfg.Validate())
	receivertest.CheckConsumeContract(receivertest.CheckConsumeContractParams{
		T: t, Factory: factory, Signal: pipeline.SignalLogs, Config: cfg, Generator: g, GenerateCount: 40,
	})
}
