package erasure

import (
	"encoding/json"
	"maps"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// OwnSession erases the row of a session of the user. The application's version and site, the library's version,
// the browser and its major version remain.
func (ids *IDs) OwnSession(row frames.SessionRow, pseudonym string) (frames.SessionRow, error) {
	details, err := ReadDetails(row.Details)
	if err != nil {
		return row, err
	}
	left := map[string]string{}
	for _, name := range []string{semconv.ApplicationVersion, semconv.SiteID, semconv.LibraryVersion} {
		if text, ok := details[name]; ok {
			left[name], _ = ids.Text(text)
		}
	}
	if agent := shortAgent(details[semconv.UserAgent]); agent != "" {
		left[semconv.UserAgent] = agent
	}
	text, err := json.Marshal(left)
	return frames.SessionRow{UserID: pseudonym, UserAlias: pseudonym, Details: string(text)}, err
}

// ReadDetails decodes the details of a session.
func ReadDetails(text string) (details map[string]string, err error) {
	err = json.Unmarshal([]byte(text), &details)
	return details, err
}

// shortAgent returns a user agent with only the browser and its major version.
func shortAgent(agent string) string {
	family, major := event.Browser(agent)
	token := map[string]string{"edge": "Edg/", "opera": "OPR/", "firefox": "Firefox/", "chrome": "Chrome/"}[family]
	switch {
	case family == "safari":
		return "Version/" + major + " Safari/"
	case token != "":
		return token + major
	}
	return family
}

// Details replaces identifiers in the details of another user's session.
func (ids *IDs) Details(text string) (string, bool, error) {
	details, err := ReadDetails(text)
	if err != nil {
		return text, false, err
	}
	changed := false
	for name, value := range maps.Clone(details) {
		if replaced, ok := ids.Text(value); ok {
			details[name], changed = replaced, true
		}
	}
	if !changed {
		return text, false, nil
	}
	out, err := json.Marshal(details)
	return string(out), true, err
}
