package series

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// sourceCache caches the entries of sources between calls of Observe. It is valid until the next sweep, and
// used by one call at a time.
type sourceCache struct {
	sweeps  int // Set.sweeps at its creation
	sources map[sourceKey]*source
}

// maxSources bounds the sources of a cache, and maxScopes the scopes of each.
const (
	maxSources = 1000
	maxScopes  = 100
)

// takeCache returns a valid cache. The caller MUST hold the lock of sweep.
func (s *Set) takeCache() *sourceCache {
	f, _ := s.caches.Get().(*sourceCache)
	if f == nil || f.sweeps != s.sweeps {
		f = &sourceCache{sweeps: s.sweeps, sources: map[sourceKey]*source{}}
	}
	return f
}

// sourceKey holds the labels that the records of many sessions have in common.
type sourceKey struct{ app, site, version string }

// source holds the entries of a sourceKey.
type source struct {
	key       sourceKey    // texts in the records
	sourceKey              // labels
	replaced  bool         // a label differs from its text
	label     string       // result of Set.app; empty: not called yet
	overApp   bool         // label is OtherApp
	begun     bool         // the series of its conferences exist
	counts    *entry       // of famApp
	seconds   [4][5]*entry // by stream kind and quality
	scopes    map[scopeKey]*streams
	newest    *streams // used last; most records use it again
}

// scopeKey holds the labels that the streams of a fabric have in common.
type scopeKey struct{ usage, endpointType, relay, conference string }

// streams holds the entries of a fabric's streams.
type streams struct {
	key    scopeKey
	byKind [4]*entry
}

// scope is the fabric of the current record.
type scope struct {
	scopeKey
	replaced bool // a label differs from its text
	span     [8]byte
	streams  *streams // result of source.streams; nil: not called yet
}

func (b *batch) openSource(attrs pcommon.Map) {
	var key sourceKey
	b.agent, b.browserKnown = "", false
	for name, v := range attrs.All() {
		switch name {
		case semconv.AppID:
			key.app = v.Str()
		case semconv.SiteID:
			key.site = v.Str()
		case semconv.ApplicationVersion:
			key.version = v.Str()
		case semconv.UserAgent:
			b.agent = v.Str()
		}
	}
	if b.source != nil && b.source.key == key { // sessions of one site follow each other
		return
	}
	b.closeSource()
	b.source, b.scope = b.cache.source(key), scope{}
}

// source returns the source of a key, and creates it if there is none.
func (f *sourceCache) source(key sourceKey) *source {
	if s := f.sources[key]; s != nil {
		return s
	}
	large := max(len(key.app), len(key.site), len(key.version)) > maxLabelBytes
	if !large {
		key = sourceKey{clone(key.app), clone(key.site), clone(key.version)}
	}
	s := &source{key: key}
	s.sourceKey = sourceKey{s.clean(key.app), s.clean(key.site), s.clean(key.version)}
	if large {
		return s // not cached
	}
	if len(f.sources) >= maxSources {
		clear(f.sources)
	}
	f.sources[key] = s
	return s
}

// clean returns a text as a label, and sets replaced if it differs.
func (s *source) clean(v string) string {
	value, replaced := label(v)
	s.replaced = s.replaced || replaced
	return value
}

func (b *batch) openScope(attrs pcommon.Map) {
	var s scope
	for name, v := range attrs.All() {
		switch name {
		case semconv.FabricUsage:
			s.usage = optional(usages, v.Str())
		case semconv.RemoteEndpointType:
			s.endpointType = optional(endpointTypes, v.Str())
		case semconv.ConferenceID:
			if b.set.cfg.Series == PerConference {
				s.conference, s.replaced = label(v.Str())
			}
		}
	}
	b.scope = s
}

// streams returns the entries of a scope's streams.
func (s *source) streams(key scopeKey) *streams {
	if s.newest != nil && s.newest.key == key {
		return s.newest
	}
	found := s.scopes[key]
	if found == nil {
		if s.scopes == nil || len(s.scopes) >= maxScopes {
			s.scopes = map[scopeKey]*streams{}
		}
		key.conference = clone(key.conference)
		found = &streams{key: key}
		s.scopes[key] = found
	}
	s.newest = found
	return found
}

// app returns the label of the app.
func (b *batch) app() string {
	s := b.source
	if s.label == "" {
		label, known := b.set.app(s.app)
		s.label, s.overApp = label, !known
	}
	return s.label
}

// browser returns the family of the session's browser.
func (b *batch) browser() string {
	if !b.browserKnown {
		b.family, _ = event.Browser(b.agent)
		b.browserKnown = true
	}
	return b.family
}
