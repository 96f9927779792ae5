package address

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxListed bounds the addresses of one list.
const maxListed = 16

// Members cuts the addresses in a JSON object: the texts of members whose name ends in address or
// addresses, in whatever case and depth. What is no address there is dropped. Data without such
// members comes back as it is, data that is no object as an empty one.
func Members(data []byte) []byte {
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&object) != nil || object == nil {
		return []byte("{}")
	}
	if !walk(object) {
		return data
	}
	out, err := json.Marshal(object)
	if err != nil { // what was decoded can be encoded
		return []byte("{}")
	}
	return out
}

// walk cuts the members of an object, and reports whether there were any.
func walk(object map[string]any) (changed bool) {
	for name, value := range object {
		lower := strings.ToLower(name)
		if !strings.HasSuffix(lower, "address") && !strings.HasSuffix(lower, "addresses") {
			changed = walkValue(value) || changed
			continue
		}
		changed = true
		if kept := cutValue(value); kept != nil {
			object[name] = kept
		} else {
			delete(object, name)
		}
	}
	return changed
}

func walkValue(value any) (changed bool) {
	switch v := value.(type) {
	case map[string]any:
		return walk(v)
	case []any:
		for _, one := range v {
			changed = walkValue(one) || changed
		}
	}
	return changed
}

// cutValue returns an address or a list of them, cut, each once; nil where there is none.
func cutValue(value any) any {
	switch v := value.(type) {
	case string:
		if cut, ok := Cut(v); ok {
			return cut
		}
	case []any:
		seen, kept := map[string]bool{}, []string{}
		for _, one := range v {
			text, _ := one.(string)
			if cut, ok := Cut(text); ok && !seen[cut] && len(kept) < maxListed {
				seen[cut] = true
				kept = append(kept, cut)
			}
		}
		if len(kept) > 0 {
			return kept
		}
	}
	return nil
}
