package accessextension

import (
	"errors"
	"net/http"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
	"github.com/qosrtc/qos/storage"
)

// othersManage refuses to take the installation from its last administrator. It writes the document of
// another administrator, unchanged: a request that read this one before, and takes the right away from
// them, then conflicts. So of administrators who demote each other at the same time, one remains.
func (k *keeper) othersManage(c *call) error {
	for range writeTries {
		name, u, revision, err := k.otherManager(c)
		if err != nil {
			return err
		}
		if _, err = k.putUser(c.ctx, name, u, revision); !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return storage.ErrConflict
}

// otherManager returns a user who manages the installation beside the user of the request.
func (k *keeper) otherManager(c *call) (name string, u access.User, revision int64, err error) {
	for after := ""; ; {
		page, err := k.settings.SettingsPage(c.ctx, kindUser, after, 0)
		if err != nil {
			return "", u, 0, err
		}
		for i := range page {
			after = page[i].ID
			if u, err := access.DecodeUser(page[i].Body); err == nil && after != c.user && u.Manages() {
				return after, u, page[i].Revision, nil
			}
		}
		if len(page) < storage.MaxSettingsPage {
			k.Refused(c.ctx, c.visitor, "", access.RequestTarget(c.Request), "last")
			return "", u, 0, jsonapi.NewProblem(http.StatusConflict, "this is the last user of the store who manages the installation")
		}
	}
}
