package agent_test

import (
	"crypto/ecdsa"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// asCollector reads a token as the collector does: ES256 and nothing else, strict base64,
// times checked at now. It is golang-jwt alone, without the agent's code.
func asCollector(t *testing.T, token string, public *ecdsa.PublicKey, now time.Time) (*jwt.Token, jwt.MapClaims) {
	t.Helper()
	claims := jwt.MapClaims{}
	read, err := jwt.NewParser(
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithStrictDecoding(), jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(), jwt.WithTimeFunc(func() time.Time { return now }),
	).ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return public, nil })
	require.NoError(t, err)
	return read, claims
}
