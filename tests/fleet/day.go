package fleet

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Config describes a day.
type Config struct {
	Seed        uint64
	Start       time.Time     // midnight
	Conferences int           // number of conferences
	Interval    time.Duration // between two measurements of a fabric; 0: none
	MeanLength  time.Duration // of a conference
	Planted     []Planted
}

// DefaultConfig returns a small fleet whose day begins at start.
func DefaultConfig(start time.Time) Config {
	return Config{
		Seed: 1, Start: start, Conferences: 500, Interval: 20 * time.Second, MeanLength: 4 * time.Minute,
		Planted: DefaultPlanted(),
	}
}

// Day is a drawn day.
type Day struct {
	Config
	Conferences []Conference // by start
	Truth       Truth
	apps        []App
	browsers    []Browser
}

// Conference is one conference of the script.
type Conference struct {
	AppID, ID      string
	StartMs, EndMs int64
	Sessions       []*Session
	ending         ending
	number         uint64
	app            *App
}

// Session is one participant's page.
type Session struct {
	AppID, ID                  string // ID is a UUID version 7
	UserID, Alias              string
	SiteID, ApplicationVersion string
	Browser                    Browser
	joinMs, leaveMs            int64
	relay                      string // transport to its TURN server; empty: it needs none
	network                    network
	fabrics                    int
}

// network is the access network of a session.
type network struct {
	lossFraction, jitterMs, rttMs float64
	badFromMs, badToMs            int64 // an episode of heavy loss
}

// ending is how a conference fails as a whole.
type ending uint8

const (
	regular ending = iota
	missed         // nobody answers
	aborted        // everybody leaves while connecting
	dropped        // everybody falls silent
)

// Draw draws the sessions of the day. Steps draws the rest.
func Draw(cfg Config) *Day {
	d := &Day{Config: cfg, apps: Apps(), browsers: Browsers()}
	d.Planted = slices.Clone(cfg.Planted)
	d.Conferences = make([]Conference, cfg.Conferences)
	r := rand.New(rand.NewPCG(cfg.Seed, 0))
	for i := range d.Conferences {
		d.drawConference(r, &d.Conferences[i])
	}
	slices.SortStableFunc(d.Conferences, func(a, b Conference) int { return cmp.Compare(a.StartMs, b.StartMs) })
	for i := range d.Conferences {
		c := &d.Conferences[i]
		c.number, c.ID = uint64(i+1), fmt.Sprintf("%s-%05d", c.AppID, i+1)
	}
	d.count()
	return d
}

func (d *Day) startMs() int64 { return d.Start.UnixMilli() }

func (d *Day) drawConference(r *rand.Rand, c *Conference) {
	c.app = &d.apps[pick(r, d.apps, func(a App) float64 { return a.Weight })]
	c.AppID = c.app.ID
	hour := pick(r, hourWeights[:], func(w float64) float64 { return w })
	c.StartMs = d.startMs() + int64(hour)*3_600_000 + r.Int64N(3_600_000)
	length := time.Duration((0.25 + r.ExpFloat64()*0.75) * float64(d.MeanLength))
	c.EndMs = c.StartMs + min(length, 4*d.MeanLength).Milliseconds()
	c.EndMs = min(c.EndMs, d.startMs()+24*3_600_000-120_000) // its summary belongs to the day
	c.ending = ending(pick(r, []float64{0.96, 0.015, 0.01, 0.015}, func(w float64) float64 { return w }))
	n := 2
	switch {
	case c.ending == missed:
		n = 1
	case c.app.Endpoint == server:
		n += r.IntN(4)
	case r.Float64() < 0.15:
		n = 3
	}
	site := c.app.Sites[r.IntN(len(c.app.Sites))]
	version := c.app.Versions[r.IntN(len(c.app.Versions))]
	for range n {
		c.Sessions = append(c.Sessions, d.drawSession(r, c, site, version))
	}
}

func (d *Day) drawSession(r *rand.Rand, c *Conference, site, version string) *Session {
	if r.Float64() < 0.1 { // a guest of another site
		site = c.app.Sites[r.IntN(len(c.app.Sites))]
	}
	user := fmt.Sprintf("user%04d", r.IntN(5000))
	p := &Session{
		AppID: c.AppID, UserID: user + "@example.org", Alias: user, SiteID: site, ApplicationVersion: version,
		Browser: d.browsers[pick(r, d.browsers, func(b Browser) float64 { return b.Weight })],
		joinMs:  c.StartMs + r.Int64N(8000), leaveMs: c.EndMs - r.Int64N(5000),
		network: drawNetwork(r, c, site),
	}
	if r.Float64() < 0.15 {
		p.relay = []string{"udp", "udp", "udp", "tcp", "tls"}[r.IntN(5)]
	}
	p.ID = sessionID(r, p.joinMs)
	return p
}

func drawNetwork(r *rand.Rand, c *Conference, site string) network {
	n := network{
		lossFraction: 0.002 * r.Float64(), jitterMs: 2 + 4*r.Float64(), rttMs: siteRTTMs[site] * (0.8 + 0.8*r.Float64()),
	}
	switch kind := r.Float64(); {
	case kind < 0.03: // bad for a third of the call
		third := (c.EndMs - c.StartMs) / 3
		n.badFromMs = c.StartMs + r.Int64N(max(1, 2*third))
		n.badToMs = n.badFromMs + third
	case kind < 0.1:
		n.lossFraction, n.jitterMs = 0.01+0.01*r.Float64(), 12+8*r.Float64()
	}
	return n
}

// sessionID returns a UUID version 7 of a time.
func sessionID(r *rand.Rand, atMs int64) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(atMs)<<16|7<<12|uint64(r.IntN(1<<12)))
	binary.BigEndian.PutUint64(id[8:], 2<<62|r.Uint64()>>2)
	return id.String()
}

// pick draws an index by weight.
func pick[T any](r *rand.Rand, from []T, weight func(T) float64) int {
	sum := 0.0
	for _, v := range from {
		sum += weight(v)
	}
	at := r.Float64() * sum
	for i, v := range from {
		if at -= weight(v); at < 0 {
			return i
		}
	}
	return len(from) - 1
}

// Steps yields the steps of the day in the order of their times. The script of each conference
// has random sources of its own, so that two calls yield the same steps.
func (d *Day) Steps() iter.Seq[Step] {
	return func(yield func(Step) bool) {
		var live merge
		for i := range d.Conferences {
			c := &d.Conferences[i]
			if !live.yieldUntil(c.StartMs, yield) {
				return
			}
			if steps := d.script(c, d.Interval).steps; len(steps) > 0 {
				heap.Push(&live, steps)
			}
		}
		live.yieldUntil(math.MaxInt64, yield)
	}
}

// StepsOf returns the steps of one conference in the order of their times, the same as Steps yields.
func (d *Day) StepsOf(c *Conference) []Step { return d.script(c, d.Interval).steps }

// merge is a heap of the remaining steps of live conferences.
type merge [][]Step

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return m[i][0].before(&m[j][0]) }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(steps any)    { *m = append(*m, steps.([]Step)) }
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// yieldUntil yields the steps before a time. It reports false when yield did.
func (m *merge) yieldUntil(ms int64, yield func(Step) bool) bool {
	for len(*m) > 0 && (*m)[0][0].AtMs < ms {
		first := &(*m)[0]
		step := (*first)[0]
		if *first = (*first)[1:]; len(*first) == 0 {
			heap.Pop(m)
		} else {
			heap.Fix(m, 0)
		}
		if !yield(step) {
			return false
		}
	}
	return true
}
