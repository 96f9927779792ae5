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
	members []string             // of an object in place of a bare value; nil: no object
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
	constrainMove    = constraint{"be true, false, a number, or an object of min, max, exact, ideal", isMove, ranges}
	constrainPoints  = constraint{"be an array of points, or an object of exact, ideal", isPoints, wishes}
	constrainSource  = constraint{"be camera or microphone: getUserMedia gives no screen", isDevice, nil}
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
	"echoCancellation": constrainEcho, "mediaSource": constrainSource,
	// W3C image-capture
	"brightness": constrainDouble, "colorTemperature": constrainDouble, "contrast": constrainDouble, "exposureCompensation": constrainDouble,
	"exposureTime": constrainDouble, "focusDistance": constrainDouble, "iso": constrainDouble, "saturation": constrainDouble, "sharpness": constrainDouble,
	"pan": constrainMove, "tilt": constrainMove, "zoom": constrainMove, "pointsOfInterest": constrainPoints,
}

// movements are constraints of a camera that getUserMedia refuses as conditions.
var movements = []string{"pan", "tilt", "zoom"} //nolint:gochecknoglobals // a constant

// The members of constraints before the standard, which Chromium takes without others beside them.
const (
	legacyMandatory = "mandatory"
	legacyOptional  = "optional"
)

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
		value := set.Members[member]
		known, ok := constraints[member]
		switch {
		case ok && !known.admits(value):
			set.Refuse(member, known.limit, jsonobject.KindOf(value))
		case outer && slices.Contains(movements, member) && isCondition(value):
			set.Refuse(member, "be no condition, which getUserMedia refuses: ideal is none", jsonobject.KindOf(value))
		case (member == legacyMandatory || member == legacyOptional) && !set.isLegacy(member):
			set.Refuse(member, "be an object, optional an array of objects of one member, both without others beside them", jsonobject.KindOf(value))
		case outer && member == "advanced":
			if string(value) == "null" {
				set.Refuse(member, "be an array", "null")
			}
			for i, one := range set.List(member, MaxDefaultBytes) {
				set.constraintSet(fmt.Sprintf("%s[%d]", member, i), one, false)
			}
		}
	}
}

// isCondition reports whether a constraint has a value that a device must have.
func isCondition(raw json.RawMessage) bool {
	var members map[string]any
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	_, ideal := members["ideal"]
	return len(members) > 1 || len(members) == 1 && !ideal
}

// isLegacy reports whether Chromium takes a member as constraints before the standard.
func (o object) isLegacy(member string) bool {
	for other := range o.Members {
		if other != legacyMandatory && other != legacyOptional {
			return false
		}
	}
	if member == legacyMandatory {
		var set map[string]any
		return json.Unmarshal(o.Members[member], &set) == nil && set != nil
	}
	var sets []map[string]any
	return json.Unmarshal(o.Members[member], &sets) == nil && sets != nil && !slices.ContainsFunc(sets, func(set map[string]any) bool { return len(set) != 1 })
}

// admits reports whether a value has the type.
func (c *constraint) admits(raw json.RawMessage) bool {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return false
	}
	object, ok := value.(map[string]any)
	if !ok || c.members == nil {
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

func isMove(v any) bool { return isNumber(v) || isBoolean(v) }

func isDevice(v any) bool { return v == "camera" || v == "microphone" }

func isPoints(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool {
		point, ok := one.(map[string]any)
		return !ok || len(point) != 2 || !isNumber(point["x"]) || !isNumber(point["y"])
	})
}

func isEcho(v any) bool { return isBoolean(v) || isString(v) }

func isText(v any) bool {
	list, ok := v.([]any)
	if !ok {
		return isString(v)
	}
	return !slices.ContainsFunc(list, func(one any) bool { return !isString(one) })
}
