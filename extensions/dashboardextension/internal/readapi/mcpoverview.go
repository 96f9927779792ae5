package readapi

import (
	"context"
	"net/url"
)

// overviewed is the answer of the tool overview.
type overviewed struct {
	From         string   `json:"from"` // RFC 3339
	To           string   `json:"to"`
	BaselineFrom string   `json:"baselineFrom"` // a week earlier
	BaselineTo   string   `json:"baselineTo"`
	Live         int      `json:"live"`               // conferences that go on now
	MoreLive     bool     `json:"moreLive,omitempty"` // there are more than live
	Apps         []string `json:"apps"`
	Current      totals   `json:"current"`
	Baseline     totals   `json:"baseline"`
	Page         string   `json:"page"` // relative to the dashboard
}

// overviewTool answers with the counts of both times, but not by hour: a model needs the difference. Lists are halved
// until the answer is small enough.
func (a *API) overviewTool(ctx context.Context, values url.Values) (toolAnswer, error) {
	answer, err := a.overview(ctx, asked(ctx, values))
	if err != nil {
		return toolAnswer{}, err
	}
	o := answer.(overviewAnswer)
	data := overviewed{
		From: written(o.From), To: written(o.To), BaselineFrom: written(o.BaselineFrom), BaselineTo: written(o.BaselineTo),
		Live: o.Live, MoreLive: o.MoreLive, Current: o.Current, Baseline: o.Baseline, Page: "search?" + values.Encode(),
	}
	var out toolAnswer
	data.Apps, out.Cut = head(o.Apps, "apps", nil)
	out.Data = data
	for length := maxGroups; length > 1 && !fits(out); {
		length /= 2
		data.Current.keep(length)
		data.Baseline.keep(length)
		out = toolAnswer{Cut: []string{"The lists have the most frequent values only, to be small enough."}, Data: data}
	}
	return out, nil
}

// keep shortens the lists to the most frequent values, without the count of all others.
func (t *totals) keep(length int) {
	for _, list := range []*[]group{&t.Outcomes, &t.Labels, &t.Causes, &t.Issues, &t.Browsers, &t.Sites, &t.Versions} {
		*list = (*list)[:min(len(*list), length)]
	}
	t.Errors = t.Errors[:min(len(t.Errors), length)]
}
