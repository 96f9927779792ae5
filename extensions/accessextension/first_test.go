package accessextension

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// starting are settings on which the first administrator is made.
type starting struct {
	engine
	put   func() error // before a user is written; an error in place of it
	empty bool         // no user is found, as before another collector has made one
}

func (s *starting) SettingsPage(ctx context.Context, kind, after string, limit int) ([]storage.Setting, error) {
	if s.empty && kind == kindUser {
		return nil, nil
	}
	return s.engine.SettingsPage(ctx, kind, after, limit)
}

func (s *starting) PutSetting(ctx context.Context, one storage.Setting) (int64, error) {
	if err := s.put(); err != nil && one.Kind == kindUser {
		return 0, err
	}
	return s.engine.PutSetting(ctx, one)
}

// A start that ends after it has printed the first password, or before, leaves an installation into
// which the next start lets somebody.
//
// spec: DASH-03
func TestAFirstStartThatFails(t *testing.T) {
	store, died := newStore(t), errors.New("the process has ended")
	for _, written := range []bool{false, true} {
		store := &starting{engine: store}
		r := prepare(t, store)
		store.put = func() error {
			require.Len(t, r.password(), 23, "printed before it is written")
			if written {
				return nil
			}
			return died
		}
		if err := r.start(); !written {
			require.ErrorIs(t, err, died)
			users, err := store.SettingsPage(t.Context(), kindUser, "", 0)
			require.NoError(t, err)
			require.Empty(t, users)
			continue
		}
		require.Equal(t, "/password", startOn(t, store.engine).browser().signIn("admin", r.password()).header.Get("Location"))
	}
}

// Of two collectors that start at the same time, the slower one withdraws the password that it has printed.
//
// spec: DASH-03
func TestTwoFirstStarts(t *testing.T) {
	store := newStore(t)
	first := startOn(t, store)
	second := startOn(t, &starting{engine: store, empty: true, put: func() error { return nil }})
	require.NotEqual(t, first.password(), second.password())
	require.Equal(t, 1, strings.Count(second.printed.String(), "The password above is not valid"))
	require.NotContains(t, first.printed.String(), "not valid")
	require.Equal(t, http.StatusUnauthorized, first.browser().signIn("admin", second.password()).status)
	require.Equal(t, http.StatusSeeOther, first.browser().signIn("admin", first.password()).status)
}
