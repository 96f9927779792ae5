package appsextension

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"
)

// tokens are the bearer tokens that may manage. Who asks reads the newest; one goroutine
// reads their files again.
type tokens struct {
	cfg     []TokenConfig
	files   *files
	now     atomic.Pointer[[]bearer]
	failing bool
}

// bearer is a token's digest: comparing digests takes the same time whatever came.
type bearer struct {
	name   string
	digest [sha256.Size]byte
}

func newTokens(cfg []TokenConfig) (*tokens, error) {
	t := &tokens{cfg: cfg, files: newFiles()}
	return t, t.load()
}

func (t *tokens) load() error {
	var out []bearer
	var errs []error
	for i := range t.cfg {
		at := fmt.Sprintf("tokens[%d]", i)
		text, err := t.files.either(string(t.cfg[i].Token), t.cfg[i].File)
		if err == nil {
			err = checkToken("it", text)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", at, err))
		}
		out = append(out, bearer{name: t.cfg[i].Name, digest: sha256.Sum256([]byte(text))})
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	t.now.Store(&out)
	return nil
}

// refresh reads files that changed. Tokens stay as they were where that fails.
func (t *tokens) refresh(log *zap.Logger) {
	if !t.files.changed() && !t.failing {
		return
	}
	err := t.load()
	if err != nil && !t.failing {
		log.Error("the tokens of the management API cannot be read; those that are known go on", zap.Error(err))
	}
	t.failing = err != nil
}

// name returns whose token a request bears. It compares all, so that the time tells nothing.
func (t *tokens) name(r *http.Request) (name string, ok bool) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	digest := sha256.Sum256([]byte(text))
	for _, b := range *t.now.Load() {
		if subtle.ConstantTimeCompare(digest[:], b.digest[:]) == 1 {
			name, ok = b.name, true
		}
	}
	return name, ok && strings.EqualFold(scheme, "Bearer")
}
