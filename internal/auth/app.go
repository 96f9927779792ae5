package auth

// Verifier proves knowledge of one AppSecret without holding it: the SCRAM-SHA-256
// StoredKey and ServerKey of RFC 5802, section 3.
type Verifier struct{ StoredKey, ServerKey []byte }

// App is what authentication knows of one AppID.
type App struct {
	ID         string
	Salt       []byte
	Iterations int
	Verifiers  []Verifier // one a secret; any of them admits
	Origins    []string   // see OriginAllowed; empty: any origin
}

// NewVerifier derives the verifier of a secret.
func NewVerifier(secret string, salt []byte, iterations int) Verifier { return Verifier{} }

// OriginAllowed reports whether origin may speak for the app. An entry of Origins is an
// origin as browsers write it (scheme, host, port unless it is the default one), or has
// a leading label wildcard: https://*.example.org covers every name below example.org,
// but not example.org.
func (a App) OriginAllowed(origin string) bool { return len(a.Origins) == 0 }
