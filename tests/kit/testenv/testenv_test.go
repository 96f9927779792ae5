package testenv

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder keeps how a test would end.
type recorder struct {
	testing.TB
	skipped, failed bool
}

func (*recorder) Helper()                 {}
func (r *recorder) Skip(...any)           { r.skipped = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true }

func TestMissing(t *testing.T) {
	for value, want := range map[string]recorder{"": {skipped: true}, "0": {skipped: true}, "1": {failed: true}} {
		t.Setenv(RequireVariable, value)
		got := recorder{}
		Missing(&got, errors.New("a program is not installed"))
		require.Equal(t, want, got, "%s=%q", RequireVariable, value)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	_, err := Find("qos-no-such-program")
	require.ErrorContains(t, err, "qos-no-such-program is not installed")
	path := filepath.Join(dir, "qos-no-such-program")
	require.NoError(t, os.WriteFile(path, nil, 0o700))
	found, err := Find("qos-no-such-program")
	require.NoError(t, err)
	require.Equal(t, path, found)
	require.Equal(t, path, Program(t, "qos-no-such-program"))
}

func TestPick(t *testing.T) {
	t.Setenv(LongVariable, "")
	require.Equal(t, 1, Pick(1, 2))
	t.Setenv(LongVariable, "1")
	require.Equal(t, 2, Pick(1, 2))
}
