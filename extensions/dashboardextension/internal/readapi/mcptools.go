package readapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/narrative"
	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/storage"
)

// Bounds of the answers of tools. A model reads all of an answer.
const (
	defaultToolRows = 20
	maxToolRows     = 50
	maxToolList     = 20 // entries of a list of facts
	maxToolBytes    = 64 << 10
)

// tools returns those of the MCP server.
func (a *API) tools() []tool {
	return []tool{
		{
			name: "search_conferences", title: "Search conferences", parameters: searchParameters(), call: a.searchTool,
			text: "Lists conferences (calls), the newest first, with outcome, score, likely cause and participants. All parameters narrow the list.",
		},
		{
			name: "explain_conference", title: "Explain a conference", parameters: requiring(parametersOf[storage.Ref](), "app", "id", "at"), call: a.explainTool,
			text: "Explains one conference: a text for people, and facts (outcome, likely cause with evidence, issues, scores, participants, errors).",
		},
		{
			name: "compare_sets", title: "Compare two sets of conferences", parameters: requiring(parametersOf[conferenceSet](), "from", "to"), baseline: true, call: a.compareTool,
			text: "Finds what is more frequent in a set of conferences than in a baseline: browsers, versions, sites, networks and more, with lift and corrected significance. " +
				"The baseline has the parameters of the set but for those in the member baseline. Without it, it is all conferences of the same time, app, site, version and browser. " +
				"A correlation is not yet a cause.",
		},
		{
			name: "overview", title: "Count conferences of a time", parameters: requiring(parametersOf[period](), "from", "to"), call: a.overviewTool,
			text: "Counts the conferences of a time beside those of the same time a week earlier: outcomes, scores, causes, issues, errors, browsers, sites and versions. " +
				"Use it to see whether something is unusual, before compare_sets says what the conferences have in common.",
		},
	}
}

// listedConference is a row for a model.
type listedConference struct {
	conferenceRow
	Start string `json:"start"` // RFC 3339
	End   string `json:"end"`
	Page  string `json:"page"` // relative to the dashboard
}

// listedConferences is the answer of search_conferences.
type listedConferences struct {
	Conferences []listedConference `json:"conferences"`
	Next        string             `json:"next,omitempty"`
	Pseudonyms  []string           `json:"pseudonyms,omitempty"`
}

// searchTool asks for fewer rows until the answer is small enough.
func (a *API) searchTool(ctx context.Context, values url.Values) (toolAnswer, error) {
	limit := defaultToolRows
	if n, err := strconv.Atoi(values.Get("limit")); err == nil {
		limit = max(1, min(n, maxToolRows))
	}
	for wanted := limit; ; limit /= 2 {
		values.Set("limit", strconv.Itoa(limit))
		answer, err := a.conferences(ctx, asked(ctx, values))
		if err != nil {
			return toolAnswer{}, err
		}
		out := toolAnswer{Data: newListedConferences(answer.(listing))}
		if limit < wanted {
			out.Cut = append(out.Cut, "The answer has fewer conferences than asked for, to be small enough: read on with next.")
		}
		if limit == 1 || fits(out) {
			return out, nil
		}
	}
}

func fits(out toolAnswer) bool {
	text, err := json.Marshal(out)
	return err == nil && len(text) <= maxToolBytes
}

func newListedConferences(list listing) listedConferences {
	out := listedConferences{Conferences: []listedConference{}, Next: list.Next, Pseudonyms: list.Pseudonyms}
	for i := range list.Conferences {
		row := list.Conferences[i]
		out.Conferences = append(out.Conferences, listedConference{row, written(row.StartAt), written(row.EndAt), pageOf(&row)})
	}
	return out
}

