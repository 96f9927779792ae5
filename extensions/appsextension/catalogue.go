package appsextension

import (
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/extensions/appsextension/internal/vault"
	"github.com/qosrtc/qos/storage"
)

// snapshot is all apps at a time. It never changes, so that it is read without a lock.
type snapshot struct {
	apps     map[string]*app.Built
	revision uint64
	until    time.Time // when the first entry changes by itself; zero: never
	unusable int       // keys of tokens, and those of pseudonyms once for each app
	declared int
	hooked   []string // apps with webhooks, ascending
	hashing  []string // apps with pseudonyms, ascending
}

// storedApp is a document of the store as it was read last.
type storedApp struct {
	doc      *app.App // the last that could be read; nil: none could
	revision int64
	broken   bool
}

// catalogue makes snapshots of what the configuration and the store say. It is for one
// goroutine.
type catalogue struct {
	vault    *vault.Vault
	log      *zap.Logger
	declared map[string]*app.App
	stored   map[string]storedApp
	seen     int64 // the store's revision
	entries  map[string]*app.Built
	stale    map[string]bool // ids whose entry is to be built anew
}

func newCatalogue(v *vault.Vault, log *zap.Logger) *catalogue {
	return &catalogue{vault: v, log: log, stored: map[string]storedApp{}, entries: map[string]*app.Built{}, stale: map[string]bool{}}
}

// declare takes the apps of the configuration.
func (c *catalogue) declare(apps map[string]*app.App) {
	c.declared = apps
	for id := range apps {
		c.stale[id] = true
	}
}

// merge takes changes of the store and reports whether all is known now; if not, something
// was deleted, and replace has to be given everything.
func (c *catalogue) merge(changes storage.SettingsChanges) bool {
	for i := range changes.Changed {
		c.take(&changes.Changed[i])
	}
	if len(c.stored) != changes.Total {
		return false
	}
	c.seen = changes.Revision
	return true
}

// replace takes all that the store has.
func (c *catalogue) replace(all storage.SettingsChanges) {
	there := make(map[string]bool, len(all.Changed))
	for i := range all.Changed {
		there[all.Changed[i].ID] = true
		c.take(&all.Changed[i])
	}
	for id := range c.stored {
		if !there[id] {
			delete(c.stored, id)
			c.stale[id] = true
		}
	}
	c.seen = all.Revision
}

// take reads one document. One that cannot be read leaves the app as it was.
func (c *catalogue) take(s *storage.Setting) {
	was := c.stored[s.ID]
	if was.revision == s.Revision {
		return
	}
	doc, err := app.Decode(s.Body)
	if err != nil {
		c.log.Error("an app in the store cannot be read and stays as it was", zap.String("app", s.ID), zap.Error(err))
		doc = was.doc
	}
	c.stored[s.ID] = storedApp{doc: doc, revision: s.Revision, broken: err != nil}
	c.stale[s.ID] = true
}

// next returns the snapshot that follows one, which is the same where nothing changed.
func (c *catalogue) next(now time.Time, last *snapshot) *snapshot {
	if len(c.stale) == 0 && (last.until.IsZero() || now.Before(last.until)) {
		return last
	}
	for id, e := range c.entries {
		if !e.Until.IsZero() && !now.Before(e.Until) {
			c.stale[id] = true
		}
	}
	for id := range c.stale {
		c.build(id, now)
	}
	clear(c.stale)
	return c.snapshot(last.revision + 1)
}

// build makes the entry of an app: what the configuration declares goes before the store.
func (c *catalogue) build(id string, now time.Time) {
	doc := c.declared[id]
	if doc == nil {
		doc = c.stored[id].doc
	}
	if doc == nil {
		delete(c.entries, id)
		return
	}
	built := doc.Build(id, c.vault, now)
	for _, key := range built.Unusable {
		c.log.Error("a verification key cannot be used: the master key that sealed it is gone, or it is damaged",
			zap.String("app", id), zap.String("keyID", key))
	}
	if built.UserIDKeyUnusable {
		c.log.Error("a key of an app's pseudonyms cannot be used: the master key that sealed it is gone, or it is damaged",
			zap.String("app", id), zap.Bool("disabled", built.Auth.Disabled))
	}
	c.entries[id] = built
}

func (c *catalogue) snapshot(revision uint64) *snapshot {
	s := &snapshot{apps: maps.Clone(c.entries), revision: revision, declared: len(c.declared)}
	for id, e := range c.entries {
		s.unusable += len(e.Unusable)
		if e.UserIDKeyUnusable {
			s.unusable++
		}
		if len(e.Hooks) > 0 {
			s.hooked = append(s.hooked, id)
		}
		if e.Auth.Pseudonyms != nil {
			s.hashing = append(s.hashing, id)
		}
		if !e.Until.IsZero() && (s.until.IsZero() || e.Until.Before(s.until)) {
			s.until = e.Until
		}
	}
	for _, stored := range c.stored {
		if stored.broken {
			s.unusable++
		}
	}
	slices.Sort(s.hooked)
	slices.Sort(s.hashing)
	return s
}
