package who

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// readJSON reads one JSON object. Numbers keep their text. A member that is there twice, also in an inner object,
// is refused: the origin server may mean the other one.
func readJSON(text []byte) (map[string]any, error) {
	if err := jsonobject.Check(text); err != nil {
		if twice := new(jsonobject.Fault); errors.As(err, &twice) {
			return nil, errors.New("has a member twice")
		}
		return nil, errors.New("is no JSON object, or has more after it")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, errors.New("is no JSON object, or has more after it")
	}
	return object, nil
}

// user reads who is logged in by the paths of its members; an empty name is nobody.
func user(object map[string]any, namePath, aliasPath string) (agent.User, error) {
	name, err := member(object, namePath)
	if err != nil {
		return agent.User{}, err
	}
	if name == "" {
		return agent.User{}, agent.ErrNotLoggedIn
	}
	if aliasPath == "" {
		return agent.User{Name: name}, nil
	}
	alias, err := member(object, aliasPath)
	return agent.User{Name: name, Alias: alias}, err
}

// member returns a string or a whole number by its path. An absent or null member
// within the path gives "": many servers report an anonymous user so.
func member(object map[string]any, path string) (string, error) {
	var value any = object
	for name := range strings.SplitSeq(path, ".") {
		if value == nil {
			return "", nil
		}
		inner, ok := value.(map[string]any)
		if !ok {
			return "", fmt.Errorf("the path %s does not lead through objects", path)
		}
		value = inner[name]
	}
	return text(value, path)
}

func text(value any, path string) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		// 42 and 42.0 and 4.2e1 would be three users.
		if strings.ContainsAny(v.String(), ".eE") {
			return "", fmt.Errorf("the member %s is no whole number", path)
		}
		return v.String(), nil
	default:
		return "", fmt.Errorf("the member %s is neither text nor a whole number", path)
	}
}
