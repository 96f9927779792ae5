package agent

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// Claims are those of interface document 5.2, in its order. Times are NumericDates in whole
// seconds.
type Claims struct {
	AppID     string `json:"appID"`
	UserID    string `json:"userID"`
	KeyID     string `json:"keyID"`
	IssuedAt  int64  `json:"iat"`
	ExpiresAt int64  `json:"exp"`
	NotBefore int64  `json:"nbf"`
	ID        string `json:"jti"`
}

// NewClaims returns the claims of one token, with a random jti. nbf lies as far back as
// backdate says and iat at now, so that a collector whose clock is behind takes it.
func NewClaims(appID, userID string, now time.Time, lifetime, backdate time.Duration) Claims {
	return Claims{
		AppID: appID, UserID: userID, IssuedAt: now.Unix(),
		ExpiresAt: now.Add(lifetime).Unix(), NotBefore: now.Add(-backdate).Unix(),
		ID: rand.Text(), // at least 128 bits
	}
}

// Sign makes the JWT. It sets KeyID, which cannot differ from the key that signs.
func (k *Key) Sign(claims *Claims) (string, error) {
	claims.KeyID = k.id
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("write the claims: %w", err)
	}
	encoded := base64.RawURLEncoding
	signed := append(make([]byte, 0, len(k.header)+2+encoded.EncodedLen(len(payload)+64)), k.header...)
	signed = encoded.AppendEncode(append(signed, '.'), payload)
	signature, err := k.method.Sign(string(signed), k.private)
	if err != nil {
		return "", fmt.Errorf("sign with the %s: %w", k, err)
	}
	return string(encoded.AppendEncode(append(signed, '.'), signature)), nil
}

// CheckUserID reports what interface document 2.1 and 2.2 have against a userID or a
// userName, without quoting it.
func CheckUserID(id string) error {
	switch {
	case id == "":
		return errors.New("the userID is empty")
	case !utf8.ValidString(id):
		return errors.New("the userID is not UTF-8")
	case len(id) > MaxUserIDBytes && utf8.RuneCountInString(id) > MaxUserNameChars:
		return fmt.Errorf("the userID has more than %d bytes, and more than the %d characters of a userName", MaxUserIDBytes, MaxUserNameChars)
	}
	return nil
}
