package recipes

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/namespace"
)

func TestMain(m *testing.M) {
	harness.TestsAtOnce(len(recipes))
	harness.VerifyMain(m)
}

// insideEnv is set in the process that runs in the namespaces.
const insideEnv = "QOS_RECIPES_INSIDE"

// isolated runs do in namespaces of its own, in which loopback is the only network, /var/lib is empty and /proc has only
// the processes of the test: it runs this test again in a process there. Without the right to namespaces the
// test cannot run.
func isolated(t *testing.T, do func(*testing.T)) {
	t.Helper()
	if os.Getenv(insideEnv) != "" {
		require.NoError(t, namespace.LoopbackUp())
		require.NoError(t, syscall.Mount("tmpfs", "/var/lib", "tmpfs", 0, "size=256m"))
		require.NoError(t, syscall.Mount("proc", "/proc", "proc", 0, "")) // else a collector finds another process by its id
		do(t)
		return
	}
	runtime.LockOSThread() // for Isolate
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), insideEnv+"=1", "QOS_COLLECTOR="+harness.Binary(t))
	namespace.Isolate(cmd, syscall.CLONE_NEWNS|syscall.CLONE_NEWPID)
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		testenv.Missing(t, fmt.Errorf("the right to namespaces is missing (root has it): %w", err))
	}
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name()+" ", "it ran")
}
