package access

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of identities.
const (
	maxIssuerBytes  = 2048
	maxSubjectBytes = 255 // OpenID Connect Core 1.0, section 2
	// MaxShownName is the length of a name that pages show, in characters.
	MaxShownName = 80
)

// identityPrefix begins the names of users of an identity provider. No name of a local user has a colon.
const identityPrefix = "oidc:"

// Identity is the account of a user at an identity provider.
type Identity struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
	// Name is that which pages show. It proves nothing: users may choose it at their provider.
	Name string `json:"name"`
}

// UserName returns the name under which a user of an identity provider is stored. It depends on issuer
// and subject only, and no local user can have it.
func (i *Identity) UserName() string {
	hash := sha256.New()
	for _, part := range []string{i.Issuer, i.Subject} {
		_, _ = hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part)))) // a hash does not fail
		_, _ = hash.Write([]byte(part))
	}
	return identityPrefix + hex.EncodeToString(hash.Sum(nil)[:16])
}

// IsIdentityName reports whether a name is that of a user of an identity provider.
func IsIdentityName(name string) bool { return strings.HasPrefix(name, identityPrefix) }

// Check returns the fault of an identity.
func (i *Identity) Check() error {
	for name, part := range map[string]struct {
		text string
		most int
	}{"issuer": {i.Issuer, maxIssuerBytes}, "subject": {i.Subject, maxSubjectBytes}} {
		if part.text == "" || len(part.text) > part.most {
			return &Fault{Field: name, Limit: "have 1 to " + strconv.Itoa(part.most) + " bytes", Got: strconv.Itoa(len(part.text))}
		}
	}
	return nil
}

// ShownName returns a text as pages show it as a name: one line of at most MaxShownName characters,
// without control characters and without those that change the direction of text. It may be empty.
func ShownName(text string) string {
	if len(text) > 16*MaxShownName {
		text = text[:16*MaxShownName]
	}
	text = norm.NFC.String(strings.ToValidUTF8(text, ""))
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > MaxShownName {
		text = string([]rune(text)[:MaxShownName-1]) + "…"
	}
	return text
}
