package timeseries

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// get reads a JSON answer of the store's API.
func (s *store) get(path string, query url.Values, into any) bool {
	resp, err := client.Get(s.url + path + "?" + query.Encode())
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK && json.Unmarshal(body, into) == nil
}

// value returns the one value of a query at a time, NaN where there is none.
func (s *store) value(promQL string, at time.Time) float64 {
	var answer struct {
		Data struct {
			Result []struct {
				Value [2]any
			}
		}
	}
	query := url.Values{"query": {promQL}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)}}
	if !s.get("/api/v1/query", query, &answer) || len(answer.Data.Result) != 1 {
		return math.NaN()
	}
	text, _ := answer.Data.Result[0].Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// await waits until a query has a value.
func (s *store) await(t *testing.T, promQL string, want float64) {
	t.Helper()
	var last float64
	require.Eventually(t, func() bool {
		last = s.value(promQL, time.Now())
		return math.Abs(last-want) < 1e-9
	}, patience, pause, "%s: want %v, last %v", promQL, want, &last)
}

func (s *store) awaitAll(t *testing.T, want map[string]float64) {
	t.Helper()
	for promQL, v := range want {
		s.await(t, promQL, v)
	}
}
