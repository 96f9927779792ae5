package openid

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// Claims are the claims of a user, by name.
type Claims map[string]any

// UnmarshalJSON implements json.Unmarshaler. Numbers are as they are written.
func (c *Claims) UnmarshalJSON(text []byte) error {
	if err := jsonobject.Check(text); err != nil { // two claims of one name: roles of which?
		return err
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		return err
	}
	*c = object
	return nil
}

// Lookup returns a claim: the one of that name, else the one at the path of names with dots between
// them; nil without one. An email address that the provider has not verified is none: users may
// write any.
func (c Claims) Lookup(path string) any {
	if path == "email" && c["email_verified"] != true && c["email_verified"] != "true" {
		return nil
	}
	if value, ok := c[path]; ok {
		return value
	}
	var at any = map[string]any(c)
	for name := range strings.SplitSeq(path, ".") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[name]
	}
	return at
}

// Text returns a claim that is a text; empty without one.
func (c Claims) Text(path string) string {
	text, _ := c.Lookup(path).(string)
	return text
}

// Texts returns the texts of a claim that is a text or a list of texts. Values of other types are left out.
func (c Claims) Texts(path string) (texts []string) {
	switch value := c.Lookup(path).(type) {
	case string:
		return []string{value}
	case []any:
		for _, one := range value {
			if text, ok := one.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// have reports whether all claims are there.
func (c Claims) have(wanted []string) bool {
	for _, path := range wanted {
		if c.Lookup(path) == nil {
			return false
		}
	}
	return true
}
