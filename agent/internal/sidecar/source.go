package sidecar

import (
	"context"
	"errors"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/config"
	"github.com/qosrtc/qos/agent/internal/who"
)

// loginSource names the user who is logged in. ready, run and close manage its connections.
type loginSource struct {
	who   agent.Who
	ready func() error
	run   func(ctx context.Context, failed func(error))
	close func()
}

func newLoginSource(c *config.Config) (loginSource, error) {
	w := loginSource{ready: func() error { return nil }, run: func(context.Context, func(error)) {}, close: func() {}}
	switch c.Who {
	case config.WhoHeader:
		header, err := who.NewHeader(c.Header, c.KeyPermissions())
		if err != nil {
			return w, err
		}
		w.who = header.Who
	case config.WhoURL:
		url, err := who.NewURL(c.URL)
		if err != nil {
			return w, err
		}
		w.who, w.close = url.Who, url.Close
	case config.WhoOIDC:
		oidc, err := who.NewOIDC(c.OIDC)
		if err != nil {
			return w, err
		}
		w.who, w.close, w.run, w.ready = oidc.Who, oidc.Close, oidc.Run, oidc.Ready
	default:
		return w, errors.New("who: must be header, url or oidc") // Validate refuses it before
	}
	return w, nil
}
