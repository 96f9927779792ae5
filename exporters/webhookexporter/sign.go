package webhookexporter

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/qosrtc/qos/internal/call/notice"
)

// sign returns the headers of an attempt, with a signature for each secret, so that a receiver may have the old or the
// new one during rotation. PagerDuty has the secret in the body, and Slack and Teams need none.
func sign(hook *notice.Hook, id string, at time.Time, body []byte) (http.Header, error) {
	h := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"qos-webhooks/1"}}
	if hook.Format == notice.PagerDuty {
		return h, nil
	}
	var signatures []string
	for i, secret := range hook.Secrets {
		signer, err := newSigner(secret)
		if err != nil {
			return nil, fmt.Errorf("secret %d: %w", i, err)
		}
		signature, err := signer.Sign(id, at, body)
		if err != nil {
			return nil, err
		}
		signatures = append(signatures, signature)
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	if len(signatures) == 0 {
		return h, nil
	}
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return h, nil
}

// newSigner parses a secret: whsec_ and Base64, as in Standard Webhooks, or other text as its bytes.
func newSigner(secret string) (*standardwebhooks.Webhook, error) {
	if strings.HasPrefix(secret, "whsec_") {
		return standardwebhooks.NewWebhook(secret)
	}
	return standardwebhooks.NewWebhookRaw([]byte(secret))
}
