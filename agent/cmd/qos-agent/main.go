// Command qos-agent makes the tokens of third-party authentication beside an origin server;
// docs/agent.md is the guide.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/qosrtc/qos/agent"
)

const usage = `qos-agent makes tokens for pages of your origin server.

  qos-agent serve        [--config=FILE] [--key=value ...]   serve POST /token
  qos-agent keygen       [--algorithm=ES256] FILE            make a key, print what to register
  qos-agent verify       [--key=FILE] [FILE]                 explain a token (standard input)
  qos-agent healthcheck  [--config=FILE] [--key=value ...]   ask the running agent if it is ready
  qos-agent version

Each with --help says more.
`

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) (string, bool)
}

// errUsage is a command that was called wrongly.
var errUsage = errors.New("see qos-agent --help")

func main() {
	code := run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr, os.LookupEnv})
	os.Exit(code) //nolint:forbidigo // the one place
}

// run is the program, with its exit code.
func run(args []string, s streams) int {
	err := command(args, s)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintln(s.err, "qos-agent:", err)
		return exitUsage
	default:
		_, _ = fmt.Fprintln(s.err, "qos-agent:", err)
		return exitFailed
	}
}

func command(args []string, s streams) error {
	if len(args) == 0 {
		_, _ = fmt.Fprint(s.err, usage)
		return errUsage
	}
	switch args[0] {
	case "serve":
		return serve(args[1:], s)
	case "keygen":
		return keygen(args[1:], s)
	case "verify":
		return verify(args[1:], s)
	case "healthcheck":
		return healthcheck(args[1:], s)
	case "version", "--version":
		_, _ = fmt.Fprintln(s.out, agent.Version)
		return nil
	case "help", "--help", "-h":
		_, _ = fmt.Fprint(s.out, usage)
		return nil
	default:
		return fmt.Errorf("there is no command %q: %w", args[0], errUsage)
	}
}

// parse reads the flags of a command.
func parse(f *flag.FlagSet, args []string, s streams) error {
	f.SetOutput(s.err)
	err := f.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return fmt.Errorf("%w: %w", err, errUsage)
}
