package access

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// User is a document of the store. Its name is the id of the setting; that of a user of an identity
// provider is Identity.UserName.
type User struct {
	Roles    []Role `json:"roles"`
	Scope    Scope  `json:"scope"`
	Disabled bool   `json:"disabled,omitempty"`
	// Password is the argon2id hash; empty: the user has none.
	Password string `json:"password,omitempty"`
	// MustChange says that another person knows the password.
	MustChange bool `json:"mustChange,omitempty"`
	// Generation rises with everything that ends all logins of the user.
	Generation int64     `json:"generation"`
	CreatedAt  time.Time `json:"createdAt"`
	PasswordAt time.Time `json:"passwordAt,omitzero"`
	// Identity is the account at an identity provider, which decides Roles and Scope at each sign-in;
	// nil: a local user.
	Identity *Identity `json:"identity,omitempty"`
}

var userName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{0,63}$`)

// UserName returns the form of a user's name under which it is stored.
func UserName(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// CheckUserName returns the fault of a user's name.
func CheckUserName(name string) error {
	if !userName.MatchString(name) {
		return &Fault{Field: "user", Limit: "have 1 to 64 of a-z, 0-9 and ._@+- and begin with a letter or digit", Got: fmt.Sprintf("%d bytes", len(name))}
	}
	return nil
}

// Check returns the fault of a user.
func (u *User) Check() error {
	if err := checkRoles(u.Roles); err != nil {
		return err
	}
	if err := u.Scope.check(); err != nil || u.Identity == nil {
		return err
	}
	if u.Password != "" {
		return &Fault{Field: "password", Limit: "be empty for a user of an identity provider", Got: "one"}
	}
	return u.Identity.Check()
}

// Manages reports whether the user may manage the installation whatever happens to an identity
// provider. A user of one does not: the provider may take the role away or be unavailable.
func (u *User) Manages() bool {
	v := Visitor{Roles: u.Roles, Scope: u.Scope}
	return u.Identity == nil && !u.Disabled && Installation.Allows(&v)
}

// Encode returns the document.
func (u *User) Encode() ([]byte, error) { return json.Marshal(u) } //nolint:gosec // the password is a hash

// DecodeUser reads a document. It refuses members that it does not know: a newer program may have
// written one that takes a right away.
func DecodeUser(body []byte) (u User, err error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&u); err != nil {
		return User{}, err
	}
	return u, u.Check()
}
