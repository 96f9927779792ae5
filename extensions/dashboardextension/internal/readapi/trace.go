package readapi

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// maxTraceReads bounds the pages of the listing that are read to find one trace ID: this many
// times maxLimit conferences at the same time. A request with the app needs fewer.
const maxTraceReads = 50

// trace redirects to the conference of a trace ID, which an exemplar of a metric has, at a time.
// The trace ID is a hash: it is compared with those of the conferences around that time.
func (a *API) trace(w http.ResponseWriter, r *http.Request) {
	id, err := hex.DecodeString(r.PathValue("trace"))
	p := readParameters(r)
	app, at := p.text("app"), p.time("at")
	p.required("at")
	switch {
	case err != nil || len(id) != len(semconv.TraceID("", "")):
		http.Error(w, "trace must be 32 hexadecimal digits", http.StatusBadRequest)
		return
	case p.err != nil:
		http.Error(w, p.err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	c, err := a.byTrace(ctx, [16]byte(id), app, at, a.view(r.Context()).scope)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		http.Error(w, "no conference has this trace at that time", http.StatusNotFound)
	case err != nil:
		a.log.Warn("a trace cannot be looked up in the store", zap.Error(err))
		http.Error(w, "the store does not answer", http.StatusServiceUnavailable)
	default:
		query := url.Values{"app": {c.AppID}, "id": {c.ConferenceID}, "at": {strconv.FormatInt(c.Start.UnixMilli(), 10)}}
		http.Redirect(w, r, "../conference?"+query.Encode(), http.StatusFound)
	}
}

// byTrace returns the conference of a trace ID that contains at, or is nearest to it.
func (a *API) byTrace(ctx context.Context, id [16]byte, app string, at time.Time, scope access.Scope) (storage.Conference, error) {
	around := instance.Gap * time.Millisecond
	query := storage.Query{AppID: app, From: at.Add(-around), To: at.Add(around), Limit: maxLimit}
	for range maxTraceReads {
		page, err := a.list(ctx, query, scope)
		if err != nil {
			return storage.Conference{}, err
		}
		for _, c := range page.Conferences {
			if semconv.TraceID(c.AppID, c.ConferenceID) == id {
				return c, nil // others of this conferenceID are at least Gap away
			}
		}
		if page.Next == (storage.Cursor{}) {
			break
		}
		query.Before = page.Next
	}
	return storage.Conference{}, storage.ErrNotFound
}
