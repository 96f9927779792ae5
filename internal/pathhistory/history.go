package pathhistory

import (
	"context"
	"sync"
	"time"

	"github.com/qosrtc/qos/internal/digest"
	"github.com/qosrtc/qos/internal/recommend"
	"github.com/qosrtc/qos/storage"
)

// Bounds of a History.
const (
	Window   = 7 * 24 * time.Hour // how far back conferences are counted, by their start
	Age      = 10 * time.Minute   // after which counts are read again, when somebody asks
	MaxApps  = 1000               // the application that was asked about longest ago is evicted
	MaxSites = 2000               // of an application; conferences of others are not counted
	readTime = 30 * time.Second   // the longest that one application is read
)

// Reader is the part of a store that a History reads.
type Reader interface {
	Digests(ctx context.Context, q storage.DigestQuery, yield func(storage.Digest) bool) error
}

// History has counts by application and site. It is safe for concurrent use. A nil History knows nothing.
type History struct {
	reader Reader
	failed func(appID string, err error)

	ctx    context.Context //nolint:containedctx // of the goroutines, ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	turn   chan struct{} // has a place for the one application that is read

	mu   sync.Mutex
	apps map[string]*app
}

// app is the counts of one application. The mutex of the History guards its members.
type app struct {
	sites   map[string]recommend.Paths // never changed
	read    time.Time                  // when sites were read; zero: never
	asked   time.Time
	reading chan struct{} // closed when the read in progress ends; nil: none is
}

// New returns a History. failed is called with each read that failed; the counts before remain.
func New(reader Reader, failed func(appID string, err error)) *History {
	ctx, cancel := context.WithCancel(context.Background())
	return &History{reader: reader, failed: failed, ctx: ctx, cancel: cancel, turn: make(chan struct{}, 1), apps: map[string]*app{}}
}

// Close ends the read in progress and waits for it. It may be called on nil and twice.
func (h *History) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.cancel()
	h.mu.Unlock()
	h.wg.Wait()
}

// Paths returns the counts of a site. For an application that nobody asked about before it waits for them until
// ctx ends, and then returns zeros. All others get counts of at most Age, or older ones while newer ones are read.
func (h *History) Paths(ctx context.Context, appID, siteID string, now time.Time) recommend.Paths {
	if h == nil || siteID == "" {
		return recommend.Paths{}
	}
	sites, reading := h.ask(appID, now)
	if sites == nil && reading != nil {
		select {
		case <-reading:
			sites, _ = h.ask(appID, now)
		case <-ctx.Done():
		}
	}
	return sites[siteID]
}

// ask returns the counts of an application, nil if they were never read, and begins to read them where they are
// old.
func (h *History) ask(appID string, now time.Time) (map[string]recommend.Paths, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.apps[appID]
	if a == nil {
		if !h.evict() {
			return nil, nil
		}
		a = &app{}
		h.apps[appID] = a
	}
	a.asked = now
	if a.reading == nil && now.Sub(a.read) >= Age && h.ctx.Err() == nil {
		reading := make(chan struct{})
		a.reading = reading
		h.wg.Go(func() { h.refresh(appID, a, now) })
		return a.sites, reading
	}
	return a.sites, a.reading
}

// evict makes room for one more application, and reports whether there is. One that is being read is not evicted.
func (h *History) evict() bool {
	if len(h.apps) < MaxApps {
		return true
	}
	oldest := ""
	for id, a := range h.apps {
		if a.reading == nil && (oldest == "" || a.asked.Before(h.apps[oldest].asked)) {
			oldest = id
		}
	}
	delete(h.apps, oldest)
	return oldest != ""
}

// refresh reads the counts of an application. A failed read is repeated after Age, like any other.
func (h *History) refresh(appID string, a *app, now time.Time) {
	sites, err := h.read(appID, now)
	if err != nil && h.ctx.Err() == nil {
		h.failed(appID, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		a.sites = sites
	}
	a.read = now
	close(a.reading)
	a.reading = nil
}

func (h *History) read(appID string, now time.Time) (map[string]recommend.Paths, error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-h.ctx.Done():
		return nil, h.ctx.Err()
	}
	ctx, cancel := context.WithTimeout(h.ctx, readTime)
	defer cancel()
	sites := map[string]recommend.Paths{}
	var decoder digest.Decoder
	var d digest.Digest
	err := h.reader.Digests(ctx, storage.DigestQuery{AppID: appID, From: now.Add(-Window), To: now}, func(row storage.Digest) bool {
		if len(row.Body) > 0 && decoder.Decode(row.Body, &d) == nil {
			count(sites, &d)
		}
		return true
	})
	return sites, err
}

// count adds the fabrics of a conference to the counts of their sites.
func count(sites map[string]recommend.Paths, d *digest.Digest) {
	for i := range d.Members {
		m := &d.Members[i]
		paths, known := sites[m.SiteID]
		if m.SiteID == "" || !known && len(sites) >= MaxSites {
			continue
		}
		for j := range m.Fabrics {
			add(&paths, &m.Fabrics[j])
		}
		sites[m.SiteID] = paths
	}
}

// relay is the type of a candidate of a TURN server.
const relay = "relay"

// add counts a fabric. One that connected over candidates that are not known counts for nothing.
func add(p *recommend.Paths, f *digest.Fabric) {
	switch {
	case !f.Connected:
		p.Failed++
	case f.LocalCandidateType == relay || f.RemoteCandidateType == relay:
		p.Relayed++
	case f.LocalCandidateType != "":
		p.Direct++
	}
}
