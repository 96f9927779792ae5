// Package authtest is a client of the handshake for tests.
package authtest

import (
	"context"
	"errors"
	"net/http"

	"github.com/qosrtc/qos/protocol"
)

// Login runs the app-secret handshake against the back-end and returns the session
// token. A refusal comes back as a *protocol.Error. An empty origin sends none.
func Login(ctx context.Context, client *http.Client, backendURL, origin, appID, secret string, userID protocol.UserID) (token string, err error) {
	return "", errors.New("not there yet")
}
