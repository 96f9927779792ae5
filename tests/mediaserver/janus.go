package mediaserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/namespace"
	"github.com/qosrtc/qos/tests/network"
)

// Janus gathers no candidates on loopback, so it gets a bridge, and remote candidates have to be there too.
const janusBridge = "qosjanus"

// The files of Janus's configuration. Rooms have text as IDs, and any participant may create one.
const (
	janusConfig = `
general: { configs_folder = %q; plugins_folder = %q; transports_folder = %q }
nat: { ice_enforce_list = %q }
plugins: { disable = %q }
transports: { disable = %q }
`
	janusWebSockets = `general: { ws = true; ws_port = %d; ws_ip = "127.0.0.1" }`
	janusVideoRoom  = `general: { string_ids = true }`
)

// Janus is a running Janus with its VideoRoom.
type Janus struct {
	URL string // of its signalling: ws://

	process *browser.Process
}

// Process returns the server's process.
func (j *Janus) Process() *browser.Process { return j.process }

// StartJanus starts a Janus and waits until it answers.
func StartJanus(t *testing.T) *Janus {
	t.Helper()
	program := testenv.Program(t, "janus")
	require.NoError(t, namespace.Bridge(janusBridge, network.RelayAddress))
	port, dir := freePort(t), t.TempDir()
	plugins, transports := modules(t, "plugins"), modules(t, "transports")
	for name, text := range map[string]string{
		"janus": fmt.Sprintf(janusConfig, dir, plugins, transports, janusBridge,
			others(t, plugins, "libjanus_videoroom.so"), others(t, transports, "libjanus_websockets.so")),
		"janus.transport.websockets": fmt.Sprintf(janusWebSockets, port),
		"janus.plugin.videoroom":     janusVideoRoom,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".jcfg"), []byte(text), 0o600))
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	process := start(t, "http://"+address, program, "-o", "-F", dir)
	return &Janus{URL: "ws://" + address, process: process}
}

// StartGuest starts a guest that joins a room, which exists.
func (j *Janus) StartGuest(t *testing.T, room, identity string) *browser.Process {
	t.Helper()
	return startGuest(t, "janus", j.URL, room, identity)
}

// modules returns the folder of a kind of Janus's modules.
func modules(t *testing.T, kind string) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/*/janus/" + kind)
	require.NoError(t, err)
	require.NotEmpty(t, found, "Janus has no %s", kind)
	return found[0]
}

// others lists the modules of a folder but one, as Janus's configuration has lists.
func others(t *testing.T, dir, but string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if e.Name() != but {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, ",")
}
