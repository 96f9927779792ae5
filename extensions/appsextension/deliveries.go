package appsextension

import (
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/storage"
)

// maxTests bounds the notifications of one webhook that wait while a test is added.
const maxTests = 1000

// delivery is a notification and its last attempt. It has neither its body nor the webhook's URL.
type delivery struct {
	ID          string    `json:"id"` // the webhook-id
	State       string    `json:"state"`
	Reason      string    `json:"reason"`
	CreatedAt   time.Time `json:"createdAt"`
	DueAt       time.Time `json:"dueAt,omitzero"` // of the next attempt
	Attempts    int       `json:"attempts"`
	AttemptedAt time.Time `json:"attemptedAt,omitzero"`
	LatencyMs   int64     `json:"latencyMs"`
	Status      int       `json:"status,omitempty"` // HTTP status of the last attempt
	Error       string    `json:"error,omitempty"`
}

// deliveries is a part of a webhook's notifications, the newest first. Next continues it.
type deliveries struct {
	Deliveries []delivery `json:"deliveries"`
	Next       string     `json:"next,omitempty"`
}

// states are the names of a notification's states, in their order.
var states = []string{"pending", "delivered", "dead"}

func newDelivery(n *storage.Notice) delivery {
	d := delivery{
		ID: n.ID, State: states[n.State], CreatedAt: n.CreatedAt, Attempts: n.Attempts, AttemptedAt: n.AttemptedAt,
		LatencyMs: n.Latency.Milliseconds(), Status: n.Status, Error: n.Error,
	}
	if n.State == storage.NoticePending {
		d.DueAt = n.DueAt
	}
	if m, err := notice.DecodeMessage(n.Body); err == nil {
		d.Reason = string(m.Reason)
	}
	return d
}

// hook checks that the app has the webhook of the path, and that there is a store.
func (m *management) hook(req *request) (string, error) {
	id := req.PathValue("webhook")
	if m.registry.notices == nil {
		return "", jsonapi.NewProblem(http.StatusConflict, "deliveries need a store: set storage")
	}
	hooks := m.registry.Webhooks(req.app)
	if !slices.ContainsFunc(hooks, func(h notice.Hook) bool { return h.ID == id }) {
		return "", jsonapi.NewProblem(http.StatusNotFound, "there is no webhook of this id")
	}
	return id, nil
}

func (m *management) listDeliveries(req *request) (jsonapi.Reply, error) {
	hook, err := m.hook(req)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	q := storage.NoticeQuery{AppID: req.app, Hook: hook, Limit: defaultPage}
	if err := deliveryParameters(req, &q); err != nil {
		return jsonapi.Reply{}, err
	}
	page, err := m.registry.notices.NoticesPage(req.ctx, q)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	out := deliveries{Deliveries: []delivery{}}
	for i := range page {
		out.Deliveries = append(out.Deliveries, newDelivery(&page[i]))
	}
	if len(page) == q.Limit {
		out.Next = strconv.FormatInt(page[len(page)-1].Key, 10)
	}
	return jsonapi.Reply{Status: http.StatusOK, Body: out}, nil
}

// deliveryParameters refuses parameters that it does not know.
func deliveryParameters(req *request, q *storage.NoticeQuery) error {
	for name, values := range req.URL.Query() {
		value := strings.Join(values, " ")
		n, fault := strconv.ParseInt(value, 10, 64)
		switch {
		case name == "state" && slices.Contains(states, value):
			state := storage.NoticeState(slices.Index(states, value))
			q.State = &state
		case name == "state":
			return &jsonobject.Fault{Field: name, Limit: "be one of " + strings.Join(states, ", "), Got: strconv.Quote(clip(value))}
		case name == "before" && fault == nil && n > 0:
			q.Before = n
		case name == "before":
			return &jsonobject.Fault{Field: name, Limit: "be the next of the previous page", Got: strconv.Quote(clip(value))}
		case name == "limit" && fault == nil && n > 0 && n <= maxPage:
			q.Limit = int(n)
		case name == "limit":
			return &jsonobject.Fault{Field: name, Limit: "be 1 to " + strconv.Itoa(maxPage), Got: strconv.Quote(clip(value))}
		default:
			return &jsonobject.Fault{Field: clip(name), Limit: "be left out: known here are before, limit, state", Got: "a parameter"}
		}
	}
	return nil
}

// testWebhook queues a notification with the reason test. The webhook exporter delivers it.
func (m *management) testWebhook(req *request) (jsonapi.Reply, error) {
	hook, err := m.hook(req)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	body, err := notice.TestMessage(req.app, hook, now).Encode()
	if err != nil {
		return jsonapi.Reply{}, err
	}
	n := storage.Notice{ID: notice.ID("test", req.app, hook, rand.Text()), AppID: req.app, Hook: hook, CreatedAt: now, DueAt: now, Body: body}
	done, err := m.registry.notices.AddNotices(req.ctx, []storage.Notice{n}, maxTests)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	if done.New == 0 {
		return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusConflict, "%d notifications wait for this webhook: it takes no test", maxTests)
	}
	m.note(req, "test webhook", zap.String("webhook", hook), zap.String("delivery", n.ID))
	return jsonapi.Reply{Status: http.StatusAccepted, Body: newDelivery(&n)}, nil
}

// replay makes a dead letter pending again, under its id.
func (m *management) replay(req *request) (jsonapi.Reply, error) {
	hook, err := m.hook(req)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	n, err := m.registry.notices.Notice(req.ctx, req.PathValue("delivery"))
	if err == nil && (n.AppID != req.app || n.Hook != hook) {
		err = storage.ErrNoNotice
	}
	if err == nil {
		n.State, n.DueAt, n.Attempts = storage.NoticePending, time.Now().UTC().Truncate(time.Millisecond), 0
		err = m.registry.notices.UpdateNotice(req.ctx, n, storage.NoticeDead)
	}
	switch {
	case errors.Is(err, storage.ErrNoNotice):
		return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusNotFound, "the webhook has no such delivery")
	case errors.Is(err, storage.ErrConflict):
		return jsonapi.Reply{}, jsonapi.NewProblem(http.StatusConflict, "only a dead delivery is replayed")
	case err != nil:
		return jsonapi.Reply{}, err
	}
	m.note(req, "replay", zap.String("webhook", hook), zap.String("delivery", n.ID))
	return jsonapi.Reply{Status: http.StatusAccepted, Body: newDelivery(&n)}, nil
}
