package monitoring

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// run runs a program to its end.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(testenv.Program(t, name), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
}

// serve starts a server, which ends with the test.
func serve(t *testing.T, dir, ready, name string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, name+".log"))
	require.NoError(t, err)
	cmd := exec.Command(testenv.Program(t, name), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s:\n%s", name, text[max(0, len(text)-4<<10):])
		}
	})
	require.Eventually(t, func() bool {
		_, err := get(ready)
		return err == nil
	}, harness.Patience, 20*time.Millisecond)
}

var client = http.Client{Timeout: harness.Patience, Transport: &http.Transport{DisableKeepAlives: true}}

// get returns the body of an answer 200.
func get(address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", address, resp.Status, body)
	}
	return body, err
}

// prometheus is a server with a configuration and a data directory of its own.
type prometheus struct{ address string }

// startPrometheus starts a server whose data are in dir/data.
func startPrometheus(t *testing.T, dir, config string) *prometheus {
	t.Helper()
	p := &prometheus{harness.FreeAddress(t)}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	serve(t, dir, "http://"+p.address+"/-/ready", "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
		"--storage.tsdb.retention.time=100y", "--query.lookback-delta="+lookback.String(), "--web.listen-address="+p.address, "--log.level=warn")
	return p
}

// sample is a value of the answer to a query.
type sample struct {
	labels map[string]string
	value  float64
}

type answer struct {
	Status, Error string
	Data          struct {
		Result []struct {
			Metric map[string]string
			Value  []any
			Values [][]any
		}
	}
}

// at runs a query at a time.
func (p *prometheus) at(t *testing.T, query string, at time.Time) []sample {
	t.Helper()
	return p.query(t, "/api/v1/query", url.Values{"query": {query}, "time": {strconv.FormatInt(at.Unix(), 10)}})
}

// between runs a query over a range and returns all values.
func (p *prometheus) between(t *testing.T, query string, from, to time.Time, step time.Duration) []sample {
	t.Helper()
	return p.query(t, "/api/v1/query_range", url.Values{
		"query": {query}, "start": {strconv.FormatInt(from.Unix(), 10)}, "end": {strconv.FormatInt(to.Unix(), 10)},
		"step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)},
	})
}

func (p *prometheus) query(t *testing.T, path string, values url.Values) (out []sample) {
	t.Helper()
	body, err := get("http://" + p.address + path + "?" + values.Encode())
	require.NoError(t, err, values.Get("query"))
	var a answer
	require.NoError(t, json.Unmarshal(body, &a))
	require.Equal(t, "success", a.Status, a.Error)
	for _, r := range a.Data.Result {
		points := r.Values
		if r.Value != nil {
			points = append(points, r.Value)
		}
		for _, point := range points {
			v, err := strconv.ParseFloat(point[1].(string), 64)
			require.NoError(t, err)
			out = append(out, sample{r.Metric, v})
		}
	}
	return out
}
