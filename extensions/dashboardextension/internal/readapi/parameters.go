package readapi

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qosrtc/qos/internal/call/contrast"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

// parameters reads the query of a request and keeps its first fault.
type parameters struct {
	values url.Values
	err    error
}

func readParameters(r *http.Request) *parameters {
	values, err := url.ParseQuery(r.URL.RawQuery)
	p := &parameters{values: values}
	if err != nil {
		p.fail("query", "is not a valid query string")
	}
	return p
}

func (p *parameters) fail(field, message string) {
	if p.err == nil {
		p.err = &badParameter{field, message}
	}
}

// read sets the fields of a query, which is a pointer to a struct, by the parameters that name them.
func (p *parameters) read(query any) { p.fill(query, parameterTable) }

// fill is read for some parameters.
func (p *parameters) fill(query any, all []parameter) {
	fields := reflect.ValueOf(query).Elem()
	for i := range all {
		if d := &all[i]; d.sets(fields.Type()) {
			p.set(fields.FieldByName(d.field), d)
			p.relate(d)
		}
	}
}

// set sets a field by its parameter.
func (p *parameters) set(field reflect.Value, d *parameter) {
	switch d.kind {
	case timeKind:
		field.Set(reflect.ValueOf(p.time(d.name)))
	case cursorKind:
		field.Set(reflect.ValueOf(p.cursor(d.name)))
	case integerKind:
		field.SetInt(int64(p.number(*d)))
	case numberKind:
		if number := p.number(*d); field.CanFloat() {
			field.SetFloat(number)
		} else if number != 0 {
			field.Set(reflect.ValueOf(&number))
		}
	default:
		if text := p.text(d.name); field.Kind() == reflect.Bool {
			field.SetBool(text != "")
		} else {
			field.SetString(text)
		}
	}
}

// relate checks a parameter with another one.
func (p *parameters) relate(d *parameter) {
	v := p.raw(d.name)
	if v == "" || p.err != nil {
		return
	}
	if d.needs != "" && p.raw(d.needs) == "" {
		p.fail(d.name, "needs "+d.needs)
	}
	if p.raw(d.start) == "" {
		return
	}
	switch start, end := p.number(parameterNamed(d.start)), p.number(*d); {
	case d.kind == timeKind && start >= end:
		p.fail(d.name, "must be after "+d.start)
	case start > end:
		p.fail(d.name, "must not be less than "+d.start)
	}
}

func (p *parameters) raw(field string) string {
	switch v := p.values[field]; len(v) {
	case 0:
		return ""
	case 1:
		return v[0]
	default:
		p.fail(field, "stands more than once")
		return ""
	}
}

// text reads an identifier, or one of the words of the parameter.
func (p *parameters) text(field string) string {
	v := p.raw(field)
	if words := parameterNamed(field).words; v != "" && words != nil && !slices.Contains(words, v) {
		p.fail(field, "must be one of "+strings.Join(words, ", "))
	}
	if len(v) > protocol.MaxIDBytes {
		p.fail(field, fmt.Sprintf("is %d bytes, at most %d are allowed", len(v), protocol.MaxIDBytes))
	}
	return v
}

// required refuses a request without one of some parameters.
func (p *parameters) required(fields ...string) {
	for _, field := range fields {
		if p.raw(field) == "" {
			p.fail(field, "is required")
		}
	}
}

// number reads a number within the bounds of its parameter.
func (p *parameters) number(d parameter) float64 {
	v := p.raw(d.name)
	if v == "" {
		return d.missing
	}
	number, err := strconv.ParseFloat(v, 64)
	if d.kind == integerKind || d.kind == timeKind {
		var integer int64
		integer, err = strconv.ParseInt(v, 10, 64)
		number = float64(integer)
	}
	if err != nil || !(number >= d.low && number <= d.high) || number == d.low && d.above { // NaN is in no range
		p.fail(d.name, "must be "+d.bounds())
		return d.missing
	}
	return number
}

// time reads milliseconds since the epoch; absent is the zero time.
func (p *parameters) time(field string) time.Time {
	if ms := p.number(parameterNamed(field)); p.raw(field) != "" && p.err == nil {
		return time.UnixMilli(int64(ms)).UTC()
	}
	return time.Time{}
}

// zone returns how far the days are east of UTC.
func (p *parameters) zone() time.Duration {
	return time.Duration(p.number(parameterNamed("zone"))) * time.Minute
}

// facts reads the facts of a search.
func (p *parameters) facts() (out []contrast.Fact) {
	all := p.values[parameterFact]
	if len(all) > maxFacts {
		p.fail(parameterFact, fmt.Sprintf("stands %d times, at most %d are allowed", len(all), maxFacts))
		return nil
	}
	for _, text := range all {
		attribute, value, _ := strings.Cut(text, ":")
		if !slices.Contains(contrast.Attributes(), attribute) || value == "" {
			p.fail(parameterFact, "must be an attribute and a value, such as siteID:berlin; the attributes are "+strings.Join(contrast.Attributes(), ", "))
			return nil
		}
		out = append(out, contrast.Fact{Attribute: attribute, Value: value})
	}
	return out
}

// outcomeOf separates the word for all outcomes of failed conferences from an outcome.
func outcomeOf(word string) (outcome string, failed bool) {
	if word == outcomeFailed {
		return "", true
	}
	return word, false
}

// terms returns what a search looks for, without what only turns its pages: the text of its audit entry.
func (p *parameters) terms() url.Values {
	terms := url.Values{}
	for name, values := range p.values {
		if !slices.Contains(namesOf(rolePaging), name) && (len(values) == 1 || name == parameterFact) && values[0] != "" {
			terms[name] = values
		}
	}
	return terms
}

// ref reads what /api/conference takes.
func (p *parameters) ref() (ref storage.Ref, err error) {
	p.read(&ref)
	p.required("app", "id", "at")
	return ref, p.err
}

// cursor reads a cursor that formatCursor made.
func (p *parameters) cursor(field string) (c storage.Cursor) {
	v, ns := p.raw(field), int64(0)
	if v == "" {
		return c
	}
	text, _ := base64.RawURLEncoding.DecodeString(v)
	_, err := fmt.Sscanf(string(text), "%d.%d", &ns, &c.Key)
	if c.Start = time.Unix(0, ns).UTC(); err != nil || formatCursor(c) != v {
		p.fail(field, "is not one that this API gave")
		return storage.Cursor{}
	}
	return c
}

// formatCursor makes a cursor opaque, so that nobody builds one.
func formatCursor(c storage.Cursor) string {
	if c == (storage.Cursor{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", c.Start.UnixNano(), c.Key))
}
