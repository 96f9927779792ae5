// Generate writes the JSON models of the dashboards into the folder dashboards.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/qosrtc/qos/deploy/grafana"
)

func main() {
	for _, d := range grafana.Dashboards() {
		text, err := d.JSON()
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("dashboards", d.UID+".json"), text, 0o600); err != nil {
			log.Fatal(err)
		}
	}
}
