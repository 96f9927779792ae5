package auth

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/qosrtc/qos/internal/identity/pseudonym"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/protocol"
)

// Iterations is the PBKDF2 count of all apps, known and unknown. It is the smallest that
// RFC 7677 allows: the browser pays for it at each login, and AppSecrets are made by
// machines, so that stretching adds little.
const Iterations = protocol.MinScramIterations

// Verifier proves knowledge of one AppSecret without holding it: the SCRAM-SHA-256
// StoredKey and ServerKey of RFC 5802, section 3.
type Verifier struct {
	ID                   string // names the secret in tokens and in the audit log; tells nothing of it
	StoredKey, ServerKey []byte
}

// VerificationKey checks the tokens that an origin server signs (docs/protocol.md,
// section 3.2). It is good for its own algorithm and no other.
type VerificationKey struct {
	ID        string           // the claim keyID
	Algorithm string           // AlgorithmES256 or AlgorithmHS256
	Public    *ecdsa.PublicKey // ES256: on P-256; nil otherwise
	Secret    []byte           // HS256: at least MinKeyBytes; nil otherwise
}

// The algorithms that a VerificationKey may have.
const (
	AlgorithmES256 = "ES256"
	AlgorithmHS256 = "HS256"
)

// maxLimit bounds numbers: more would limit nothing.
const maxLimit = 1_000_000

// Limits are an app's own throttle numbers, at most maxLimit; where one is 0 the receiver's own is in force.
// Handshakes are counted when they were proved, beside the receiver's own numbers, which
// hold for all AppIDs before that: so these only tighten.
type Limits struct {
	HandshakesPerSecond           float64 `json:"handshakesPerSecond,omitempty" mapstructure:"handshakes_per_second"`                       // of the app, from all addresses
	HandshakesPerSecondPerAddress float64 `json:"handshakesPerSecondPerAddress,omitempty" mapstructure:"handshakes_per_second_per_address"` // those of one address
	HandshakesPerSecondPerUser    float64 `json:"handshakesPerSecondPerUser,omitempty" mapstructure:"handshakes_per_second_per_user"`       // those of one user at one address
	Connections                   int     `json:"connections,omitempty" mapstructure:"connections"`                                         // open WebSockets of the app at one collector
	FramesPerSecond               int     `json:"framesPerSecond,omitempty" mapstructure:"frames_per_second"`                               // numbered frames of one connection
	DailyMiB                      int     `json:"dailyMiB,omitempty" mapstructure:"daily_mib"`                                              // frames of all its clients in a UTC day, at all collectors of a store; 0: no limit
}

// Check reports the first number that is out of range. Fields are named by a tag, json or mapstructure, below name.
func (l Limits) Check(name, tag string) error {
	v := reflect.ValueOf(l)
	for i := range v.NumField() {
		if n := v.Field(i).Convert(reflect.TypeFor[float64]()).Float(); !(n >= 0 && n <= maxLimit) {
			field, _, _ := strings.Cut(v.Type().Field(i).Tag.Get(tag), ",")
			return &jsonobject.Fault{Field: name + "." + field, Limit: fmt.Sprintf("be 0 (the receiver's own) to %d", maxLimit), Got: fmt.Sprint(v.Field(i).Interface())}
		}
	}
	return nil
}

// App is what authentication knows of one AppID.
type App struct {
	ID         string
	Salt       []byte // Keys.Salt(ID), so that unknown apps look the same
	Iterations int    // Iterations, for the same reason
	Verifiers  []Verifier
	Origins    []string          // see OriginAllowed; empty: any origin
	Keys       []VerificationKey // of third-party mode; their IDs differ
	SingleUse  bool              // third-party tokens need a jti and are good once

	Disabled      bool                 // nobody is admitted, from outside as if it did not exist
	RevokedBefore time.Time            // tokens issued before it are not good any more; zero: none
	RevokedUsers  map[string]time.Time // the same for one user, by userName, aliasName or the pseudonym of one
	Limits        Limits
	StatsInterval time.Duration // how often its clients measure; 0: as often as the receiver says

	// Pseudonyms are those of its users, in RevokedUsers and in records; nil: it never had any.
	Pseudonyms *pseudonym.Keys
	// HashUserIDs says that records have pseudonyms in place of user IDs.
	HashUserIDs bool
}

// Recorded returns the keys of the pseudonyms that records have in place of user IDs; nil: they have the IDs.
func (a App) Recorded() *pseudonym.Keys {
	if !a.HashUserIDs {
		return nil
	}
	return a.Pseudonyms
}

// NewVerifier derives the verifier of a secret, which is normalised with NFKC first. Its
// ID follows from secret and salt; a registry that knows better names may set another.
func NewVerifier(secret string, salt []byte, iterations int) Verifier {
	salted, err := pbkdf2.Key(sha256.New, norm.NFKC.String(secret), salt, iterations, sha256.Size)
	if err != nil {
		return Verifier{} // the standard library was asked to refuse; this one admits nobody
	}
	clientKey := mac(salted, "Client Key")
	storedKey := sha256.Sum256(clientKey)
	v := Verifier{StoredKey: storedKey[:], ServerKey: mac(salted, "Server Key")}
	v.ID = v.credential().Print
	return v
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
