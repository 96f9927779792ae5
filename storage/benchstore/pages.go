package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension"

	"github.com/qosrtc/qos/extensions/dashboardextension"
	"github.com/qosrtc/qos/tests/kit/freeport"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

const (
	firstRequests = 20 // of each page that are measured with empty caches
	laterRequests = 200
	week          = 7 * day
)

// dashboard is the dashboard extension over a store, with its HTTP server.
type dashboard struct {
	ext  extension.Extension
	base string
}

func serve(ctx context.Context, s store) (*dashboard, error) {
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	factory := dashboardextension.NewFactory()
	cfg := factory.CreateDefaultConfig().(*dashboardextension.Config)
	cfg.NetAddr.Endpoint = address
	ext, err := factory.Create(ctx, extension.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings()}, cfg)
	if err != nil {
		return nil, err
	}
	return &dashboard{ext, "http://" + address}, ext.Start(ctx, hosttest.Host{cfg.Storage: hosttest.Storage{Store: s}})
}

func (d *dashboard) close(ctx context.Context) error {
	http.DefaultClient.CloseIdleConnections()
	return d.ext.Shutdown(ctx)
}

// ask returns the duration of a request with its transfer.
func (d *dashboard) ask(ctx context.Context, path string) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+path, http.NoBody)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	took := time.Since(began)
	if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, res.Status)
	}
	return took, err
}

// pages are the requests of pages; most show the conferences of a time range.
var pages = []struct {
	what string
	path func(c *catalogue, r *rand.Rand, from, to time.Time) string
}{
	{"page: list", func(*catalogue, *rand.Rand, time.Time, time.Time) string { return "/api/conferences?limit=50" }},
	{"page: overview", func(_ *catalogue, _ *rand.Rand, from, to time.Time) string {
		return "/api/overview?" + times(from, to).Encode()
	}},
	{"page: trend", func(_ *catalogue, _ *rand.Rand, from, to time.Time) string {
		return "/api/trend?by=versions&" + times(from, to).Encode()
	}},
	{"page: contrast", func(_ *catalogue, _ *rand.Rand, from, to time.Time) string {
		q := times(from, to)
		q.Set("baseline.from", strconv.FormatInt(from.Add(from.Sub(to)).UnixMilli(), 10))
		q.Set("baseline.to", strconv.FormatInt(from.UnixMilli(), 10))
		return "/api/contrast?" + q.Encode()
	}},
	{"page: user", func(c *catalogue, r *rand.Rand, _, _ time.Time) string {
		i := r.IntN(c.n)
		app, _ := c.named(i)
		return "/api/user?" + url.Values{"app": {app}, "user": {fmt.Sprintf("user-%d", i)}}.Encode()
	}},
	{"page: conference", func(c *catalogue, r *rand.Rand, _, _ time.Time) string {
		app, id, start := c.at(r, false)
		return "/api/conference?" + url.Values{"app": {app}, "id": {id}, "at": {strconv.FormatInt(start.UnixMilli(), 10)}}.Encode()
	}},
}

func times(from, to time.Time) url.Values {
	return url.Values{"from": {strconv.FormatInt(from.UnixMilli(), 10)}, "to": {strconv.FormatInt(to.UnixMilli(), 10)}}
}

// makeHours makes the columns of all hours but the last, as the storage extension does in the background.
func (e *env) makeHours(s store) error {
	began := time.Now()
	made := 0
	for quiet := 0; quiet < 2; quiet++ {
		n, err := s.MakeHours(e.ctx, e.now.Add(-time.Hour))
		if err != nil {
			return err
		}
		if n > 0 {
			made, quiet = made+n, 0
		}
	}
	e.add("hours of columns", "asked", float64(made))
	e.add("hours of columns", "hours/s", float64(made)/time.Since(began).Seconds())
	return nil
}

// askPages measures pages that show the range long of the catalogue: the first requests of a new dashboard, and
// later ones. The overview is compared with the same range a week before, a comparison with the range before.
func (e *env) askPages(s store, c *catalogue, long time.Duration) error {
	room := e.now.Sub(c.first) - long
	before := min(week, room/2)
	r := random(3)
	for _, page := range pages {
		var fresh, later latencies
		for began := time.Now(); len(fresh) < 3 || len(fresh) < firstRequests && time.Since(began) < 2*e.seconds; {
			from := c.first.Add(before + time.Duration(r.Int64N(int64(room-before)))).Truncate(time.Second)
			one, more, err := e.askPage(s, page.path(c, r, from, from.Add(long)))
			if err != nil {
				return err
			}
			fresh, later = append(fresh, one), append(later, more...)
		}
		e.page(page.what+", first", fresh)
		e.page(page.what+", later", later)
	}
	return nil
}

func (e *env) page(what string, took latencies) {
	e.latency(what, took)
	e.add(what, "asked", float64(len(took)))
}

// askPage sends requests to a new dashboard.
func (e *env) askPage(s store, path string) (first time.Duration, later latencies, err error) {
	d, err := serve(e.ctx, s)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, d.close(e.ctx)) }()
	if first, err = d.ask(e.ctx, path); err != nil {
		return 0, nil, err
	}
	for range e.scaled(laterRequests / firstRequests) {
		took, err := d.ask(e.ctx, path)
		if err != nil {
			return 0, nil, err
		}
		later = append(later, took)
	}
	return first, later, nil
}
