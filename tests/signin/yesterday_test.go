package signin

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/exporters/storeexporter"
	folded "github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/fleet"
)

// fleetDay stores a day of calls that passed through the processors and the store exporter.
func (in *installation) fleetDay(day time.Time) {
	in.t.Helper()
	cfg := fleet.DefaultConfig(day)
	cfg.Conferences = 300
	const most = 1000 // records of a transaction
	var all []plog.Logs
	records := most
	fleet.Run(in.t, fleet.Draw(cfg), time.Hour, func(logs plog.Logs, _ time.Time) {
		if records >= most {
			all, records = append(all, plog.NewLogs()), 0
		}
		records += logs.LogRecordCount()
		for _, resource := range logs.ResourceLogs().All() {
			resource.CopyTo(all[len(all)-1].ResourceLogs().AppendEmpty())
		}
	}, func(time.Time) {})
	factory := storeexporter.NewFactory()
	exporter := factory.CreateDefaultConfig().(*storeexporter.Config)
	exporter.Queue = configoptional.None[exporterhelper.QueueBatchConfig]()
	exporter.Timeout.Timeout = time.Minute // a transaction is large
	logs, err := factory.CreateLogs(in.t.Context(), exportertest.NewNopSettings(factory.Type()), exporter)
	require.NoError(in.t, err)
	require.NoError(in.t, logs.Start(in.t.Context(), in.host))
	for _, one := range all {
		require.NoError(in.t, logs.ConsumeLogs(in.t.Context(), one))
	}
	require.NoError(in.t, logs.Shutdown(context.Background()))
}

// turnOutage returns a call of the clinic that failed while the TURN servers of oslo did not answer, and the user who had no connection.
func (in *installation) turnOutage(day time.Time) (call storage.Conference, user storage.Session) {
	in.t.Helper()
	reader := in.host.extensions[component.MustNewID("qosstorage")].(interface{ Reader() storage.Reader }).Reader()
	page, err := reader.Conferences(in.t.Context(), storage.Query{
		AppID: fleet.AppClinic, Failed: true, Cause: "iceConnectivity", SiteID: fleet.SiteOslo, From: day.Add(10 * time.Hour), To: day.Add(11 * time.Hour), Limit: 1,
	})
	require.NoError(in.t, err)
	require.Len(in.t, page.Conferences, 1)
	call = page.Conferences[0]
	whole, err := reader.Conference(in.t.Context(), storage.Ref{AppID: call.AppID, ConferenceID: call.ConferenceID, At: call.Start})
	require.NoError(in.t, err)
	var summary folded.Summary
	require.NoError(in.t, json.Unmarshal(whole.Summary.Document, &summary))
	i := slices.IndexFunc(call.Participants, func(p storage.Participant) bool { return p.Session.ID == summary.LikelyCause.Session })
	require.GreaterOrEqual(in.t, i, 0)
	return call, call.Participants[i].Session
}

// explained is what the test reads of an answer of explain_conference.
type explained struct {
	Data struct {
		Text  string
		Facts struct {
			App, ID, Outcome string
			LikelyCause      struct {
				Cause      string
				Session    string
				Confidence float64
				Evidence   []struct{ Text string }
			}
			Participants []struct{ Name string }
		}
	}
}

// An assistant of an engineer of one app answers "why did this user's call fail yesterday" about real records, by aliases
// only, and answers nothing about another app.
//
// spec: DASH-01, DASH-03
func TestWhyDidYesterdaysCallFail(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.root()
	yesterday := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)
	in.fleetDay(yesterday)
	call, user := in.turnOutage(yesterday)
	require.NotEqual(t, user.UserID, user.UserAlias)
	day := map[string]any{"from": yesterday.Format(time.RFC3339), "to": yesterday.Add(24 * time.Hour).Format(time.RFC3339)}
	with := func(more map[string]any) map[string]any {
		maps.Copy(more, day)
		return more
	}

	clinic := in.assistant(in.token(`{"name":"clinic","roles":["engineering"],"scope":{"apps":["` + fleet.AppClinic + `"]}}`))
	text, failed := clinic.call("search_conferences", with(map[string]any{"user": user.UserAlias, "outcome": "failed"}))
	require.False(t, failed, text)
	require.NotContains(t, text, user.UserID)
	var list found
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	var start string
	for _, one := range list.Data.Conferences {
		require.Equal(t, fleet.AppClinic, one.App)
		if one.ID == call.ConferenceID {
			start = one.Start
		}
	}
	require.NotEmpty(t, start, text)

	text, failed = clinic.call("explain_conference", map[string]any{"app": fleet.AppClinic, "id": call.ConferenceID, "at": start})
	require.False(t, failed, text)
	require.NotContains(t, text, user.UserID)
	var why explained
	require.NoError(t, json.Unmarshal([]byte(text), &why))
	facts := why.Data.Facts
	require.Equal(t, []string{fleet.AppClinic, call.ConferenceID, call.Summary.Outcome}, []string{facts.App, facts.ID, facts.Outcome})
	require.Equal(t, []string{"iceConnectivity", user.ID}, []string{facts.LikelyCause.Cause, facts.LikelyCause.Session})
	require.GreaterOrEqual(t, facts.LikelyCause.Confidence, 0.5)
	require.NotEmpty(t, facts.LikelyCause.Evidence)
	require.Contains(t, why.Data.Text, facts.LikelyCause.Evidence[0].Text)
	require.Len(t, facts.Participants, len(call.Participants))
	t.Log(why.Data.Text)

	// The hour is unusual.
	var counts struct {
		Data struct {
			Apps              []string
			Current, Baseline struct{ Conferences, Failed int }
		}
	}
	text, failed = clinic.call("overview", day)
	require.False(t, failed, text)
	require.NoError(t, json.Unmarshal([]byte(text), &counts))
	require.Equal(t, []string{fleet.AppClinic}, counts.Data.Apps)
	require.Positive(t, counts.Data.Current.Failed)
	require.Zero(t, counts.Data.Baseline.Conferences)

	shop := in.assistant(in.token(`{"name":"shop","roles":["support"],"scope":{"apps":["` + fleet.AppShop + `"]}}`))
	for _, arguments := range []map[string]any{{"user": user.UserAlias}, {"user": user.UserID}, {"app": fleet.AppClinic}, {"id": call.ConferenceID}} {
		text, failed = shop.call("search_conferences", arguments)
		require.False(t, failed, text)
		require.Contains(t, text, `"conferences":[]`)
	}
	text, failed = shop.call("explain_conference", map[string]any{"app": fleet.AppClinic, "id": call.ConferenceID, "at": start})
	require.True(t, failed)
	require.Equal(t, "There is no conference of this app and id at this time.", text)
	text, failed = shop.call("overview", with(map[string]any{"app": fleet.AppClinic}))
	require.False(t, failed, text)
	require.NoError(t, json.Unmarshal([]byte(text), &counts))
	require.Zero(t, counts.Data.Current.Conferences)
	text, failed = shop.call("compare_sets", with(map[string]any{"app": fleet.AppClinic, "outcome": "failed"}))
	require.False(t, failed, text)
	require.NotContains(t, text, `"conferences":1`)
	require.Contains(t, text, `"findings":[]`)
	require.Contains(t, in.in("root").get("/api/v1/audit"), `"actor":"token:clinic","action":"readConference","app":"clinic","target":"`+call.ConferenceID+`"`)
}
