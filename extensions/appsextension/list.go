package appsextension

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/access"
	"github.com/qosrtc/qos/internal/jsonapi"
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
	app.Brief
	Unreadable bool `json:"unreadable,omitempty"` // its document; the log says why
}

func (m *management) list(req *request) (jsonapi.Reply, error) {
	after, limit, err := listParameters(req)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	if v := access.From(req.ctx); v != nil && !v.Scope.All {
		return m.listScope(req, v.Scope.Apps, after, limit)
	}
	stored, err := m.registry.settings.SettingsPage(req.ctx, kindApp, after, limit+1)
	if err != nil {
		return jsonapi.Reply{}, err
	}
	apps := m.declaredAfter(after)
	for i := range stored {
		if !m.registry.isDeclared(stored[i].ID) {
			apps = append(apps, briefOf(&stored[i]))
		}
	}
	slices.SortFunc(apps, func(a, b listed) int { return cmp.Compare(a.ID, b.ID) })
	return jsonapi.Reply{Status: http.StatusOK, Body: cut(apps, limit)}, nil
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
func listParameters(req *request) (after string, limit int, err error) {
	limit = defaultPage
	for name, values := range req.URL.Query() {
		switch value := strings.Join(values, " "); name {
		case "after":
			after = value
			if len(after) > protocol.MaxIDBytes {
				err = &app.Fault{Field: name, Limit: "be an AppID", Got: strconv.Itoa(len(after)) + " bytes"}
			}
		case "limit":
			var fault error
			if limit, fault = strconv.Atoi(value); fault != nil || limit < 1 || limit > maxPage {
				err = &app.Fault{Field: name, Limit: "be 1 to " + strconv.Itoa(maxPage), Got: strconv.Quote(clip(value))}
			}
		default:
			err = &app.Fault{Field: clip(name), Limit: "be left out: known here are after, limit", Got: "a parameter"}
		}
	}
	return after, limit, err
}

func (m *management) declaredAfter(after string) (out []listed) {
	apps := m.registry.now.Load().apps
	for i := range m.registry.cfg.Apps {
		if id := m.registry.cfg.Apps[i].ID; id > after {
			brief := apps[id].doc.Brief(id)
			brief.Declared = true
			out = append(out, listed{Brief: brief})
		}
	}
	return out
}

func briefOf(s *storage.Setting) listed {
	doc, err := app.Decode(s.Body)
	if err != nil {
		return listed{Brief: app.Brief{ID: s.ID, ChangedAt: s.ChangedAt, Revision: s.Revision}, Unreadable: true}
	}
	brief := doc.Brief(s.ID)
	brief.ChangedAt, brief.Revision = s.ChangedAt, s.Revision
	return listed{Brief: brief}
}
