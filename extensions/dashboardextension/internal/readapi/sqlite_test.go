//go:build !fuzz

package readapi

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// reading makes a store a storage extension.
type reading struct {
	*memory
	store *sqlite.Store
}

func (r reading) Reader() storage.Reader     { return r.store }
func (r reading) Follower() storage.Follower { return r.store }

func newSQLite(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "qos.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// TestSQLite: the same call through the real store gives the same answer.
func TestSQLite(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	mos := 4.1
	c.summarise("success", &mos, "good", namedSummary)
	store := newSQLite(t)
	write(t, store, c)

	want, have := ask(t, start(t, m, nil), c), ask(t, startOn(t, reading{m, store}, nil), c)
	have.At = want.At
	require.Equal(t, want, have)

	var list listing
	getJSON(t, startOn(t, reading{m, store}, nil)+"/api/conferences?id=stand+up/1", &list)
	require.Equal(t, 2, list.Conferences[0].ParticipantCount)
	require.Equal(t, "success", list.Conferences[0].Outcome)
}

func write(t *testing.T, store *sqlite.Store, c *call) {
	t.Helper()
	for _, p := range c.Participants {
		batch := storage.Batch{Session: p.Session}
		for _, r := range c.records {
			if r.session == p.Session.ID {
				record := r.Record
				record.Activity = record.Name == semconv.EventStats || record.Name == semconv.EventEvent
				batch.Records = append(batch.Records, record)
			}
		}
		_, err := store.Append(context.Background(), []storage.Batch{batch})
		require.NoError(t, err)
	}
	require.NoError(t, store.PutSummary(context.Background(), *c.Summary))
}
