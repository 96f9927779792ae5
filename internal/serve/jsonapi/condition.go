package jsonapi

import (
	"net/http"
	"strconv"
	"strings"
)

// Condition is what a request demands of the resource that it changes. The zero value demands nothing.
type Condition struct {
	Revision int64 // of If-Match; 0: any
	Create   bool  // If-None-Match: *
}

// etag returns a revision as an entity tag (RFC 9110, section 8.8.3).
func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// ReadCondition reads If-Match and If-None-Match. It refuses a request that has neither if must is true,
// and one that has both, a list, or a tag that no revision has. The resource is named in the details of
// its Problems: "the app".
func ReadCondition(r *http.Request, resource string, must bool) (Condition, error) {
	match, none := r.Header.Values("If-Match"), r.Header.Values("If-None-Match")
	switch {
	case len(match)+len(none) > 1:
		return Condition{}, NewProblem(http.StatusBadRequest, "one of If-Match and If-None-Match is enough")
	case len(match) == 1:
		return matching(match[0], resource)
	case len(none) == 1 && strings.TrimSpace(none[0]) == "*":
		return Condition{Create: true}, nil
	case len(none) == 1:
		return Condition{}, NewProblem(http.StatusBadRequest, "If-None-Match must be *")
	case must:
		return Condition{}, NewProblem(http.StatusPreconditionRequired, "If-Match with the ETag of %s is needed, or If-None-Match: * to make it", resource)
	}
	return Condition{}, nil
}

func matching(value, resource string) (Condition, error) {
	value = strings.TrimSpace(value)
	revision, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 64)
	if err != nil || revision <= 0 || value != etag(revision) {
		return Condition{}, NewProblem(http.StatusBadRequest, "If-Match must be one ETag of %s, like \"12\"", resource)
	}
	return Condition{Revision: revision}, nil
}
