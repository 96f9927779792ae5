package timeseriesexporter

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
)

// Values of PushConfig.Protocol.
const (
	remoteWrite     = "remote_write"
	victoriaMetrics = "victoriametrics"
)

// PushConfig is where and how the series are pushed.
type PushConfig struct {
	// ClientConfig has the URL of the store's endpoint, TLS and authentication.
	confighttp.ClientConfig `mapstructure:",squash"`

	// Protocol is "remote_write" (Prometheus remote write 1.0) or "victoriametrics" (text with
	// times, as /api/v1/import/prometheus takes it).
	Protocol string `mapstructure:"protocol"`

	// Interval is the time between two samples of a series.
	Interval time.Duration `mapstructure:"interval"`

	// Labels are added to every series. They replace job and instance, which are the collector's
	// service.name and service.instance.id.
	Labels map[string]string `mapstructure:"labels"`

	// Queue holds what the store has not accepted; with storage it survives a restart.
	Queue configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`

	// Retry is how what the store refused for a time is sent again.
	Retry configretry.BackOffConfig `mapstructure:"retry_on_failure"`

	_ struct{}
}

const (
	defaultInterval = 15 * time.Second
	minInterval     = 100 * time.Millisecond
	pushTimeout     = 30 * time.Second
	retryInterval   = time.Second
)

// defaultPush retries for ever and in order: stores refuse a sample that is older than the newest.
func defaultPush() PushConfig {
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.NumConsumers = 1
	retry := configretry.NewDefaultBackOffConfig()
	retry.InitialInterval, retry.MaxElapsedTime = retryInterval, 0
	client := confighttp.NewDefaultClientConfig()
	client.Timeout = pushTimeout
	return PushConfig{
		ClientConfig: client, Protocol: remoteWrite, Interval: defaultInterval,
		Queue: configoptional.Some(queue), Retry: retry,
	}
}

var _ xconfmap.Validator = (*PushConfig)(nil)

// Validate implements xconfmap.Validator.
func (c *PushConfig) Validate() error {
	var errs []error
	if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		errs = append(errs, errors.New("endpoint must be an http or https URL"))
	}
	if c.Protocol != remoteWrite && c.Protocol != victoriaMetrics {
		errs = append(errs, fmt.Errorf("protocol must be %q or %q", remoteWrite, victoriaMetrics))
	}
	if c.Protocol == remoteWrite && c.Compression.IsCompressed() {
		errs = append(errs, errors.New("compression must be empty: remote write is compressed with snappy"))
	}
	if c.Interval < minInterval {
		errs = append(errs, fmt.Errorf("interval must be at least %v (got %v)", minInterval, c.Interval))
	}
	for name := range c.Labels {
		if !labelName(name) {
			errs = append(errs, errors.New("labels: a name must be letters, digits and underscores, and not begin with a digit or __"))
			break
		}
	}
	if q := c.Queue.Get(); q != nil && (q.NumConsumers != 1 || q.Batch.HasValue()) {
		errs = append(errs, errors.New("sending_queue: num_consumers must be 1, without batch: stores refuse samples out of order"))
	}
	return errors.Join(errs...)
}

// labelName reports whether a text may be the name of a label.
func labelName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && (len(name) < 2 || name[:2] != "__")
}
