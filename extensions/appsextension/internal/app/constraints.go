package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/jsonobject"
)

// constraint is the type of a member of MediaTrackConstraintSet (W3C mediacapture-streams).
type constraint struct {
	limit   string               // what a value must be
	valid   func(value any) bool // of a bare value, and of each member
	members []string             // of an object in place of a bare value
}

// The types of constraints.
//
//nolint:gochecknoglobals // constants
var (
	ranges = []string{"min", "max", "exact", "ideal"}
	wishes = []string{"exact", "ideal"}

	constrainULong   = constraint{"be a whole number of at least 0, or an object of min, max, exact, ideal", isULong, ranges}
	constrainDouble  = constraint{"be a number, or an object of min, max, exact, ideal", isNumber, ranges}
	constrainText    = constraint{"be a string, an array of strings, or an object of exact, ideal", isText, wishes}
	constrainBoolean = constraint{"be true, false, or an object of exact, ideal", isBoolean, wishes}
	constrainEcho    = constraint{"be true, false, a string, or an object of exact, ideal", isEcho, wishes}
)

// constraints are the members whose types are known. A browser ignores members that it does not know,
// and specifications add some each year, so others are taken as they are.
//
//nolint:gochecknoglobals // a constant
var constraints = map[string]constraint{
	"width": constrainULong, "height": constrainULong, "sampleRate": constrainULong, "sampleSize": constrainULong, "channelCount": constrainULong,
	"aspectRatio": constrainDouble, "frameRate": constrainDouble, "latency": constrainDouble,
	"facingMode": constrainText, "resizeMode": constrainText, "deviceId": constrainText, "groupId": constrainText, "displaySurface": constrainText,
	"autoGainControl": constrainBoolean, "noiseSuppression": constrainBoolean, "backgroundBlur": constrainBoolean,
	"echoCancellation": constrainEcho,
}

// checkConstraints reads true, false or an object of constraints.
func checkConstraints(media object, kind string) {
	raw := bytes.TrimSpace(media.Members[kind])
	switch {
	case len(raw) == 0 || raw[0] == 't' || raw[0] == 'f':
	case raw[0] == '{':
		media.constraintSet(kind, raw, true)
	default:
		media.Refuse(kind, "be true, false or an object of constraints", jsonobject.KindOf(raw))
	}
}

// constraintSet checks the constraints of a track; advanced ones are sets within it.
func (o object) constraintSet(name string, raw json.RawMessage, outer bool) {
	set := object{o.Open(name, raw)}
	for _, member := range slices.Sorted(maps.Keys(set.Members)) {
		known, ok := constraints[member]
		switch {
		case ok && !known.admits(set.Members[member]):
			set.Refuse(member, known.limit, jsonobject.KindOf(set.Members[member]))
		case outer && member == "advanced":
			for i, one := range set.List(member, MaxDefaultBytes) {
				set.constraintSet(fmt.Sprintf("%s[%d]", member, i), one, false)
			}
		}
	}
}

// admits reports whether a value has the type.
func (c *constraint) admits(raw json.RawMessage) bool {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return false
	}
	object, ok := value.(map[string]any)
	if !ok {
		return c.valid(value)
	}
	for member, value := range object {
		if !slices.Contains(c.members, member) || !c.valid(value) {
			return false
		}
	}
	return true
}

func isNumber(v any) bool { _, ok := v.(float64); return ok }

func isULong(v any) bool {
	n, ok := v.(float64)
	return ok && n >= 0 && n <= math.MaxUint32 && n == math.Trunc(n)
}

func isBoolean(v any) bool { _, ok := v.(bool); return ok }

func isString(v any) bool { _, ok := v.(string); return ok }

func isEcho(v any) bool { return isBoolean(v) || isString(v) }

func isText(v any) bool {
	list, ok := v.([]any)
	if !ok {
		return isString(v)
	}
	return !slices.ContainsFunc(list, func(one any) bool { return !isString(one) })
}
