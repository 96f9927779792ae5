package pathhistory

import (
	"context"
	"sync"
	"time"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/call/recommend"
	"github.com/qosrtc/qos/storage"
)

// Bounds of a History.
const (
	Window   = 7 * 24 * time.Hour // conferences that started longer ago are not counted
	Age      = 10 * time.Minute   // after which a request reads the counts again
	MaxApps  = 1000               // beyond it the least recently requested application is evicted
	MaxSites = 2000               // of an application; further sites are not counted
	readTime = 30 * time.Second   // timeout of reading one application
)

// Reader is the part of a store that a History reads.
type Reader interface {
	Digests(ctx context.Context, q storage.DigestQuery, yield func(storage.Digest) bool) error
}

// History holds counts by application and site. It is safe for concurrent use. A nil History has no counts.
type History struct {
	reader  Reader
	onError func(appID string, err error)

	ctx       context.Context // of the goroutines, ends with Close
	cancel    context.CancelFunc
	wg        sync.WaitGroup
	semaphore chan struct{} // semaphore: one application is read at a time

	mu   sync.Mutex
	apps map[string]*app
}

// app holds the counts of one application. The mutex of the History guards its members.
type app struct {
	sites     map[string]recommend.Paths // never changed
	read      time.Time                  // when sites were read; zero: never
	requested time.Time                  // time of the last request
	reading   chan struct{}              // closed when the read in progress ends; nil: there is none
}

// New returns a History. It calls onError for each read that failed; the counts before remain.
func New(reader Reader, onError func(appID string, err error)) *History {
	ctx, cancel := context.WithCancel(context.Background())
	return &History{reader: reader, onError: onError, ctx: ctx, cancel: cancel, semaphore: make(chan struct{}, 1), apps: map[string]*app{}}
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

// Paths returns the counts of a site. For an application without counts it waits until they are read, and returns
// zeros if ctx ends before. For others the counts are at most Age old, or older while newer ones are read.
func (h *History) Paths(ctx context.Context, appID, siteID string, now time.Time) recommend.Paths {
	if h == nil || siteID == "" {
		return recommend.Paths{}
	}
	sites, reading := h.request(appID, now)
	if sites == nil && reading != nil {
		select {
		case <-reading:
			sites, _ = h.request(appID, now)
		case <-ctx.Done():
		}
	}
	return sites[siteID]
}

// request returns the counts of an application, nil if they were never read, and starts a read if they are old. The
// channel is closed at the end of the read in progress.
func (h *History) request(appID string, now time.Time) (map[string]recommend.Paths, <-chan struct{}) {
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
	a.requested = now
	if a.reading == nil && now.Sub(a.read) >= Age && h.ctx.Err() == nil {
		reading := make(chan struct{})
		a.reading = reading
		h.wg.Go(func() { h.refresh(appID, a, now) })
		return a.sites, reading
	}
	return a.sites, a.reading
}

// evict makes room for one more application, and reports whether there is room. It does not evict an application that is
// being read.
func (h *History) evict() bool {
	if len(h.apps) < MaxApps {
		return true
	}
	oldest := ""
	for id, a := range h.apps {
		if a.reading == nil && (oldest == "" || a.requested.Before(h.apps[oldest].requested)) {
			oldest = id
		}
	}
	delete(h.apps, oldest)
	return oldest != ""
}

// refresh reads the counts of an application. A failed read is not repeated before Age has passed.
func (h *History) refresh(appID string, a *app, now time.Time) {
	sites, err := h.read(appID, now)
	if err != nil && h.ctx.Err() == nil {
		h.onError(appID, err)
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
	case h.semaphore <- struct{}{}:
		defer func() { <-h.semaphore }()
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

// relay is the type of candidates from a TURN server.
const relay = "relay"

// add counts a fabric. It ignores one that connected over unknown candidates.
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
