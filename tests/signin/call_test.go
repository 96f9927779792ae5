package signin

import (
	"encoding/hex"
	"net/url"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

var t0 = time.UnixMilli(1_763_702_160_000).UTC()

const (
	annSession = "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f"
	bobSession = "019a9f3c-8b1a-7c3e-9f10-2b6f0c1d2e40"
)

// realNames are those of the call, in all forms in which it has them.
var realNames = []string{"Ann Real", "Ann+Real", "Ann%20Real", "ann real", "Robert Roe", "Carol", "Dr. Zoë"}

// call stores a conference whose real names are wherever they can be.
func (in *installation) call(app string) {
	in.t.Helper()
	n := 0
	record := func(name string, attrs map[string]any) storage.Record {
		n++
		at := t0.Add(time.Duration(n) * time.Second)
		return storage.Record{
			Seq: uint64(n), ConferenceID: "standup", ConferenceAt: t0, Fabric: 1, Name: name, At: at, ObservedAt: at, Attributes: attrs,
			Activity: name == semconv.EventEvent || name == semconv.EventStats,
		}
	}
	ann := storage.Batch{
		Session: storage.Session{ID: annSession, AppID: app, UserID: "Ann Real", UserAlias: "a-1", Details: map[string]string{semconv.SiteID: "desk of Ann Real"}},
		Records: []storage.Record{
			record(semconv.EventEvent, map[string]any{
				semconv.EventName: "fabricAdded", semconv.EventData: `{}`, semconv.FabricUsage: "multiplex", semconv.RemoteUserID: "Robert Roe", semconv.RemoteUserAlias: "b-17",
			}),
			record(semconv.EventEvent, map[string]any{
				semconv.EventName: "associateMstWithUserID", semconv.EventData: `{"ssrc":7,"userID":{"userName":"Carol","aliasName":"c-9"},"usageLabel":"slides of Carol"}`,
			}),
			record(semconv.EventStats, map[string]any{semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", semconv.IntervalMs: 5000.0, eventtest.Stats("ssrc"): int64(7)}),
			record(semconv.EventError, map[string]any{
				semconv.ErrorFunction: "createOffer", semconv.ErrorName: "OperationError", semconv.ErrorMessage: "no device of Ann Real, ann real!",
				semconv.ErrorStack: "at https://a.example/?u=Ann%20Real&v=Ann+Real", semconv.ErrorDetails: `{"Ann Real":"Robert Roe"}`,
				semconv.ErrorLocalSDP: "v=0\r\ns=Robert Roe\r\n", semconv.ErrorRemoteSDP: "v=0\r\ni=Carol\r\n",
			}),
			record(semconv.EventLog, map[string]any{semconv.LogText: `{"who":"Dr. Zo` + "\u00eb" + `"} met Carol`}),
			record(semconv.EventEvent, map[string]any{semconv.EventName: "customEvent", semconv.EventData: `{"to":"Robert Roe"}`}),
			record(semconv.EventEvent, map[string]any{
				semconv.EventName: "userIDChange", semconv.EventData: `{"userIDType":"local","newUserID":{"userName":"Dr. Zoë","aliasName":"z-3"}}`,
			}),
		},
	}
	bob := storage.Batch{
		Session: storage.Session{ID: bobSession, AppID: app, UserID: "Robert Roe", UserAlias: "b-17"},
		Records: []storage.Record{
			record(semconv.EventStats, map[string]any{semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", semconv.IntervalMs: 5000.0, eventtest.Stats("ssrc"): int64(9)}),
			record(semconv.EventFeedback, map[string]any{
				semconv.FeedbackUserID: "Robert Roe", semconv.FeedbackUserAlias: "b-17", semconv.FeedbackOverall: int64(2), semconv.FeedbackComment: "my nephew Hans could not hear Carol",
			}),
		},
	}
	lost := record(semconv.EventLog, map[string]any{semconv.LogText: "Ann Real hung up"})
	lost.ConferenceID, lost.Fabric = "nowhere", 0
	_, err := in.store.Writer().Append(in.t.Context(), []storage.Batch{ann, bob, {Session: ann.Session, Records: []storage.Record{lost}}})
	require.NoError(in.t, err)
}

// conference is the path of the answer for the call.
func conference(app string) string {
	return "/api/conference?" + url.Values{"app": {app}, "id": {"standup"}, "at": {strconv.FormatInt(t0.Add(time.Second).UnixMilli(), 10)}}.Encode()
}

// trace is the path of the redirect to the call.
func trace(app string) string {
	id := semconv.TraceID(app, "standup")
	return "/trace/" + hex.EncodeToString(id[:]) + "?at=" + strconv.FormatInt(t0.Add(time.Second).UnixMilli(), 10)
}
