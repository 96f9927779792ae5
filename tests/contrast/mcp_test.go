package contrast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/qosrtc/qos/extensions/dashboardextension"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/contrast"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/fleet"
	"github.com/qosrtc/qos/tests/kit/freeport"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// stored writes conferences with their summaries to a store.
func stored(t *testing.T, all []conference.Summary) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "qos.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	batches := make([]storage.Batch, 0, len(all))
	for i := range all {
		s := &all[i]
		session, at := fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012d", i), time.UnixMilli(s.StartMs).UTC()
		batches = append(batches, storage.Batch{
			Session: storage.Session{ID: session, AppID: s.AppID, UserID: "ann", UserAlias: "ann"},
			Records: []storage.Record{{
				Seq: 1, ConferenceID: s.ConferenceID, ConferenceAt: at, Fabric: 1, Name: semconv.EventEvent, At: at, ObservedAt: at, Activity: true,
				Attributes: map[string]any{semconv.EventName: "fabricAdded", semconv.EventData: "{}"},
			}},
		})
	}
	_, err = store.Append(t.Context(), batches)
	require.NoError(t, err)
	errs := make([]error, len(all))
	var writing sync.WaitGroup // those that are written at once share a transaction
	for i := range all {
		s := &all[i]
		document, err := json.Marshal(s)
		require.NoError(t, err)
		writing.Go(func() {
			errs[i] = store.PutSummary(t.Context(), storage.Summary{
				AppID: s.AppID, ConferenceID: s.ConferenceID, Start: time.UnixMilli(s.StartMs).UTC(), End: time.UnixMilli(s.EndMs).UTC(), Revision: s.Revision,
				Outcome: string(s.Outcome), Participants: len(s.Participants), MOS: s.MOS, Label: s.Label, Document: document, Digest: digest.Of(s).Encode(),
			})
		})
	}
	writing.Wait()
	require.NoError(t, errors.Join(errs...))
	return store
}

// assistant connects to the MCP server of a dashboard over a store.
func assistant(t *testing.T, store *sqlite.Store) *mcp.ClientSession {
	t.Helper()
	factory := dashboardextension.NewFactory()
	cfg := factory.CreateDefaultConfig().(*dashboardextension.Config)
	address, err := freeport.Address()
	require.NoError(t, err)
	cfg.NetAddr.Endpoint, cfg.MCP = address, true
	require.NoError(t, cfg.Validate())
	ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), hosttest.Host{component.MustNewID("qosstorage"): hosttest.Storage{Store: store}}))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(context.Background())) })
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: "http://" + address + "/mcp", MaxRetries: -1}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	return session
}

// ask calls a tool and decodes the data of its answer.
func ask(t *testing.T, a *mcp.ClientSession, tool string, arguments map[string]any, data any) {
	t.Helper()
	result, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	require.False(t, result.IsError, result.Content)
	text, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &struct{ Data any }{data}))
}

// An assistant that compares the failed conferences of an hour with the others through the Model Context Protocol finds
// the planted cause, and nothing else. The link of the finding and the overview have the same conferences.
//
// spec: DASH-01
func TestAssistantFindsPlantedCauses(t *testing.T) {
	hours := map[time.Duration][]contrast.Fact{
		10 * time.Hour: {site(fleet.SiteOslo)},
		14 * time.Hour: {browser("firefox 144"), site(fleet.SiteBerlin)},
	}
	var chosen []conference.Summary
	for _, s := range firstDay() {
		if _, asked := hours[time.UnixMilli(s.StartMs).Sub(monday).Truncate(time.Hour)]; asked {
			chosen = append(chosen, s)
		}
	}
	a := assistant(t, stored(t, chosen))
	for hour, want := range hours {
		from, to := monday.Add(hour).Format(time.RFC3339), monday.Add(hour+time.Hour).Format(time.RFC3339)
		var got struct {
			Set, Baseline struct{ Conferences int }
			Findings      []struct {
				Facts []contrast.Fact
				InSet int
				Text  string
			}
		}
		ask(t, a, "compare_sets", map[string]any{"from": from, "to": to, "outcome": "failed"}, &got)
		require.Len(t, got.Findings, 1, from)
		require.ElementsMatch(t, want, got.Findings[0].Facts, from)
		t.Logf("%d of %d: %s", got.Set.Conferences, got.Set.Conferences+got.Baseline.Conferences, got.Findings[0].Text)

		var counts struct {
			Current struct{ Conferences, Failed int }
		}
		ask(t, a, "overview", map[string]any{"from": from, "to": to}, &counts)
		require.Equal(t, got.Set.Conferences, counts.Current.Failed)
		require.Equal(t, got.Set.Conferences+got.Baseline.Conferences, counts.Current.Conferences)
	}
}
