package storeexporter

import (
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
)

// Config configures the store exporter.
type Config struct {
	// Storage is the component id of the storage extension.
	Storage component.ID `mapstructure:"storage"`

	// Timeout bounds one write.
	Timeout exporterhelper.TimeoutConfig `mapstructure:",squash"`

	// Queue is disabled unless sending_queue is configured. With a queue in memory a crash may lose
	// acknowledged records; with one in file_storage it does not.
	Queue configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`

	// Retry is disabled by default. Without a queue it makes the receiver wait.
	Retry configretry.BackOffConfig `mapstructure:"retry_on_failure"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	if c.Storage == (component.ID{}) {
		return errors.New("storage must name a qosstorage extension")
	}
	return nil
}
