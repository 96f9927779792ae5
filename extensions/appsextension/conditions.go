package appsextension

import (
	"net/http"
	"strconv"
	"strings"
)

// etag is an app's revision as HTTP writes it.
func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// condition is what a request demands of the app that it changes.
type condition struct {
	revision int64 // If-Match; 0: whatever it is
	create   bool  // If-None-Match: *
}

// condition reads the headers. Where a request must have one, as it replaces the whole, it
// is refused without.
func (r *request) condition(must bool) (condition, error) {
	match, none := r.Header.Values("If-Match"), r.Header.Values("If-None-Match")
	switch {
	case len(match)+len(none) > 1:
		return condition{}, newProblem(http.StatusBadRequest, "one of If-Match and If-None-Match is enough")
	case len(match) == 1:
		return matching(match[0])
	case len(none) == 1 && strings.TrimSpace(none[0]) == "*":
		return condition{create: true}, nil
	case len(none) == 1:
		return condition{}, newProblem(http.StatusBadRequest, "If-None-Match must be *")
	case must:
		return condition{}, newProblem(http.StatusPreconditionRequired, "If-Match with the app's ETag is needed, or If-None-Match: * to make one")
	}
	return condition{}, nil
}

func matching(value string) (condition, error) {
	value = strings.TrimSpace(value)
	inner, ok := strings.CutPrefix(value, `"`)
	inner, ends := strings.CutSuffix(inner, `"`)
	revision, err := strconv.ParseInt(inner, 10, 64)
	if !ok || !ends || err != nil || revision <= 0 {
		return condition{}, newProblem(http.StatusBadRequest, "If-Match must be one ETag of the app, like \"12\"")
	}
	return condition{revision: revision}, nil
}
