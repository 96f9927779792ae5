package readapi

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qosrtc/qos/internal/cause"
	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/notice"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

const (
	maxLimit     = 200
	defaultLimit = 50
	maxTimeMs    = 253_402_300_799_999 // the end of year 9999
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

// text reads an identifier.
func (p *parameters) text(field string) string {
	v := p.raw(field)
	if len(v) > protocol.MaxIDBytes {
		p.fail(field, fmt.Sprintf("is %d bytes, at most %d are allowed", len(v), protocol.MaxIDBytes))
	}
	return v
}

func (p *parameters) required(field, v string) {
	if v == "" {
		p.fail(field, "is required")
	}
}

// integer reads a number from low to high; absent is missing.
func (p *parameters) integer(field string, low, high, missing int64) int64 {
	v := p.raw(field)
	if v == "" {
		return missing
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < low || n > high {
		p.fail(field, fmt.Sprintf("must be an integer from %d to %d", low, high))
		return missing
	}
	return n
}

// time reads milliseconds since the epoch; absent is the zero time.
func (p *parameters) time(field string) time.Time {
	ms := p.integer(field, 0, maxTimeMs, -1)
	if ms < 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// word reads one of some words.
func (p *parameters) word(field string, words []string) string {
	v := p.raw(field)
	if v != "" && !slices.Contains(words, v) {
		p.fail(field, "must be one of "+strings.Join(words, ", "))
	}
	return v
}

// labels are those that a score may have.
var labels = []string{quality.Excellent, quality.Good, quality.Fair, quality.Poor, quality.Bad} //nolint:gochecknoglobals // a constant

func causes() (out []string) {
	for _, c := range cause.Causes {
		out = append(out, string(c))
	}
	return out
}

func (p *parameters) cursor() storage.Cursor {
	v := p.raw("cursor")
	if v == "" {
		return storage.Cursor{}
	}
	c, ok := parseCursor(v)
	if !ok {
		p.fail("cursor", "is not one that this API gave")
	}
	return c
}

// query reads what /api/conferences takes. Who may not see real names finds nothing by them.
func (p *parameters) query(n names) (storage.Query, error) {
	f := p.digestFilter()
	q := storage.Query{
		AppID:              p.text("app"),
		ConferenceID:       p.text("id"),
		From:               p.time("from"),
		To:                 p.time("to"),
		Outcome:            f.Outcome,
		Failed:             f.Failed,
		Label:              f.Label,
		Cause:              f.Cause,
		MinMOS:             bound(f.MinMOS),
		MaxMOS:             bound(f.MaxMOS),
		Any:                p.text("q"),
		UserID:             p.text("user"),
		SiteID:             f.Site,
		ApplicationVersion: f.ApplicationVersion,
		AdditionalID:       p.text("additional"),
		AdditionalKey:      p.word("additionalKey", protocol.AdditionalIDKeys),
		AliasesOnly:        !n.real,
		Before:             p.cursor(),
		Limit:              int(p.integer("limit", 1, maxLimit, defaultLimit)),
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		p.fail("to", "must be after from")
	}
	if q.AdditionalKey != "" && q.AdditionalID == "" {
		p.fail("additionalKey", "needs additional")
	}
	return q, p.err
}

// outcomes are those that a search may have.
func outcomes() []string { return append([]string{outcomeFailed}, conference.Outcomes...) }

// bound is a score as the store takes it; 0 is none.
func bound(score float64) *float64 {
	if score == 0 {
		return nil
	}
	return &score
}

// terms returns what a search looks for, without what only turns its pages: the text of its audit entry.
func (p *parameters) terms() url.Values {
	terms := url.Values{}
	for name, values := range p.values {
		if name != "cursor" && name != "limit" && (len(values) == 1 || name == parameterFact) && values[0] != "" {
			terms[name] = values
		}
	}
	return terms
}

// reported reads the reason of a notification and its limit; without a reason it is nil.
func (p *parameters) reported(q storage.Query) (*reported, error) {
	reason := notice.Reason(p.word(notice.ParameterReason, reasons()))
	past := p.raw(notice.ParameterLimit)
	if reason == "" {
		return nil, p.err
	}
	r := &reported{reason: reason, from: q.From, to: q.To}
	if limit, err := strconv.ParseFloat(past, 64); err == nil && limit >= 0 {
		r.limit = limit
	} else if past != "" {
		p.fail(notice.ParameterLimit, "must be a number that is not negative")
	}
	return r, p.err
}

func reasons() (out []string) {
	for _, r := range notice.Reasons {
		out = append(out, string(r))
	}
	return out
}

// unattached reads what /api/unattached takes.
func (p *parameters) unattached() (storage.UnattachedQuery, error) {
	q := storage.UnattachedQuery{
		AppID: p.text("app"), ConferenceID: p.text("id"), From: p.time("from"), To: p.time("to"),
		Before: p.cursor(), Limit: int(p.integer("limit", 1, maxLimit, defaultLimit)),
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		p.fail("to", "must be after from")
	}
	return q, p.err
}

// ref reads what /api/conference takes.
func (p *parameters) ref() (storage.Ref, error) {
	ref := storage.Ref{AppID: p.text("app"), ConferenceID: p.text("id"), At: p.time("at")}
	p.required("app", ref.AppID)
	p.required("id", ref.ConferenceID)
	p.required("at", p.raw("at"))
	return ref, p.err
}

// filter reads what /api/live takes.
func (p *parameters) filter() (storage.Filter, error) {
	f := storage.Filter{AppID: p.text("app"), ConferenceID: p.text("conference")}
	return f, p.err
}

// formatCursor makes a cursor opaque, so that nobody builds one.
func formatCursor(c storage.Cursor) string {
	if c == (storage.Cursor{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", c.Start.UnixNano(), c.Key))
}

func parseCursor(v string) (storage.Cursor, bool) {
	b, err := base64.RawURLEncoding.DecodeString(v)
	if err != nil {
		return storage.Cursor{}, false
	}
	start, key, _ := strings.Cut(string(b), ".")
	ns, err := strconv.ParseInt(start, 10, 64)
	if err != nil {
		return storage.Cursor{}, false
	}
	k, err := strconv.ParseInt(key, 10, 64)
	return storage.Cursor{Start: time.Unix(0, ns).UTC(), Key: k}, err == nil
}
