package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/protocol"
)

// Settings are the members of an app that its operator sets, in the collector's configuration (mapstructure), in
// requests and in the store (json). None of them is secret.
type Settings struct {
	Name                 string           `json:"name" mapstructure:"name"`                        // for people
	Origins              []string         `json:"origins" mapstructure:"origins"`                  // whose pages may use it; empty: all
	SingleUse            bool             `json:"singleUse" mapstructure:"single_use"`             // third-party tokens need a jti, and are good once
	Disabled             bool             `json:"disabled" mapstructure:"disabled"`                // admits nobody
	Limits               auth.Limits      `json:"limits" mapstructure:"limits"`                    // its own throttle numbers
	UserIDs              string           `json:"userIDs" mapstructure:"user_ids"`                 // plain (also empty), or hash: records have pseudonyms
	StatsIntervalMs      int              `json:"statsIntervalMs" mapstructure:"-"`                // how often its clients measure; 0: the receiver's own
	RetentionHours       int              `json:"retentionHours" mapstructure:"-"`                 // how long after their end its conferences are kept; 0: the store's own
	DefaultConfiguration json.RawMessage  `json:"defaultConfiguration,omitempty" mapstructure:"-"` // what pages get as their default; nil: none
	WebhookRules         *notice.Override `json:"webhookRules,omitempty" mapstructure:"-"`         // never changed; nil: the webhook exporter's
}

// Faults returns what is wrong with the members that have the same form everywhere. They are named by a tag, json or
// mapstructure. privateSuffixes is that of auth.CheckOrigin.
func (s *Settings) Faults(tag string, privateSuffixes bool) (faults []error) {
	for i, origin := range s.Origins {
		if err := auth.CheckOrigin(origin, privateSuffixes); err != nil {
			faults = append(faults, &jsonobject.Fault{Field: fmt.Sprintf("origins[%d]", i), Limit: originLimit(err), Got: strconv.Quote(jsonobject.Clip(origin))})
		}
	}
	faults = append(faults, CheckName(s.Name), s.Limits.Check("limits", tag))
	return slices.DeleteFunc(faults, func(err error) bool { return err == nil })
}

// check returns the first fault of the settings of a request, and leaves origins out that are there twice.
func (s *Settings) check(privateSuffixes bool) error {
	if n := len(s.Origins); n > MaxOrigins {
		return &jsonobject.Fault{Field: "origins", Limit: fmt.Sprintf("have at most %d entries", MaxOrigins), Got: strconv.Itoa(n)}
	}
	if faults := s.Faults("json", privateSuffixes); len(faults) > 0 {
		return faults[0]
	}
	var once []string
	for _, origin := range s.Origins {
		if !slices.Contains(once, origin) {
			once = append(once, origin)
		}
	}
	s.Origins = once
	var err error
	if every := time.Duration(s.StatsIntervalMs) * time.Millisecond; !CheckStatsInterval(every) {
		err = &jsonobject.Fault{
			Field: "statsIntervalMs", Got: strconv.Itoa(s.StatsIntervalMs),
			Limit: fmt.Sprintf("be 0 (the receiver's own) or %d to %d", protocol.MinStatsInterval.Milliseconds(), protocol.MaxStatsInterval.Milliseconds()),
		}
	}
	if err == nil && !CheckRetention(s.RetentionHours) {
		err = &jsonobject.Fault{Field: "retentionHours", Limit: fmt.Sprintf("be 0 (the store's own) or 1 to %d", MaxRetentionHours), Got: strconv.Itoa(s.RetentionHours)}
	}
	if err == nil {
		s.DefaultConfiguration, err = CheckDefaults("defaultConfiguration", s.DefaultConfiguration)
	}
	if err == nil && s.WebhookRules != nil {
		if fault := s.WebhookRules.Check(); fault != nil {
			err = &jsonobject.Fault{Field: "webhookRules." + fault.Field, Limit: fault.Limit, Got: fault.Got}
		}
	}
	return err
}

// originLimit makes a limit of what CheckOrigin says.
func originLimit(err error) string {
	text := err.Error()
	for _, verb := range []string{"must ", "may "} {
		if limit, ok := strings.CutPrefix(text, verb); ok {
			return limit
		}
	}
	return "be an origin, scheme://host:port (it " + text + ")"
}

// Hook are the members of a webhook that the operator sets, and that are no secret.
type Hook struct {
	ID     string `json:"id" mapstructure:"id"`
	URL    string `json:"url" mapstructure:"url"`
	Format string `json:"format,omitempty" mapstructure:"format"` // of the bodies; empty: native
}

// Check returns the fault of the first member that is wrong. The URL is not quoted: its path or query may be secret.
func (w *Hook) Check(at string) error {
	if !ValidIdentifier(w.ID) {
		return &jsonobject.Fault{Field: at + "id", Limit: IdentifierLimit, Got: strconv.Quote(jsonobject.Clip(w.ID))}
	}
	if err := CheckWebhookURL(w.URL); err != nil {
		return &jsonobject.Fault{Field: at + "url", Limit: err.Error(), Got: fmt.Sprintf("a string of %d bytes", len(w.URL))}
	}
	if !notice.ValidFormat(w.Format) {
		return &jsonobject.Fault{Field: at + "format", Limit: "be one of " + strings.Join(notice.Formats, ", "), Got: fmt.Sprintf("a string of %d bytes", len(w.Format))}
	}
	return nil
}
