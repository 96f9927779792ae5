package openid

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// maxCodeBytes is the longest code that is sent to the provider.
const maxCodeBytes = 4 << 10

// Codes of OAuth 2.0 and OpenID Connect by which a provider says that it did not sign the user in.
var (
	denials = []string{
		"access_denied", "login_required", "interaction_required", "consent_required", "account_selection_required",
	}
	outages  = []string{"temporarily_unavailable", "server_error"}
	refusals = []string{
		"invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope", "invalid_client", "unmet_authentication_requirements",
	}
)

// check returns the fault of an answer. The issuer is first: what another provider says counts nothing.
func (p *provider) check(a Answer) error {
	const stage = "authorization"
	switch {
	case a.Issuer != "" && a.Issuer != p.issuer:
		return failure(Invalid, stage, "the answer is of another provider")
	case a.Issuer == "" && p.names:
		return failure(Invalid, stage, "the answer does not name its provider, which it announces to do")
	case slices.Contains(denials, a.Error):
		return failure(Denied, stage, "the provider answers %s", a.Error)
	case slices.Contains(outages, a.Error):
		return failure(Away, stage, "the provider answers %s", a.Error)
	case slices.Contains(refusals, a.Error):
		return failure(Setup, stage, "the provider answers %s", a.Error)
	case a.Error != "":
		return failure(Invalid, stage, "the answer is an error that OpenID Connect does not define")
	case a.Code == "" || len(a.Code) > maxCodeBytes:
		return failure(Invalid, stage, "the answer must have a code of 1 to %d bytes (got %d)", maxCodeBytes, len(a.Code))
	}
	return nil
}

// exchange trades the code for tokens.
func (c *Client) exchange(ctx context.Context, p *provider, code, verifier string) (*oauth2.Token, error) {
	const stage = "exchange"
	token, err := p.oauth.Exchange(oidc.ClientContext(ctx, c.http), code, oauth2.VerifierOption(verifier))
	if err == nil {
		return token, nil
	}
	answer, outside := new(oauth2.RetrieveError), new(url.Error)
	switch {
	case errors.As(err, &answer):
		said := answer.ErrorCode
		if said == "" {
			said = http.StatusText(answer.Response.StatusCode)
		}
		kind := Setup
		if answer.ErrorCode == "invalid_grant" {
			kind = Stale
		} else if answer.Response.StatusCode >= 500 || answer.Response.StatusCode == http.StatusTooManyRequests {
			kind = Away
		}
		return nil, failure(kind, stage, "the token endpoint answers %d %s", answer.Response.StatusCode, quoted(said))
	case errors.Is(err, errPlain), errors.Is(err, errRedirect):
		return nil, failure(Setup, stage, "%w", err)
	case errors.As(err, &outside), ctx.Err() != nil:
		return nil, failure(Away, stage, "%w", err)
	}
	return nil, failure(Invalid, stage, "the answer of the token endpoint has no token")
}
