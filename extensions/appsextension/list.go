package appsextension

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

const (
	defaultPage = 50
	maxPage     = 200
)

// page is a part of the list of apps, in the order of their ids' bytes. Next continues it.
type page struct {
	Apps []listed `json:"apps"`
	Next string   `json:"next,omitempty"`
}

// listed is an app in a list.
type listed struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Declared   bool      `json:"declared"`
	Disabled   bool      `json:"disabled"`
	Origins    int       `json:"origins"`
	Secrets    int       `json:"secrets"`
	Keys       int       `json:"keys"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	ChangedAt  time.Time `json:"changedAt,omitzero"`
	Revision   int64     `json:"revision,omitempty"`
	Unreadable bool      `json:"unreadable,omitempty"` // its document; the log says why
}

// listQuery is the apps that a list has.
type listQuery struct {
	after  string // the ID before the first
	limit  int
	filter string // in lower case, a part of the ID or the name; empty: all
}

// has reports whether an app passes the filter.
func (q *listQuery) has(one *listed) bool {
	return q.filter == "" || strings.Contains(strings.ToLower(one.ID), q.filter) || strings.Contains(strings.ToLower(one.Name), q.filter)
}

// matching returns the apps that pass the filter.
func (q *listQuery) matching(apps []listed) []listed {
	return slices.DeleteFunc(apps, func(one listed) bool { return !q.has(&one) })
}

func (m *management) list(req *request) (jsonapi.Reply, error) {
	q, err := listParameters(req)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	if v := access.From(req.ctx); v != nil && !v.Scope.All {
		return m.listScope(req, v.Scope.Apps, q)
	}
	stored, last, err := m.listStored(req, q)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	apps := append(q.matching(m.declaredAfter(q.after)), stored...)
	slices.SortFunc(apps, func(a, b listed) int { return cmp.Compare(a.ID, b.ID) })
	if last == "" {
		return jsonapi.Reply{Status: http.StatusOK, Body: cut(apps, q.limit)}, nil
	}
	apps = slices.DeleteFunc(apps, func(one listed) bool { return one.ID > last }) // apps of the store may precede those
	body := cut(apps, q.limit)
	body.Next = cmp.Or(body.Next, last)
	return jsonapi.Reply{Status: http.StatusOK, Body: body}, nil
}

// maxFiltered is the number of the store's apps that one request reads to filter them.
const maxFiltered = 2 * storage.MaxSettingsPage

// listStored returns the store's apps of a list, and one more if there is one more. If it ended before
// the last app of the store, last is the ID of the last that it has read.
func (m *management) listStored(req *request, q listQuery) (apps []listed, last string, err error) {
	after, read, count := q.after, 0, q.limit+1
	if q.filter != "" {
		count = storage.MaxSettingsPage
	}
	for len(apps) <= q.limit {
		if read >= maxFiltered {
			return apps, after, nil
		}
		page, err := m.registry.settings.SettingsPage(req.ctx, kindApp, after, count)
		if err != nil {
			return nil, "", err
		}
		for i := range page {
			one := listedOf(&page[i])
			if after = one.ID; !m.registry.isDeclared(one.ID) && q.has(&one) {
				apps = append(apps, one)
			}
		}
		if read += len(page); len(page) < count {
			return apps, "", nil
		}
	}
	return apps, "", nil
}

// cut makes a page of apps, in order. Of the store there is one more than it takes, if
// there is one more.
func cut(apps []listed, limit int) page {
	out := page{Apps: append([]listed{}, apps[:min(limit, len(apps))]...)}
	if len(apps) > limit {
		out.Next = apps[limit-1].ID
	}
	return out
}

// listParameters refuses parameters that it does not know.
func listParameters(req *request) (q listQuery, err error) {
	q.limit = defaultPage
	for name, values := range req.URL.Query() {
		switch value := strings.Join(values, " "); name {
		case "after":
			q.after = value
			if len(q.after) > protocol.MaxIDBytes {
				err = &jsonobject.Fault{Field: name, Limit: "be an AppID", Got: strconv.Itoa(len(q.after)) + " bytes"}
			}
		case "filter":
			q.filter = strings.ToLower(value)
			if len(value) > protocol.MaxIDBytes {
				err = &jsonobject.Fault{Field: name, Limit: fmt.Sprintf("have at most %d bytes", protocol.MaxIDBytes), Got: strconv.Itoa(len(value))}
			}
		case "limit":
			var fault error
			if q.limit, fault = strconv.Atoi(value); fault != nil || q.limit < 1 || q.limit > maxPage {
				err = &jsonobject.Fault{Field: name, Limit: "be 1 to " + strconv.Itoa(maxPage), Got: strconv.Quote(clip(value))}
			}
		default:
			err = &jsonobject.Fault{Field: clip(name), Limit: "be left out: known here are after, filter, limit", Got: "a parameter"}
		}
	}
	return q, err
}

func (m *management) declaredAfter(after string) (out []listed) {
	apps := m.registry.now.Load().apps
	for i := range m.registry.cfg.Apps {
		if id := m.registry.cfg.Apps[i].ID; id > after {
			out = append(out, briefOf(apps[id].App, listed{ID: id, Declared: true}))
		}
	}
	return out
}

// listedOf returns what a list has of an app of the store.
func listedOf(s *storage.Setting) listed {
	one := listed{ID: s.ID, ChangedAt: s.ChangedAt, Revision: s.Revision}
	doc, err := app.Decode(s.Body)
	if err != nil {
		one.Unreadable = true
		return one
	}
	return briefOf(doc, one)
}

// briefOf adds what a list has of an app's document.
func briefOf(a *app.App, one listed) listed {
	one.Name, one.Disabled, one.CreatedAt = a.Name, a.Disabled, a.CreatedAt
	one.Origins, one.Secrets, one.Keys = len(a.Origins), len(a.Secrets), len(a.Keys)
	return one
}
