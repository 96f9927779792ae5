package readapi

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/gzipped"
	"github.com/qosrtc/qos/storage"
)

const (
	// maxExported bounds the conferences of one export.
	maxExported = 10_000
	// maxConcurrentExports bounds the exports that are written at the same time; others wait.
	maxConcurrentExports = 2
	// maxPages bounds the pages of one export: a search by a reason, and one for large conferences, has pages with few rows.
	maxPages = 200
)

// format writes an export in one form.
type format struct {
	name, contentType string
	begin             func(e *export) error
	row               func(e *export, row *conferenceRow, n int) error
	end               func(e *export, stopped *stop) error
}

// stop is where an export ended before its search did.
type stop struct {
	rows int
	to   int64 // the search with this parameter to finds the others
}

func stopAt(rows int, startMs int64) *stop { return &stop{rows, startMs + 1} }

// export is one download.
type export struct {
	w      io.Writer
	search *search
	at     time.Time
}

// exported returns the handler of an export: all pages of a search, up to maxExported conferences.
func (a *API) exported(f format) http.Handler {
	return a.serveStream(func(w http.ResponseWriter, r *http.Request) (func() error, error) {
		s, err := a.search(r.Context(), r)
		if err != nil {
			return nil, err
		}
		for _, field := range namesOf(rolePaging) {
			if r.URL.Query().Has(field) {
				return nil, &badParameter{field, "is not a parameter of an export, which has all pages"}
			}
		}
		s.query.Limit = maxLimit
		s.entry.Body = map[string]any{"export": f.name}
		if err := a.audit(r.Context(), s.entry); err != nil {
			return nil, err
		}
		first, err := a.nextRows(r.Context(), s)
		if err != nil {
			return nil, err
		}
		return func() error { return a.export(w, r, f, s, first) }, nil
	})
}

// nextRows reads the rows of a page of a search, and moves the search behind it. A reader that is slow to take them holds
// no room.
func (a *API) nextRows(ctx context.Context, s *search) ([]conferenceRow, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	ctx, end := a.room.charged(ctx)
	defer end()
	page, err := a.find(ctx, s)
	s.query.Before = page.Next
	return a.rows(s, page.Conferences, func([]string) {}), err
}

// export writes an export whose first page was read.
func (a *API) export(w http.ResponseWriter, r *http.Request, f format, s *search, page []conferenceRow) (err error) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Disposition", `attachment; filename="conferences.`+f.name+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	e := &export{w: w, search: s, at: a.now()}
	if gzipped.AcceptedBy(r) {
		h.Set("Content-Encoding", "gzip")
		zipped, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level exists
		defer func() {
			if err == nil {
				err = zipped.Close()
			}
		}()
		e.w = zipped
	}
	if err := f.begin(e); err != nil {
		return err
	}
	rows, control := 0, http.NewResponseController(w)
	for pages := 1; ; pages++ {
		// The server's own write timeout is for whole answers.
		if err := control.SetWriteDeadline(time.Now().Add(readTimeout + writeTimeout)); err != nil {
			return err
		}
		for i := range page {
			if rows == maxExported {
				return f.end(e, stopAt(rows, page[i].StartAt))
			}
			if err := f.row(e, &page[i], rows); err != nil {
				return err
			}
			rows++
		}
		next := s.query.Before
		if next == (storage.Cursor{}) {
			return f.end(e, nil)
		}
		if rows == maxExported || pages == maxPages {
			return f.end(e, stopAt(rows, next.Start.UnixMilli()))
		}
		if page, err = a.nextRows(r.Context(), s); err != nil {
			a.telemetry.QosdashboardStoreErrors.Add(r.Context(), 1)
			a.log.Error("an export was not completed", zap.String("path", r.URL.Path), zap.Error(err))
			return err
		}
	}
}

// serveStream is serve for answers that are written in pieces. What prepare returns writes them; after an error of it the
// connection is closed, so that no reader takes a part for the whole.
func (a *API) serveStream(prepare func(w http.ResponseWriter, r *http.Request) (func() error, error)) http.Handler {
	turns := make(chan struct{}, maxConcurrentExports)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-r.Context().Done():
			return
		}
		write, err := prepare(w, r)
		if err != nil {
			a.serve(func(context.Context, *http.Request) (any, error) { return nil, err })(w, r)
			return
		}
		if write() != nil {
			panic(http.ErrAbortHandler)
		}
	})
}

var (
	csvFormat = format{
		name: "csv", contentType: "text/csv; charset=utf-8; header=present",
		begin: func(e *export) error { return e.csv(columnsOfCSV) },
		row:   func(e *export, row *conferenceRow, _ int) error { return e.csv(csvCells(row)) },
		end: func(e *export, stopped *stop) error {
			if stopped == nil {
				return nil
			}
			cells := make([]string, len(columnsOfCSV))
			cells[0] = fmt.Sprintf("(stopped after %d conferences: export the others with to=%d)", stopped.rows, stopped.to)
			return e.csv(cells)
		},
	}
	jsonFormat = format{
		name: "json", contentType: "application/json",
		begin: func(e *export) error { return e.text(fmt.Sprintf(`{"at":%d,"conferences":[`, e.at.UnixMilli())) },
		row: func(e *export, row *conferenceRow, n int) error {
			text, err := json.Marshal(row)
			if err != nil {
				return err
			}
			separator := ",\n"
			if n == 0 {
				separator = "\n"
			}
			return e.text(separator + string(text))
		},
		end: func(e *export, stopped *stop) error {
			if stopped == nil {
				return e.text("\n],\"complete\":true}\n")
			}
			return e.text(fmt.Sprintf("\n],\"complete\":false,\"nextTo\":%d}\n", stopped.to))
		},
	}
)

func (e *export) text(text string) error {
	_, err := io.WriteString(e.w, text)
	return err
}

// csv writes one record. Its last cell is for readers who may see real names.
func (e *export) csv(cells []string) error {
	if !e.search.view.real {
		cells = cells[:len(cells)-1]
	}
	return e.text(csvLine(cells))
}
