package readapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/storage"
)

const (
	// maxLive bounds what streams take: a goroutine, a connection and the changes that
	// wait for it each.
	maxLive = 200
	// heartbeat keeps what stands between from taking a quiet stream for a dead one.
	heartbeat = 15 * time.Second
	// writeTimeout cuts a browser that takes nothing any more.
	writeTimeout = 10 * time.Second
	// retry is what browsers wait before they connect again.
	retry = 3 * time.Second
	// retryRefused is the same for those who found no room.
	retryRefused = 30 * time.Second
)

// live streams changes as Server-Sent Events.
type live struct {
	*API
	follower  storage.Follower
	ending    <-chan struct{}        // closed when streams have to end
	places    *budget.Places[string] // of streams, by name of the visitor
	heartbeat time.Duration
}

func newLive(a *API, follower storage.Follower, ending <-chan struct{}) *live {
	return &live{API: a, follower: follower, ending: ending, places: budget.NewPlaces[string](maxLive), heartbeat: heartbeat}
}

// change is the data of a change event.
type change struct {
	App        string `json:"app"`
	Conference string `json:"conference"`
	FromAt     int64  `json:"fromAt"` // the times by which what was written finds its conference
	ToAt       int64  `json:"toAt"`
	Records    int    `json:"records"`
	Summary    bool   `json:"summary"`
}

func (l *live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := readParameters(r)
	filter := storage.Filter{AppID: p.text("app"), ConferenceID: p.text("conference")}
	if p.err != nil {
		l.serve(func(context.Context, *http.Request) (any, error) { return nil, p.err })(w, r)
		return
	}
	who := ""
	if v := access.From(r.Context()); v != nil {
		who = v.Name
	}
	if !l.places.Take(who) {
		l.telemetry.QosdashboardRejectedRequests.Add(r.Context(), 1, reasonStreams)
		w.Header().Set("Retry-After", strconv.Itoa(int(retryRefused/time.Second)))
		l.write(w, r, http.StatusServiceUnavailable, answer{answerError{Message: "Too many pages are being kept up to date. Ask again and again instead."}})
		return
	}
	defer l.places.Leave(who)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would keep events until a buffer is full
	if r.Method == http.MethodHead {
		return
	}
	l.stream(r.Context(), newEventWriter(w), filter, l.newReader(r))
}

// reader is the visitor of a stream, who is checked again while it is open.
type reader struct {
	*live
	request *http.Request
	scope   access.Scope
	checked time.Time
}

func (l *live) newReader(r *http.Request) *reader {
	return &reader{live: l, request: r, scope: l.view(r.Context()).scope, checked: l.now()}
}

// ended checks the visitor again, at most once a second. It reports whether the stream has to end.
func (r *reader) ended() bool {
	now := r.now()
	if r.keeper == nil || now.Sub(r.checked) < time.Second {
		return false
	}
	v, err := r.keeper.Visitor(r.request)
	if err != nil || !access.Calls.Allows(v) {
		return true
	}
	r.scope, r.checked = v.Scope, now
	return false
}

// sees reports whether a change is of an app in scope.
func (r *reader) sees(c storage.Change) bool { return c.CatchUp || r.scope.Has(c.AppID) }

// stream writes changes until the browser goes, the dashboard stops or the store ends it.
// While a write is under way changes wait in the store, which merges and bounds them.
func (l *live) stream(ctx context.Context, out *eventWriter, filter storage.Filter, to *reader) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	changes := make(chan storage.Change)
	wg.Go(func() {
		defer close(changes)
		err := l.follower.Follow(ctx, filter, func(c storage.Change) bool {
			select {
			case changes <- c:
				return true
			case <-ctx.Done():
				return false
			}
		})
		if ctx.Err() == nil {
			l.log.Warn("The store ended a live stream; browsers come again", zap.Error(err))
		}
	})
	ticker := time.NewTicker(l.heartbeat)
	defer ticker.Stop()
	err := out.write(fmt.Sprintf("retry: %d\n\n", retry.Milliseconds()))
	for err == nil {
		select {
		case c, ok := <-changes:
			if !ok {
				return
			}
			if to.ended() {
				return
			}
			if to.sees(c) {
				err = out.write(streamed(c))
			}
		case <-ticker.C:
			if to.ended() {
				return
			}
			err = out.write(": still here\n\n")
		case <-ctx.Done():
			return
		case <-l.ending:
			return
		}
	}
}

// streamed formats a change.
func streamed(c storage.Change) string {
	if c.CatchUp {
		return "event: catchup\ndata: {}\n\n"
	}
	data, _ := json.Marshal(change{ // texts and numbers: it does not fail, and holds no line break
		App: c.AppID, Conference: c.ConferenceID, FromAt: c.From.UnixMilli(), ToAt: c.To.UnixMilli(), Records: c.Records, Summary: c.Summary,
	})
	return "event: change\ndata: " + string(data) + "\n\n"
}

// eventWriter writes to one browser, with a deadline for each write.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func newEventWriter(w http.ResponseWriter) *eventWriter {
	return &eventWriter{w, http.NewResponseController(w)}
}

func (e *eventWriter) write(text string) error {
	// The server's own write timeout is for whole answers and would cut a stream.
	if err := e.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.control.Flush()
}
