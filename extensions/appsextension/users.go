package appsextension

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/identity/pseudonym"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/storage"
)

const (
	// maxExports bounds the exports that run at the same time: each reads all conferences of its app.
	maxExports = 2
	// linePatience is how long a client may take to read some lines of an export.
	linePatience = time.Minute
	// flushLines is after how many lines an export is sent.
	flushLines = 64
)

// lastLine ends an export. Without it the export is not complete.
type lastLine struct {
	Type     string `json:"type"`
	Complete bool   `json:"complete"`
	Detail   string `json:"detail,omitempty"`
}

// user reads which user a request is about, and checks that there is a store.
func (m *management) user(req *request) (storage.User, error) {
	if m.registry.users == nil {
		return storage.User{}, jsonapi.NewProblem(http.StatusConflict, "users are exported and erased from a store: set storage")
	}
	id, err := app.ReadUserID(req.body)
	return storage.User{AppID: req.app, IDs: m.registry.StoredUserIDs(req.app, id)}, err
}

// exportUser answers with the data of one user, as JSON Lines.
func (m *management) exportUser(req *request) (jsonapi.Reply, error) {
	user, err := m.user(req)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	revoked, err := m.revocations(req, user)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	select {
	case m.registry.exports <- struct{}{}:
	default:
		return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusServiceUnavailable, "%d exports are running: try again later", maxExports)
	}
	m.requested(req, "export")
	m.note(req, "export user", zap.String("user", m.digest(user)))
	req.lines = func(ctx context.Context, put func(any) error) error {
		defer func() { <-m.registry.exports }()
		var failed error
		err := m.registry.users.ExportUser(ctx, user, func(e storage.Exported) bool {
			failed = put(e)
			return failed == nil
		})
		switch {
		case failed != nil:
			return failed
		case errors.Is(err, storage.ErrDamaged):
			m.registry.logger.Warn("an export lacks damaged parts of the store", zap.Error(err))
			return put(lastLine{Type: "end", Detail: "parts of the store are damaged and could not be read; the collector's log names them"})
		case err != nil:
			return err
		}
		for _, one := range revoked {
			if err := put(one); err != nil {
				return err
			}
		}
		return put(lastLine{Type: "end", Complete: true})
	}
	return jsonapi.Reply{}, nil
}

// exportedRevocation is the type of an exported revocation: tokens of the user that were made before a time are refused.
const exportedRevocation = "revocation"

// revocations returns those of a user, as parts of an export. An app that is declared, or was deleted, has none.
func (m *management) revocations(req *request, user storage.User) (all []storage.Exported, err error) {
	have, err := m.registry.read(req.ctx, req.app)
	if errors.Is(err, storage.ErrNoSetting) || m.registry.isDeclared(req.app) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, id := range user.IDs {
		if at, ok := have.doc.RevokedUsers[id]; ok {
			all = append(all, storage.Exported{Type: exportedRevocation, AtMs: at.UnixMilli(), IDs: []string{id}})
		}
	}
	return all, nil
}

// eraseRevocations takes the IDs of a user out of the app's revocations, which stay in force.
func (m *management) eraseRevocations(req *request, user storage.User) error {
	all, err := m.revocations(req, user)
	named := func(r storage.Exported) bool { return !pseudonym.Is(r.IDs[0]) }
	if err != nil || !slices.ContainsFunc(all, named) {
		return err
	}
	_, err = m.edit(req, false, func(a *app.App, _ time.Time) error { return a.EraseRevoked(req.app, user.IDs, m.registry.vault) })
	return err
}

// digest names a user in the audit log without the ID. Who has the key of the installation can compare it with an ID.
func (m *management) digest(user storage.User) string {
	h := hmac.New(sha256.New, m.registry.keys.SaltKey())
	h.Write([]byte("export\x00" + user.AppID + "\x00" + user.IDs[0]))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (m *management) requested(req *request, kind string) {
	m.registry.telemetry.QosappsUserRequests.Add(req.ctx, 1, metric.WithAttributes(attribute.String("kind", kind)))
}

// eraseUser registers an erasure. The store runs it.
func (m *management) eraseUser(req *request) (jsonapi.Reply, error) {
	user, err := m.user(req)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	if err := m.eraseRevocations(req, user); err != nil {
		return jsonapi.Reply{}, err
	}
	e, err := m.registry.users.EraseUser(req.ctx, user)
	if errors.Is(err, storage.ErrFull) {
		return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusConflict, "the store applies at most %d erasures to what arrives late: one ends 30 days after it began", storage.MaxErasures)
	}
	if err != nil {
		return jsonapi.Reply{}, err
	}
	m.requested(req, "erase")
	m.note(req, "erase user", zap.String("erasure", e.ID), zap.String("pseudonym", e.Pseudonym))
	return jsonapi.Reply{Status: http.StatusAccepted, Body: e, Location: pathOf(req.app) + "/users/erasures/" + e.ID}, nil
}

// getErasure answers with the progress of an erasure.
func (m *management) getErasure(req *request) (jsonapi.Reply, error) {
	if m.registry.users == nil {
		return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusNotFound, "there is no such erasure")
	}
	e, err := m.registry.users.Erasure(req.ctx, req.app, req.PathValue("erasure"))
	if errors.Is(err, storage.ErrNoErasure) || errors.Is(err, storage.ErrInvalid) {
		return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusNotFound, "there is no such erasure")
	}
	return jsonapi.Reply{Status: http.StatusOK, Body: e}, err
}

// writeLines writes an answer of JSON Lines. An answer that cannot be completed ends with the connection.
func (m *management) writeLines(w http.ResponseWriter, r *http.Request, write func(context.Context, func(any) error) error) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	control := http.NewResponseController(w)
	out, lines := bufio.NewWriter(w), 0
	flush := func() error {
		_ = control.SetWriteDeadline(time.Now().Add(linePatience)) // a server without deadlines has none to move
		if err := out.Flush(); err != nil {
			return err
		}
		return control.Flush()
	}
	err := write(r.Context(), func(line any) error {
		text, err := json.Marshal(line)
		if err == nil {
			_, err = out.Write(append(text, '\n'))
		}
		if lines++; err == nil && lines%flushLines == 0 {
			err = flush()
		}
		return err
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		m.registry.logger.Error("an export ended early", zap.Error(err))
		panic(http.ErrAbortHandler)
	}
}
