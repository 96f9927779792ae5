package openid

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// MaxSkew is how far the clocks of provider and collector may differ.
const MaxSkew = 5 * time.Minute

const (
	maxTokenBytes   = 64 << 10
	maxSubjectBytes = 255 // OpenID Connect Core 1.0, section 2
)

// claims returns the claims of the ID token of an answer, and those of the UserInfo endpoint if one of
// the wanted claims is missing.
func (c *Client) claims(ctx context.Context, p *provider, answer *oauth2.Token, nonce string, wanted []string) (Claims, error) {
	raw, _ := answer.Extra("id_token").(string)
	if raw == "" || len(raw) > maxTokenBytes {
		return nil, failure(Invalid, "token", "the answer must have an ID token of 1 to %d bytes (got %d)", maxTokenBytes, len(raw))
	}
	keys := &keySet{remote: p.keys}
	token, err := oidc.NewVerifier(p.issuer, keys, &p.verifies).Verify(ctx, raw)
	if keys.failed != nil || err != nil && ctx.Err() != nil {
		return nil, keysFailure(errors.Join(keys.failed, ctx.Err()))
	}
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), " got ") // what follows is of the token
		return nil, failure(Invalid, "token", "%s", quoted(text))
	}
	var own Claims
	if err := token.Claims(&own); err != nil {
		return nil, failure(Invalid, "token", "the claims cannot be read")
	}
	if err := c.check(token, own, nonce); err != nil {
		return nil, err
	}
	if p.remote.UserInfoEndpoint() == "" || own.have(wanted) {
		return own, nil
	}
	return c.userInfo(ctx, p, token, answer, own)
}

// check holds a token whose signature, issuer and audience are right against this sign-in.
func (c *Client) check(token *oidc.IDToken, own Claims, nonce string) error {
	const stage = "token"
	authorized, named := own["azp"]
	switch {
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1 || nonce == "":
		return failure(Invalid, stage, "the nonce is that of another sign-in")
	case named && authorized != c.set.ClientID:
		return failure(Invalid, stage, "azp is not the client_id")
	case !named && len(token.Audience) > 1:
		return failure(Invalid, stage, "a token for several clients must have azp")
	case token.Subject == "" || len(token.Subject) > maxSubjectBytes:
		return failure(Invalid, stage, "sub must have 1 to %d bytes (got %d)", maxSubjectBytes, len(token.Subject))
	}
	return c.checkTimes(token, own)
}

// checkTimes accepts a token that was issued just now and is in force. Its clock may differ by MaxSkew.
func (c *Client) checkTimes(token *oidc.IDToken, own Claims) error {
	const stage = "token"
	now := c.now()
	for _, name := range []string{"exp", "iat"} {
		if _, ok := own[name].(json.Number); !ok {
			return failure(Invalid, stage, "%s must be a number", name)
		}
	}
	before := time.Time{}
	if number, ok := own["nbf"].(json.Number); ok {
		seconds, err := number.Float64()
		if err != nil || seconds > float64(now.Add(MaxSkew).Unix()) {
			return failure(Clock, stage, "the token is in force only later")
		}
		before = time.Unix(int64(seconds), 0)
	}
	issued, age := token.IssuedAt, now.Sub(token.IssuedAt).Round(time.Second)
	switch {
	case age > MaxSkew || age < -MaxSkew:
		return failure(Clock, stage, "the token was issued at %s: it must be within %s of the collector's time", issued.UTC().Format(time.RFC3339), MaxSkew)
	case !token.Expiry.After(now.Add(-MaxSkew)):
		return failure(Clock, stage, "the token expired at %s", token.Expiry.UTC().Format(time.RFC3339))
	case !token.Expiry.After(before):
		return failure(Invalid, stage, "the token expires before it is in force")
	}
	return nil
}

// userInfo adds the claims of the UserInfo endpoint. Those of the ID token win.
func (c *Client) userInfo(ctx context.Context, p *provider, token *oidc.IDToken, answer *oauth2.Token, own Claims) (Claims, error) {
	const stage = "userinfo"
	if token.AccessTokenHash != "" && token.VerifyAccessToken(answer.AccessToken) != nil {
		return nil, failure(Invalid, stage, "the access token is not that of the ID token (at_hash)")
	}
	info, err := p.remote.UserInfo(oidc.ClientContext(ctx, c.http), oauth2.StaticTokenSource(answer))
	if err != nil {
		return nil, infoFailure(ctx, err)
	}
	var more Claims
	if info.Subject != token.Subject {
		return nil, failure(Invalid, stage, "the answer is about another subject")
	}
	if err := info.Claims(&more); err != nil {
		return nil, failure(Invalid, stage, "the claims cannot be read")
	}
	maps.Copy(more, own)
	return more, nil
}

func keysFailure(err error) *Failure {
	if outside := new(url.Error); errors.As(err, &outside) && !errors.Is(err, errPlain) && !errors.Is(err, errRedirect) {
		return failure(Away, "keys", "%w", outside)
	}
	return failure(Away, "keys", "%s", quoted(err.Error())) // it may contain the whole answer
}

func infoFailure(ctx context.Context, err error) *Failure {
	outside := new(url.Error)
	if errors.As(err, &outside) || ctx.Err() != nil {
		return failure(Away, "userinfo", "%w", err)
	}
	return failure(Invalid, "userinfo", "%s", quoted(err.Error())) // it may contain the whole answer
}
