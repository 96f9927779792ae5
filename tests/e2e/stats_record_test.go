package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// recordInto names the folder that recordings are written into; without it none is made:
//
//	go test -count=1 -run TestRecordStats ./tests/e2e -record-stats client/test/recordings
var recordInto = flag.String("record-stats", "", "write recordings of getStats into this folder of the repository")

// recorded are the scenarios of testdata/stats.js.
var recorded = []string{
	"call", "simulcast", "replaceTrack", "mute", "renegotiate", "iceRestart", "data", "oneWay", "ended", "loss", "close",
}

// TestRecordStats records what getStats says in both browsers, second by second, for the
// library's unit tests. It is a tool, not a test.
func TestRecordStats(t *testing.T) {
	if *recordInto == "" {
		t.Skip("recordings are made on demand: -record-stats")
	}
	for _, kind := range []string{browser.Chromium, browser.Firefox} {
		t.Run(kind, func(t *testing.T) {
			b := browser.Start(t, kind)
			p := openPage(t, b, "stats", startStatsPages(t)+"/stats.html")
			for _, name := range recorded {
				if only := os.Getenv("QOS_ONLY"); only == "" || only == name {
					recordScenario(t, p, name)
				}
			}
		})
	}
}

func recordScenario(t *testing.T, p *page, name string) {
	t.Helper()
	relayed := "undefined"
	var r *relay
	if name == "loss" {
		r = startRelay(t, lossFraction)
		relayed = fmt.Sprintf("{urls: %q, username: %q, credential: %q}", r.url, relayUser, relaySecret)
	}
	p.Run(fmt.Sprintf("void (globalThis.made = null, record(%q, %s).then((it) => { made = it; }, (e) => { made = {error: String(e.stack || e)}; }))", name, relayed))
	p.Until(patience, "made")
	var made map[string]any
	p.Get("made", &made)
	require.Nil(t, made["error"], name)
	made["browser"] = strings.ToLower(p.Browser.Kind)
	if r != nil {
		made["relay"] = map[string]any{"carried": r.carried.Load(), "dropped": r.dropped.Load()}
	}
	raw, err := json.Marshal(made)
	require.NoError(t, err)
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	require.NoError(t, err)
	_, err = zip.Write(raw)
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	file := filepath.Join("..", "..", *recordInto, strings.ToLower(p.Browser.Kind)+"-"+name+".json.gz")
	require.NoError(t, os.WriteFile(file, packed.Bytes(), 0o644))
	t.Logf("%s: %d bytes, %d packed", file, len(raw), packed.Len())
}