// written returns a time in ms as RFC 3339.
func written(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// explainedConference is the answer of explain_conference.
type explainedConference struct {
	Text  string          `json:"text"`
	Facts conferenceFacts `json:"facts"`
}

// conferenceFacts are what the text describes, for programs.
type conferenceFacts struct {
	App          string             `json:"app"`
	ID           string             `json:"id"`
	State        string             `json:"state"`
	Start        string             `json:"start"`
	End          string             `json:"end"`
	Page         string             `json:"page"`
	Outcome      string             `json:"outcome,omitempty"` // absent while there is no summary
	MOS          *float64           `json:"mos"`
	Label        string             `json:"label,omitempty"`
	Cause        *cause.Finding     `json:"likelyCause,omitempty"`
	Issues       []conference.Issue `json:"issues"`
	IssueCounts  map[string]int     `json:"issueCounts,omitempty"`
	Participants []participantFacts `json:"participants"`
	Errors       []errorFacts       `json:"errors"`
}

// participantFacts are those of one session.
type participantFacts struct {
	Session   string   `json:"session"`
	Name      string   `json:"name"`
	Browser   string   `json:"browser,omitempty"`
	Site      string   `json:"site,omitempty"`
	Version   string   `json:"version,omitempty"`
	Connected bool     `json:"connected"`
	EndReason string   `json:"endReason,omitempty"`
	MOS       *float64 `json:"mos"`
}

// errorFacts are those of one reported error.
type errorFacts struct {
	At       string `json:"at"` // RFC 3339
	Session  string `json:"session"`
	Function string `json:"function,omitempty"`
	Name     string `json:"name,omitempty"`
	Message  string `json:"message,omitempty"`
}

func (a *API) explainTool(ctx context.Context, values url.Values) (toolAnswer, error) {
	ref, err := readParameters(asked(ctx, values)).ref()
	if err != nil {
		return toolAnswer{}, err
	}
	d, err := a.detailOf(ctx, ref)
	if err != nil {
		return toolAnswer{}, err
	}
	c, err := narrated(d)
	if err != nil {
		return toolAnswer{}, err
	}
	facts, cut := factsOf(c)
	out := toolAnswer{Cut: cut, Data: explainedConference{narrative.Text(c), facts}}
	if !fits(out) {
		facts.Issues, facts.Errors, facts.Participants = nil, nil, nil
		out = toolAnswer{Cut: []string{"The facts have no issues, errors and participants, to be small enough: the text has the first of each."}, Data: explainedConference{narrative.Text(c), facts}}
	}
	return out, nil
}

// factsOf returns the facts of a conference, and what was left out.
func factsOf(c *narrative.Conference) (f conferenceFacts, left []string) {
	f = conferenceFacts{
		App: c.AppID, ID: c.ConferenceID, State: c.State, Start: written(c.StartMs), End: written(c.EndMs), Page: c.URL,
		Issues: []conference.Issue{}, Participants: []participantFacts{}, Errors: []errorFacts{},
	}
	bySession := map[string]*conference.Participant{}
	if s := c.Summary; s != nil {
		f.Outcome, f.MOS, f.Label, f.IssueCounts = string(s.Outcome), s.MOS, s.Label, s.IssueCounts
		if s.LikelyCause.Cause != "" {
			f.Cause = &s.LikelyCause
		}
		f.Issues, left = head(s.Issues, "issues", left)
		for i := range s.Participants {
			bySession[s.Participants[i].Session] = &s.Participants[i]
		}
	}
	var people []narrative.Participant
	people, left = head(c.Participants, "participants", left)
	for i := range people {
		p := &people[i]
		one := participantFacts{Session: p.Session, Name: p.Name, Browser: p.Browser, Site: p.Site, Version: p.Version}
		if s := bySession[p.Session]; s != nil {
			one.Connected, one.EndReason, one.MOS = s.Connected, s.EndReason, s.MOS
		}
		f.Participants = append(f.Participants, one)
	}
	var errs []narrative.Error
	errs, left = head(c.Errors, "errors", left)
	for _, e := range errs {
		f.Errors = append(f.Errors, errorFacts{written(e.AtMs), e.Session, e.Function, e.Name, e.Message})
	}
	return f, left
}

// head returns the first entries of a list, and says how many it leaves out.
func head[T any](list []T, name string, left []string) ([]T, []string) {
	if more := len(list) - maxToolList; more > 0 {
		list, left = list[:maxToolList], append(left, fmt.Sprintf("The facts leave out %d %s: the page of the conference has all.", more, name))
	}
	return append([]T{}, list...), left
}

func (a *API) compareTool(ctx context.Context, values url.Values) (toolAnswer, error) {
	answer, err := a.contrast(ctx, asked(ctx, values))
	if err != nil {
		return toolAnswer{}, err
	}
	compared := answer.(contrastAnswer)
	var out toolAnswer
	compared.Findings, out.Cut = head(compared.Findings, "findings", nil)
	out.Data = compared
	for !fits(out) && len(compared.Findings) > 1 {
		compared.Findings = compared.Findings[:len(compared.Findings)/2]
		out = toolAnswer{Cut: []string{"The answer has the strongest findings only, to be small enough."}, Data: compared}
	}
	return out, nil
}
