package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"

	"github.com/qosrtc/qos/agent"
)

const keygenUsage = `qos-agent keygen [--algorithm=ES256] FILE

Makes a key, writes it to FILE (mode 0600; a file that is there is left alone) and prints
what to register for the app: keyID, algorithm, and the public key as PEM. An HS256 secret,
for registries that want one, is shared: it is not printed, FILE holds it in a line of text.
`

func keygen(args []string, s streams) error {
	flags := flag.NewFlagSet("keygen", flag.ContinueOnError)
	flags.Usage = func() { _, _ = fmt.Fprint(s.err, keygenUsage) }
	algorithm := flags.String("algorithm", string(agent.ES256), "")
	if err := parse(flags, args, s); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("keygen needs the name of one file: %w", errUsage)
	}
	key, err := generate(agent.Algorithm(*algorithm))
	if err != nil {
		return err
	}
	text, err := key.MarshalPrivate()
	if err != nil {
		return err
	}
	if err := create(flags.Arg(0), text); err != nil {
		return err
	}
	return announce(key, flags.Arg(0), s)
}

func generate(algorithm agent.Algorithm) (*agent.Key, error) {
	switch algorithm {
	case agent.ES256:
		return agent.GenerateKey()
	case agent.HS256:
		return agent.GenerateSecretKey()
	default:
		return nil, fmt.Errorf("there is no algorithm %q, only ES256 and HS256: %w", algorithm, errUsage)
	}
}

// create writes a new file and never an old one.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // G304: the operator names it
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; a key is not overwritten", path)
	}
	if err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the key: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}

func announce(key *agent.Key, path string, s streams) error {
	_, _ = fmt.Fprintf(s.err, "The key is in %s. Register this for the app:\n\n", path)
	_, _ = fmt.Fprintf(s.out, "keyID: %s\nalgorithm: %s\n", key.ID(), key.Algorithm())
	if key.Algorithm() == agent.HS256 {
		_, _ = fmt.Fprintln(s.err, "\nThe secret is in the file, in the line \"secret: …\": register those characters.")
		return nil
	}
	public, err := key.MarshalPublic()
	if err != nil {
		return err
	}
	_, err = s.out.Write(public)
	return err
}
