package harness

import (
	"fmt"
	"net"
)

// What the clients of the harness are known by.
const (
	AppID     = "demo"
	AppSecret = "demo-secret"
	Origin    = "http://localhost:8483"
)

// Options say what differs between collectors.
type Options struct {
	// Storage is the configuration of qosstorage as one line of YAML: SQLite or Postgres.
	Storage string
	// KeyFile is where the key of the session tokens lies. Collectors that share it accept
	// each other's tokens. Empty: a file of its own.
	KeyFile string
	// Apps is the configuration of qosapps as one line of YAML. Empty: the application of
	// the harness's clients, and KeyFile.
	Apps string
	// FramesPerSecond limits each connection. 0: 150, so that clients are slowed down.
	FramesPerSecond int
	// Webhooks is the configuration of qoswebhook as one line of YAML, Dashboard the address of
	// qosdashboard. Empty: none.
	Webhooks, Dashboard string
	// More is further configuration in YAML, merged over this one. Empty: none.
	More string
	// Launcher stands before the command line, as nsenter does. It must become the
	// collector (exec), not its parent.
	Launcher []string
}

// SQLite is a store in a directory.
func SQLite(directory string) string { return fmt.Sprintf(`{directory: %q}`, directory) }

// Postgres is a store in a PostgreSQL database.
func Postgres(dsn string) string { return fmt.Sprintf(`{postgres: {dsn: %q}}`, dsn) }

// configText is deploy/run.yaml without what nobody looks at here.
const configText = `
extensions:
  healthcheckv2: {use_v2: true, http: {endpoint: %q}}
  qosapps: %s
  qosstorage: %s
%sreceivers:
  qoswss: {endpoint: %q, apps: qosapps, max_frames_per_second: %d}
processors:
  memory_limiter: {check_interval: 1s, limit_mib: 1024}
  quality:
  conference: {storage: qosstorage}
exporters:
  qosstore: {storage: qosstorage}
%sservice:
  extensions: [healthcheckv2, qosapps, qosstorage%s]
  pipelines:
    logs:
      receivers: [qoswss]
      processors: [memory_limiter, quality, conference]
      exporters: [qosstore%s]
  telemetry:
    logs: {level: error, encoding: console}
    metrics:
      readers: [{pull: {exporter: {prometheus: {host: %q, port: %s}}}}]
`

// addresses are those that a collector keeps over its lives.
type addresses struct{ receiver, health, telemetry string }

func (o Options) text(a addresses) (string, error) {
	host, port, err := net.SplitHostPort(a.telemetry)
	if err != nil {
		return "", err
	}
	apps := o.Apps
	if apps == "" {
		apps = fmt.Sprintf(`{key_file: %q, apps: [{id: %s, secrets: [%s], origins: [%q]}]}`, o.KeyFile, AppID, AppSecret, Origin)
	}
	var exporter, exporterName, extension, extensionName string
	if o.Webhooks != "" {
		exporter, exporterName = "  qoswebhook: "+o.Webhooks+"\n", ", qoswebhook"
	}
	if o.Dashboard != "" {
		extension, extensionName = fmt.Sprintf("  qosdashboard: {endpoint: %q, storage: qosstorage}\n", o.Dashboard), ", qosdashboard"
	}
	return fmt.Sprintf(configText, a.health, apps, o.Storage, extension, a.receiver, o.FramesPerSecond, exporter, extensionName, exporterName, host, port), nil
}
