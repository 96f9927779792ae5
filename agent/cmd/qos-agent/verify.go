package main

import (
	"cmp"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/explain"
)

const verifyUsage = `qos-agent verify [--key=FILE] [--key_id=ID] [--app_id=ID] [--user_id=ID [--alias=NAME]] [--at=TIME] [FILE]

Explains the token in FILE or on standard input (never as an argument: others see those) and
says what the collector would refuse. With the key file, or the public key as PEM, the
signature is checked; --key_id names a public key that was registered under an id of its own.
--at is a time such as 2026-11-21T12:00:00Z in place of now.
`

// maxInput is more than any token that is taken.
const maxInput = 64 << 10

// errRefused is the exit code of a token that the collector would refuse.
var errRefused = errors.New("the token is not good")

// errNoFile is a file that cannot be read, or a token in its place.
var errNoFile = errors.New("the token's file cannot be read (a token itself is no argument; give it on standard input)")

func verify(args []string, s streams) error {
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	flags.Usage = func() { _, _ = fmt.Fprint(s.err, verifyUsage) }
	keyFile, keyID := flags.String("key", "", ""), flags.String("key_id", "", "")
	var want explain.Expected
	flags.StringVar(&want.AppID, "app_id", "", "")
	flags.StringVar(&want.UserID, "user_id", "", "")
	flags.StringVar(&want.Alias, "alias", "", "")
	at := flags.String("at", "", "")
	if err := parse(flags, args, s); err != nil {
		return err
	}
	now, err := instant(*at)
	if err != nil {
		return err
	}
	if *keyFile != "" {
		key, err := readVerificationKey(*keyFile, *keyID)
		if err != nil {
			return err
		}
		want.Key = key
	}
	token, err := readToken(flags.Args(), s)
	if err != nil {
		return err
	}
	report := explain.Token(token, want, now)
	if _, err := io.WriteString(s.out, report.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if len(report.Refusals) > 0 {
		return errRefused
	}
	return nil
}

func instant(text string) (time.Time, error) {
	if text == "" {
		return time.Now(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("--at: %q is no time such as 2026-11-21T12:00:00Z: %w", text, errUsage)
	}
	return at, nil
}

// readToken reads a token, bare or in the answer of the token endpoint.
func readToken(files []string, s streams) (string, error) {
	in := s.in
	if len(files) > 1 {
		return "", fmt.Errorf("verify explains one token: %w", errUsage)
	}
	if len(files) == 1 && files[0] != "-" {
		f, err := os.Open(files[0])
		if err != nil {
			return "", errNoFile // not err: its path may be a token
		}
		defer f.Close() //nolint:errcheck // nothing was written
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	token = strings.TrimSuffix(strings.TrimPrefix(token, `{"token":"`), `"}`)
	return token, nil
}

// readVerificationKey reads a key file of the agent or a public key.
func readVerificationKey(path, id string) (explain.Key, error) {
	text, err := os.ReadFile(path) //nolint:gosec // G304: the operator names it
	if err != nil {
		return explain.Key{}, fmt.Errorf("--key: %w", err)
	}
	if block, _ := pem.Decode(text); block != nil && block.Type == "PUBLIC KEY" {
		return publicKey(text, id)
	}
	key, err := agent.ParseKey(text)
	if err != nil {
		return explain.Key{}, fmt.Errorf("--key: %w", err)
	}
	return explain.Key{ID: key.ID(), Algorithm: string(key.Algorithm()), Material: key.Material()}, nil
}

func publicKey(text []byte, id string) (explain.Key, error) {
	public, err := jwt.ParseECPublicKeyFromPEM(text)
	if err != nil {
		return explain.Key{}, fmt.Errorf("--key: %w", err)
	}
	thumbprint, err := agent.Thumbprint(public)
	if err != nil {
		return explain.Key{}, fmt.Errorf("--key: %w", err)
	}
	return explain.Key{ID: cmp.Or(id, thumbprint), Algorithm: string(agent.ES256), Material: public}, nil
}
