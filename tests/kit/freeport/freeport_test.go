package freeport

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAddress: an address is free, and no other process gets it, whatever its folder of temporary files is. With QOS_TEST_PORT this is the other process.
func TestAddress(t *testing.T) {
	if text := os.Getenv("QOS_TEST_PORT"); text != "" {
		port, err := strconv.Atoi(text)
		require.NoError(t, err)
		free, err := reserve(port)
		require.NoError(t, err)
		require.False(t, free)
		return
	}
	address, err := Address()
	require.NoError(t, err)
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	other := exec.Command(os.Args[0], "-test.run=TestAddress", "-test.v")
	other.Env = append(os.Environ(), "QOS_TEST_PORT="+port, "TMPDIR="+t.TempDir())
	out, err := other.CombinedOutput()
	require.NoError(t, err, string(out))
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	file, _ := held.Load(number)
	require.NoError(t, file.(*os.File).Close())
	free, err := reserve(number)
	require.NoError(t, err)
	require.True(t, free, "the lock ends with the file, as with its process")
}

// TestReleased: a server listens again where it has just closed, while other processes are started.
func TestReleased(t *testing.T) {
	address, err := Address()
	require.NoError(t, err)
	var starts sync.WaitGroup
	defer starts.Wait()
	for range 4 {
		starts.Go(func() {
			for range 150 {
				_ = exec.Command("true").Run() // what it does is nothing here
			}
		})
	}
	for range 2_000 {
		listener, err := net.Listen("tcp", address)
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		require.NoError(t, Released(address))
	}
}
