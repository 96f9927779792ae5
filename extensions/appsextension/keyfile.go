package appsextension

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/identity/auth"
)

// readOrMakeKey reads the master key, or makes one where the file does not exist.
func readOrMakeKey(path string) (key []byte, made bool, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(path); err != nil {
			return nil, false, err
		}
		made = true
		text, err = os.ReadFile(path) //nolint:gosec // same
	}
	if err != nil {
		return nil, false, err
	}
	if key, err = parseKey(string(text)); err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return key, made, nil
}

// makeTokens makes the files of tokens that do not exist, each with a random token.
func (r *registry) makeTokens(tokens []TokenConfig) error {
	for i := range tokens {
		path := tokens[i].File
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			continue // the reader reports what else may be wrong
		}
		if err := makeKey(path); err != nil {
			return fmt.Errorf("tokens[%d]: %w", i, err)
		}
		r.logger.Info("made a new token of the management API", zap.String("name", tokens[i].Name), zap.String("token_file", path))
	}
	return nil
}

// makeKey writes base64 of random bytes so that the file is there whole or not at all, and
// never over one that another process made meanwhile.
func makeKey(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".qos-key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // all that is left to do
	key := make([]byte, auth.MinKeyBytes)
	rand.Read(key)
	_, err = file.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Link(file.Name(), path); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
