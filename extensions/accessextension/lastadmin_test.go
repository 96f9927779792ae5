package accessextension

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// schedule lets the operations of two requests into the store in a given order.
type schedule struct {
	mu    sync.Mutex
	moved *sync.Cond
	turns []int   // of the requests; empty: any
	ended [2]bool // requests
}

// in runs an operation of a request when it is its turn.
func (s *schedule) in(id int, operation func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for len(s.turns) > 0 && s.ended[s.turns[0]] {
			s.turns = s.turns[1:]
		}
		if len(s.turns) == 0 {
			break
		}
		if s.turns[0] == id {
			s.turns = s.turns[1:]
			break
		}
		s.moved.Wait()
	}
	operation()
	s.moved.Broadcast()
}

func (s *schedule) set(turns []int, ended ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns = turns; len(ended) == 0 {
		s.ended = [2]bool{}
	}
	s.moved.Broadcast()
}

func (s *schedule) end(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[id] = true
	s.moved.Broadcast()
}

// scheduled are the settings of one request.
type scheduled struct {
	engine
	id int
	*schedule
}

func (s scheduled) Setting(ctx context.Context, kind, id string) (out storage.Setting, err error) {
	s.in(s.id, func() { out, err = s.engine.Setting(ctx, kind, id) })
	return out, err
}

func (s scheduled) SettingsPage(ctx context.Context, kind, after string, limit int) (out []storage.Setting, err error) {
	s.in(s.id, func() { out, err = s.engine.SettingsPage(ctx, kind, after, limit) })
	return out, err
}

func (s scheduled) PutSetting(ctx context.Context, one storage.Setting) (revision int64, err error) {
	s.in(s.id, func() { revision, err = s.engine.PutSetting(ctx, one) })
	return revision, err
}

// operations is how many a demotion has that succeeds: visitor, user, administrators, the other
// administrator's document, the user's.
const operations = 5

// orders returns all orders of the operations of two requests.
func orders() (all [][]int) {
	for set := range 1 << (2 * operations) {
		turns := make([]int, 2*operations)
		for i := range turns {
			turns[i] = set >> i & 1
		}
		if slices.Index(turns, 1) >= 0 && sum(turns) == operations {
			all = append(all, turns)
		}
	}
	return all
}

func sum(numbers []int) (n int) {
	for _, one := range numbers {
		n += one
	}
	return n
}

// administrators returns the users who manage the installation.
func administrators(t *testing.T, store storage.Settings) (names []string) {
	t.Helper()
	page, err := store.SettingsPage(t.Context(), kindUser, "", 0)
	require.NoError(t, err)
	for i := range page {
		u, err := access.DecodeUser(page[i].Body)
		require.NoError(t, err)
		if u.Manages() {
			names = append(names, page[i].ID)
		}
	}
	return names
}

// restore makes users administrators again.
func restore(t *testing.T, r *running, hash string, names ...string) {
	t.Helper()
	for _, name := range names {
		u, revision, err := r.readUser(t.Context(), name)
		if revision != 0 {
			require.NoError(t, err)
		}
		u.Roles, u.Scope, u.Disabled, u.Password = []access.Role{access.Admin}, access.Scope{All: true}, false, hash
		_, err = r.putUser(t.Context(), name, u, revision)
		require.NoError(t, err)
	}
}

// Two administrators demote each other at two collectors. One remains, in each order of the operations.
//
// spec: DASH-03
func TestAdministratorsWhoDemoteEachOther(t *testing.T) {
	t.Parallel()
	store, turns := newStore(t), &schedule{}
	turns.moved = sync.NewCond(&turns.mu)
	one := startOn(t, scheduled{store, 0, turns})
	two := startOn(t, scheduled{store, 1, turns})
	hash, err := hashOfGood()
	require.NoError(t, err)
	restore(t, one, hash, "one", "two")
	first, revision, err := one.readUser(t.Context(), "admin")
	require.NoError(t, err)
	require.NoError(t, store.DeleteSetting(t.Context(), kindUser, "admin", revision))
	require.True(t, first.Manages())
	browsers := []*browser{one.in("one", good), two.in("two", good)}
	victims := []string{"two", "one"}
	left := map[string]int{}
	for _, order := range orders() {
		etags := []string{}
		for i, b := range browsers {
			etags = append(etags, b.get("/api/v1/users/"+victims[i]).header.Get("ETag"))
		}
		turns.set(order)
		var wg sync.WaitGroup
		for i, b := range browsers {
			wg.Go(func() {
				defer turns.end(i)
				b.put(victims[i], support, "If-Match", etags[i])
			})
		}
		wg.Wait()
		turns.set(nil)
		names := administrators(t, store)
		require.NotEmpty(t, names, "%v", order)
		left[strings.Join(names, " ")]++
		restore(t, one, hash, "one", "two")
	}
	require.Positive(t, left["one"], left)
	require.Positive(t, left["two"], left)
	t.Logf("administrators left, and orders: %v", left)
}

// Administrators who demote, disable and delete each other at random at two collectors: one remains.
//
// spec: DASH-03
func TestAdministratorsWhoRace(t *testing.T) {
	t.Parallel()
	race := func(t *testing.T, stores ...engine) {
		t.Helper()
		one, two := startOn(t, stores[0]), startOn(t, stores[1])
		hash, err := hashOfGood()
		require.NoError(t, err)
		names := []string{"admin", "ann", "bob"}
		restore(t, one, hash, names...)
		random, left := rand.New(rand.NewPCG(1, 2)), map[int]int{}
		for range testenv.Pick(10, 40) {
			var wg sync.WaitGroup
			begin := make(chan struct{}) // closed when each has read its victim
			for i, name := range names {
				r, victim := []*running{one, two}[i%2], names[(i+1+random.IntN(2))%3]
				v := &access.Visitor{Name: name, Roles: []access.Role{access.Admin}, Scope: access.Scope{All: true}}
				method, body := http.MethodPut, []string{support, `{"roles":["admin"],"scope":{"all":true},"disabled":true}`}[random.IntN(2)]
				if random.IntN(3) == 0 {
					method, body = http.MethodDelete, ""
				}
				_, revision, err := r.readUser(t.Context(), victim)
				require.NoError(t, err)
				wg.Go(func() {
					<-begin
					r.change(v, method, victim, body, revision)
				})
			}
			close(begin)
			wg.Wait()
			remain := administrators(t, stores[0])
			require.NotEmpty(t, remain)
			left[len(remain)]++
			restore(t, one, hash, names...)
		}
		t.Logf("administrators left, and rounds: %v", left)
		require.Positive(t, left[1]+left[2], "nothing was changed")
	}
	t.Run("SQLite", func(t *testing.T) {
		store := newStore(t)
		race(t, store, store)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		one, two := newPostgres(t)
		race(t, one, two)
	})
}
