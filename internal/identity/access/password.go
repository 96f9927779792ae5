package access

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/text/unicode/norm"

	"github.com/qosrtc/qos/internal/serve/throttle"
)

// Bounds of passwords, in characters.
const (
	MinPassword = 12
	MaxPassword = 128
)

// Bounds of the work for passwords: each check takes 19 MiB. Devices that are known and all others have a queue
// each, so a flood from new addresses does not delay known devices. A queue of others is worked off within
// some seconds.
const (
	hashesAtOnce   = 2 // of each queue
	knownWaiting   = 32
	unknownWaiting = 128
)

// argon2 is what OWASP recommends for 19 MiB.
var argon2 = &argon2id.Params{Memory: 19 << 10, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

//go:embed common.txt
var commonText string

// commonPasswords are passwords of at least MinPassword characters that many people have.
var commonPasswords = func() map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(commonText) {
		set[strings.TrimSpace(line)] = true
	}
	return set
}()

// Applicant is for whom a password is computed. The zero value is the collector.
type Applicant struct {
	// Class is the user of a known device, or the network of another one. Classes take turns.
	Class throttle.Key
	// Known says that the user has signed in on the device.
	Known bool
}

// Passwords hashes and checks passwords, a bounded number at a time.
type Passwords struct {
	known, unknown *throttle.Gate
	decoy          string
}

// NewPasswords returns one.
func NewPasswords() (*Passwords, error) {
	decoy, err := argon2id.CreateHash(rand.Text(), argon2)
	return &Passwords{
		known: throttle.NewGate(hashesAtOnce, knownWaiting), unknown: throttle.NewGate(hashesAtOnce, unknownWaiting), decoy: decoy,
	}, err
}

// enter waits in the queue of an applicant. It returns what leaves, or the error of throttle.Gate.Enter.
func (p *Passwords) enter(ctx context.Context, a Applicant) (leave func(), err error) {
	gate := p.unknown
	if a.Known {
		gate = p.known
	}
	return func() { gate.Leave(a.Class) }, gate.Enter(ctx, a.Class)
}

// Hash returns the hash of a password.
func (p *Passwords) Hash(ctx context.Context, a Applicant, password string) (hash string, err error) {
	leave, err := p.enter(ctx, a)
	if err != nil {
		return "", err
	}
	defer leave()
	return argon2id.CreateHash(norm.NFKC.String(password), argon2)
}

// Check reports whether a password has a hash. Without a hash it is false, for the same work.
func (p *Passwords) Check(ctx context.Context, a Applicant, password, hash string) (bool, error) {
	leave, err := p.enter(ctx, a)
	if err != nil {
		return false, err
	}
	defer leave()
	if utf8.RuneCountInString(password) > MaxPassword {
		password = ""
	}
	if hash == "" {
		_, err := argon2id.ComparePasswordAndHash(norm.NFKC.String(password), p.decoy)
		return false, err
	}
	return argon2id.ComparePasswordAndHash(norm.NFKC.String(password), hash)
}

// NewPassword returns a random password of about 100 bits that is easy to copy by hand.
func NewPassword() string {
	text := strings.ToLower(rand.Text())[:20]
	return text[:5] + "-" + text[5:10] + "-" + text[10:15] + "-" + text[15:]
}

// CheckPassword returns the fault of a new password of a user. There are no rules of composition.
func CheckPassword(user, password string) error {
	plain := strings.ToLower(norm.NFKC.String(password))
	n := utf8.RuneCountInString(plain)
	fault := func(limit, got string) error { return &Fault{Field: "password", Limit: limit, Got: got} }
	switch {
	case !utf8.ValidString(password) || strings.ContainsFunc(password, unicode.IsControl):
		return fault("be text without control characters", "others")
	case n < MinPassword || n > MaxPassword || utf8.RuneCountInString(password) > MaxPassword:
		return fault(fmt.Sprintf("have %d to %d characters", MinPassword, MaxPassword), strconv.Itoa(n))
	case commonPasswords[plain]:
		return fault("not be a common password", "one of the list")
	case repetitive(plain):
		return fault("not repeat a few characters", "such a pattern")
	case len(user) > 3 && strings.Contains(plain, user) && n < len(user)+MinPassword/2:
		return fault("not be the user's name with little more", "such a password")
	}
	return nil
}

// repetitive reports whether a text has fewer than five different characters, repeats a beginning
// of up to four characters, or counts up or down.
func repetitive(text string) bool {
	runes := []rune(text)
	different := map[rune]bool{}
	up, down := true, true
	for i, r := range runes {
		different[r] = true
		if i > 0 {
			step := r - runes[i-1]
			up, down = up && (step == 1 || step == -9), down && (step == -1 || step == 9)
		}
	}
	if len(different) < 5 || up || down {
		return true
	}
	for unit := 1; unit <= 6; unit++ {
		whole := strings.Repeat(string(runes[:unit]), len(runes)/unit+1)
		if strings.HasPrefix(whole, text) {
			return true
		}
	}
	return false
}
