package delivery

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err, name)
	return n
}

// identity is what the store must hold once.
type identity struct {
	session string
	seq     uint64
	index   int
}

// spec: SRV-03
func TestAcknowledgedFramesAreStoredExactlyOnce(t *testing.T) {
	seed := setting(t, "QOS_DELIVERY_SEED", time.Now().UnixNano())
	length := time.Duration(setting(t, "QOS_DELIVERY_SECONDS", 5)) * time.Second
	t.Logf("QOS_DELIVERY_SEED=%d", seed)
	c := newCollector(t)
	c.start()

	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	drain, cancelDrain := context.WithTimeout(t.Context(), length+patience)
	defer cancelDrain()
	clients := make([]*client, 6)
	errs := make([]error, len(clients))
	var running sync.WaitGroup
	for i := range clients {
		clients[i] = newClient(c.url, uint64(seed), i)
		running.Go(func() { errs[i] = clients[i].run(ctx, drain) })
	}
	pause(ctx, length/2)
	c.kill()
	c.start()
	running.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	c.stop()
	check(t, c, clients)
}

// check compares the store with what the clients were promised.
func check(t *testing.T, c *collector, clients []*client) {
	t.Helper()
	stored, texts := read(t, filepath.Join(c.store(), "qos.sqlite3"))
	frames, cuts, posts, slowed := 0, 0, 0, 0
	for _, client := range clients {
		require.NotEmpty(t, client.frames)
		for _, f := range client.frames {
			for index := range f.records {
				id := identity{client.session, f.seq, index}
				require.Equal(t, 1, stored[id], "%+v %s", id, f.text)
				require.Equal(t, f.mark, texts[id], "%+v", id)
				delete(stored, id)
			}
		}
		frames += len(client.frames)
		cuts, posts, slowed = cuts+client.cuts, posts+client.posts, slowed+client.slowed
	}
	require.Empty(t, stored, "records that no client sent")
	t.Logf("%d frames, %d connections, %d posts, %d slow-downs", frames, cuts, posts, slowed)
	require.Greater(t, cuts, len(clients))
}

// read counts the records of a store by identity, and returns the texts of logs.
func read(t *testing.T, file string) (stored map[identity]int, texts map[identity]string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	page, err := store.Conferences(t.Context(), storage.Query{AppID: appID, ConferenceID: conferenceID})
	require.NoError(t, err)
	require.Len(t, page.Conferences, 1, "one conference: the clients were never away for long")
	stored, texts = make(map[identity]int), make(map[identity]string)
	conference := page.Conferences[0]
	ref := storage.Ref{AppID: appID, ConferenceID: conferenceID, At: conference.Start}
	require.NoError(t, store.Records(t.Context(), ref, func(session string, r storage.Record) bool {
		id := identity{session, r.Seq, r.Index}
		stored[id]++
		texts[id], _ = r.Attributes[semconv.LogText].(string)
		return true
	}))
	return stored, texts
}
