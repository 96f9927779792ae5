// Package authtest is a client of the handshake for tests. It is written against
// docs/protocol.md alone and shares no code with the server's half.
package authtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/xdg-go/scram"
	"golang.org/x/text/unicode/norm"

	"github.com/qosrtc/qos/protocol"
)

// Login runs the app-secret handshake against the back-end and returns its answer: the
// session token, and the id of a session that begins with it. A refusal comes back as a *protocol.Error. An empty origin sends none.
func Login(ctx context.Context, client *http.Client, backendURL, origin, appID, secret string, userID protocol.UserID) (*protocol.TokenReply, error) {
	user, err := scram.SHA256.NewClientUnprepped(appID, norm.NFKC.String(secret), "")
	if err != nil {
		return nil, err
	}
	conversation := user.NewConversation()
	clientFirst, err := conversation.Step("")
	if err != nil {
		return nil, err
	}
	door := door{client, strings.TrimSuffix(backendURL, "/") + "/auth", origin}
	first, err := post[*protocol.ScramReply](ctx, door, map[string]any{
		"type": protocol.TypeScramFirst, "appID": appID, "userID": wireUserID(userID), "scram": clientFirst,
	})
	if err != nil {
		return nil, err
	}
	clientFinal, err := conversation.Step(first.Scram)
	if err != nil {
		return nil, err
	}
	final, err := post[*protocol.TokenReply](ctx, door, map[string]any{
		"type": protocol.TypeScramFinal, "state": first.State, "scram": clientFinal,
	})
	if err != nil {
		return nil, err
	}
	if _, err := conversation.Step(final.Scram); err != nil {
		return nil, fmt.Errorf("the server did not prove that it knows the secret: %w", err)
	}
	return final, nil
}

func wireUserID(u protocol.UserID) any {
	if u.Name == u.Alias {
		return u.Name
	}
	return map[string]string{"userName": u.Name, "aliasName": u.Alias}
}

// door is where the messages of a handshake go.
type door struct {
	client *http.Client
	url    string
	origin string
}

// post sends one message and returns the answer.
func post[T any](ctx context.Context, d door, message any) (T, error) {
	var none T
	body, err := json.Marshal(message)
	if err != nil {
		return none, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(body))
	if err != nil {
		return none, err
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	if d.origin != "" {
		req.Header.Set("Origin", d.origin)
	}
	res, err := d.client.Do(req)
	if err != nil {
		return none, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, protocol.MaxFrameBytes))
	if err != nil {
		return none, err
	}
	decoded, err := protocol.DecodeServer(answer)
	if err != nil {
		return none, fmt.Errorf("status %d: %w", res.StatusCode, err)
	}
	switch m := decoded.(type) {
	case *protocol.Refusal:
		return none, &m.Error
	case T:
		return m, nil
	}
	return none, fmt.Errorf("status %d: unexpected answer %T", res.StatusCode, decoded)
}
