package address

import (
	"bytes"
	"encoding/json"
	"net"
	"strings"
)

// maxListed bounds the addresses of one list.
const maxListed = 16

// Members cuts the addresses in a JSON object of known members: each text of a member whose name
// ends in address or addresses, in any case and depth, without repetitions, and the hardware
// address of a Wi-Fi access point (bssid), which keeps the manufacturer's part. It removes values
// of these members that are no addresses or that the policy drops. It cuts all other texts like
// Text. Data that is no object becomes an empty one.
func (p *Policy) Members(data []byte) string {
	if p.mode == Keep {
		return string(data)
	}
	object, ok := decode(data)
	if !ok {
		return "{}"
	}
	if p.walk(object) {
		data = encode(object)
	}
	return p.Text(string(data))
}

// Except cuts every address in a JSON object like Text, except in the members with these names.
func (p *Policy) Except(data []byte, names ...string) string {
	cut := p.Text(string(data))
	if cut == string(data) {
		return cut
	}
	before, ok := decode(data)
	after, _ := decode([]byte(cut))
	if !ok || after == nil {
		return "{}"
	}
	for _, name := range names {
		if whole, given := before[name]; given {
			after[name] = whole
		}
	}
	return string(encode(after))
}

func decode(data []byte) (object map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err := d.Decode(&object)
	return object, err == nil && object != nil
}

func encode(object map[string]any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)       // an escape is longer
	if e.Encode(object) != nil { // what was decoded can be encoded
		return []byte("{}")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}

// walk cuts the addresses of an object's members, and reports whether there were any.
func (p *Policy) walk(object map[string]any) (changed bool) {
	for name, value := range object {
		cut := p.cutter(name)
		if cut == nil {
			changed = p.walkValue(value) || changed
			continue
		}
		changed = true
		if kept := cutValue(value, cut); kept != nil {
			object[name] = kept
		} else {
			delete(object, name)
		}
	}
	return changed
}

// cutter returns the function that cuts the value of a member, nil for a member without addresses.
func (p *Policy) cutter(name string) func(string) (string, bool) {
	lower := strings.ToLower(name)
	switch {
	case strings.HasSuffix(lower, "bssid"):
		return p.cutHardware
	case strings.HasSuffix(lower, "address"), strings.HasSuffix(lower, "addresses"):
		return p.Cut
	}
	return nil
}

// cutHardware keeps the manufacturer's part of a hardware address: the rest locates the access
// point, and so the user.
func (p *Policy) cutHardware(text string) (string, bool) {
	a, err := net.ParseMAC(text)
	if err != nil || p.mode == Drop {
		return "", false
	}
	clear(a[3:])
	return a.String(), true
}

func (p *Policy) walkValue(value any) (changed bool) {
	switch v := value.(type) {
	case map[string]any:
		return p.walk(v)
	case []any:
		for _, one := range v {
			changed = p.walkValue(one) || changed
		}
	}
	return changed
}

// cutValue returns an address or a list of them, cut and without repetitions; nil if there is none.
func cutValue(value any, cut func(string) (string, bool)) any {
	switch v := value.(type) {
	case string:
		if kept, ok := cut(v); ok {
			return kept
		}
	case []any:
		seen, list := map[string]bool{}, []string{}
		for _, one := range v {
			text, _ := one.(string)
			if kept, ok := cut(text); ok && !seen[kept] && len(list) < maxListed {
				seen[kept] = true
				list = append(list, kept)
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}
