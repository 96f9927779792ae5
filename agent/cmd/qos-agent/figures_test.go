package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"debug/elf"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var figures = flag.Bool("figures", false, "measure what docs/agent.md says of the agent's weight; takes half a minute")

// What the agent may weigh. Raise it in the change that needs it, and say why.
const (
	maxBinaryBytes = 10 << 20
	maxRestKB      = 15 << 10
)

// status returns a figure of /proc/PID/status in kB.
func (p *process) status(name string) int {
	p.t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	defer f.Close() //nolint:errcheck // only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			kB, err := strconv.Atoi(strings.Fields(rest)[0])
			require.NoError(p.t, err)
			return kB
		}
	}
	p.t.Fatal(name + " is not in /proc")
	return 0
}

// TestWeight: a small static binary, small in memory at rest.
func TestWeight(t *testing.T) {
	info, err := os.Stat(binary)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(maxBinaryBytes))
	file, err := elf.Open(binary)
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // only read
	require.False(t, slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }), "static: it runs in an empty container")
	if runtime.GOOS == "linux" {
		require.Less(t, start(t, "--who=header").status("VmRSS"), maxRestKB)
	}
}

// TestFigures prints the table of docs/agent.md. Agent and client share the cores with
// whatever else runs, so the figures are compared within one run only.
func TestFigures(t *testing.T) {
	if !*figures {
		t.Skip("only with -figures")
	}
	info, err := os.Stat(binary)
	require.NoError(t, err)
	p := start(t, "--who=header", "--log.level=info")
	rest, private := p.status("VmRSS"), p.status("RssAnon")
	bare := signaturesPerSecond(t)
	tokens, cpu := p.tokensPerCPUSecond()
	t.Logf("binary %.1f MB, start-up %s, at rest %.1f MB RSS (%.1f MB its own), after %d tokens %.1f MB",
		float64(info.Size())/1e6, startUp(t), float64(rest)/1000, float64(private)/1000, tokens, float64(p.status("VmRSS"))/1000)
	perSecond := float64(tokens) / cpu.Seconds()
	t.Logf("bare ES256 signatures %.0f a second of one core; tokens over HTTP %.0f a second of the agent's CPU (%.2f signatures each)", bare, perSecond, bare/perSecond)
}

// startUp is the median time from exec to the first token.
func startUp(t *testing.T) time.Duration {
	t.Helper()
	var took []time.Duration
	for range 15 {
		p := prepare(t)
		began := time.Now()
		p.run("--who=header", "--log.level=info")
		for {
			if conn, err := net.Dial("unix", p.socket()); err == nil {
				conn.Close()
				break
			}
			runtime.Gosched()
		}
		p.token(p.key().Public(), alice...)
		took = append(took, time.Since(began))
		p.signal(syscall.SIGTERM)
		require.NoError(t, p.stops())
	}
	slices.Sort(took)
	return took[len(took)/2].Round(100 * time.Microsecond)
}

// signaturesPerSecond signs on one core and counts CPU time.
func signaturesPerSecond(t *testing.T) float64 {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	digest := sha256.Sum256([]byte("header.payload"))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 50_000
	before := threadCPU(t)
	for range n {
		_, err = ecdsa.SignASN1(rand.Reader, key, digest[:])
	}
	require.NoError(t, err)
	return n / (threadCPU(t) - before).Seconds()
}

func threadCPU(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	const thread = 1 // RUSAGE_THREAD
	require.NoError(t, syscall.Getrusage(thread, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// tokensPerCPUSecond asks for tokens from four connections and returns how many there were
// and what CPU time the agent took for them.
func (p *process) tokensPerCPUSecond() (int, time.Duration) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var work sync.WaitGroup
	var mu sync.Mutex
	tokens := 0
	before := p.cpu()
	for range 4 {
		work.Go(func() {
			n := 0
			for ctx.Err() == nil {
				if status, _, err := p.post(alice...); err == nil && status == 200 {
					n++
				}
			}
			mu.Lock()
			tokens += n
			mu.Unlock()
		})
	}
	work.Wait()
	return tokens, p.cpu() - before
}

// cpu is the agent's CPU time, from /proc (proc(5): fields 14 and 15, in ticks).
func (p *process) cpu() time.Duration {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	hz, err := exec.Command("getconf", "CLK_TCK").Output()
	require.NoError(p.t, err)
	perSecond, err := strconv.Atoi(strings.TrimSpace(string(hz)))
	require.NoError(p.t, err)
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		require.NoError(p.t, err)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / time.Duration(perSecond)
}
