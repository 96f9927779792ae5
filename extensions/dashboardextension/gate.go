package dashboardextension

import (
	"fmt"
	"net/http"

	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/readapi"
	"github.com/qosrtc/qos/internal/identity/access"
)

// keeper is what the dashboard asks of an access extension.
type keeper interface {
	readapi.Keeper
	// Handlers returns the handlers of its routes, by pattern.
	Handlers() map[string]http.Handler
	// Refuse answers a request whose need its visitor does not meet.
	Refuse(w http.ResponseWriter, r *http.Request, v *access.Visitor)
	// CrossSite answers a request that another site's page sent.
	CrossSite(w http.ResponseWriter, r *http.Request)
	// RefuseError answers a request for which Visitor returned an error.
	RefuseError(w http.ResponseWriter, r *http.Request, err error)
}

// manager is what the dashboard asks of an apps extension.
type manager interface {
	readapi.Pseudonyms
	// ManagementHandlers returns the handlers of the management API, by pattern.
	ManagementHandlers() map[string]http.Handler
}

// findKeeper returns the access extension; nil where none is configured.
func (d *dashboard) findKeeper(host component.Host) (keeper, error) {
	if d.cfg.Access == (component.ID{}) {
		return nil, nil // none
	}
	k, ok := host.GetExtensions()[d.cfg.Access].(keeper)
	if !ok {
		return nil, fmt.Errorf("access: extension %q is not an access extension that is listed under service::extensions", d.cfg.Access)
	}
	return k, nil
}

// findManager returns the apps extension; nil where none is configured.
func (d *dashboard) findManager(host component.Host) (manager, error) {
	if d.cfg.Apps == (component.ID{}) {
		return nil, nil // none
	}
	m, ok := host.GetExtensions()[d.cfg.Apps].(manager)
	if !ok {
		return nil, fmt.Errorf("apps: extension %q is not an apps extension that is listed under service::extensions", d.cfg.Apps)
	}
	return m, nil
}

// management returns the handlers of the management API: none without sign-in.
func (d *dashboard) management(m manager, signIn bool) (map[string]http.Handler, error) {
	if m == nil || !signIn {
		return nil, nil
	}
	handlers := m.ManagementHandlers()
	if len(handlers) == 0 {
		return nil, fmt.Errorf("apps: extension %q has no storage, so it has no management API", d.cfg.Apps)
	}
	return handlers, nil
}

// gate serves requests whose visitor meets the need of their route.
type gate struct {
	keeper keeper
	mux    *access.Mux
	cross  *http.CrossOriginProtection
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.cross.Check(r) != nil {
		g.keeper.CrossSite(w, r)
		return
	}
	need, known := g.mux.Need(r)
	if known && need == access.Nothing {
		g.mux.ServeHTTP(w, r)
		return
	}
	v, err := g.keeper.Visitor(r)
	switch {
	case err != nil:
		g.keeper.RefuseError(w, r, err)
	case need == access.Calls && r.URL.Path == "/" && access.Settings.Allows(v) && !need.Allows(v):
		// The first page of an administrator who reads no calls.
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, pathSettings, http.StatusSeeOther)
	case v == nil || known && !need.Allows(v) || v.Token && !g.mux.TakesTokens(r):
		g.keeper.Refuse(w, r, v)
	default:
		g.mux.ServeHTTP(w, r.WithContext(access.With(r.Context(), v)))
	}
}
