package e2e

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// Names that pages must show as they are.
const (
	htmlName     = `<b onclick="alert(1)">Ålesund</b>`
	hebrewName   = "תל אביב (12)"
	japaneseName = "東京本社"
)

// planted is a conference that is written into the store of a collector before its start.
type planted struct {
	app     string // empty: appID
	id      string
	start   time.Time
	lasted  time.Duration // 0: five minutes
	outcome string        // empty: it has no summary
	mos     float64       // 0: none
	cause   string
	setupMs []int64
	errors  []digest.Count
	people  []plantedUser
}

// plantedUser is one participant: who it is, and its facts.
type plantedUser struct {
	name, alias string
	renamed     string // alias after a reportUserIDChange; empty: none
	facts       digest.Member
}

// labelOf is that of a score.
func labelOf(mos float64) string {
	switch {
	case mos == 0:
		return ""
	case mos >= 4.2:
		return "excellent"
	case mos >= 3.9:
		return "good"
	case mos >= 3:
		return "fair"
	case mos >= 2:
		return "poor"
	}
	return "bad"
}

// sessionAt returns the ID of a session that began at a time: a UUID of version 7.
func sessionAt(at time.Time, random *rand.Rand) uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], uint64(at.UnixMilli())<<16|0x7000|random.Uint64N(1<<12))
	binary.BigEndian.PutUint64(id[8:], 1<<63|random.Uint64N(1<<62))
	return id
}

// plant writes conferences into the store of a collector that has not been started.
func (c *collector) plant(t *testing.T, all []planted) {
	t.Helper()
	require.NoError(t, os.MkdirAll(c.store(), 0o700))
	store, err := sqlite.Open(t.Context(), filepath.Join(c.store(), "qos.sqlite3"), sqlite.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	random := rand.New(rand.NewPCG(1, 2))
	for some := range slices.Chunk(all, 100) { // in one transaction
		var batches []storage.Batch
		var summaries []storage.Summary
		for _, one := range some {
			one.app, one.lasted = cmp.Or(one.app, appID), cmp.Or(one.lasted, 5*time.Minute)
			records, summary := one.stored(random)
			batches = append(batches, records...)
			if one.outcome != "" {
				summaries = append(summaries, summary)
			}
		}
		_, err := store.Append(t.Context(), batches)
		require.NoError(t, err)
		for _, summary := range summaries {
			require.NoError(t, store.PutSummary(t.Context(), summary))
		}
	}
}

// stored returns what the store keeps of a conference.
func (p *planted) stored(random *rand.Rand) (batches []storage.Batch, summary storage.Summary) {
	end := p.start.Add(p.lasted)
	facts := digest.Digest{Outcome: p.outcome, MOS: p.mos, Label: labelOf(p.mos), Cause: p.cause, Participants: len(p.people), SetupMs: p.setupMs, Errors: p.errors}
	for i := range p.people {
		one := &p.people[i]
		member := one.facts
		member.Session = sessionAt(p.start, random)
		member.Label = labelOf(member.MOS)
		facts.Members = append(facts.Members, member)
		batches = append(batches, p.batch(one, uuid.UUID(member.Session).String(), end))
	}
	summary = storage.Summary{
		AppID: p.app, ConferenceID: p.id, Start: p.start, End: end, Revision: 1, Outcome: p.outcome, Participants: len(p.people),
		Label: facts.Label, Cause: p.cause, Document: json.RawMessage(`{"participants":[]}`), Digest: facts.Encode(),
	}
	if p.mos > 0 {
		summary.MOS = &p.mos
	}
	return batches, summary
}

// batch is the activity of one participant: at the start, every 20 s, and at the end.
func (p *planted) batch(u *plantedUser, session string, end time.Time) storage.Batch {
	b := storage.Batch{Session: storage.Session{ID: session, AppID: p.app, UserID: u.name, UserAlias: u.alias, Details: map[string]string{}}}
	for name, value := range map[string]string{semconv.SiteID: u.facts.SiteID, semconv.ApplicationVersion: u.facts.ApplicationVersion} {
		if value != "" {
			b.Session.Details[name] = value
		}
	}
	add := func(at time.Time, attributes map[string]any) {
		b.Records = append(b.Records, storage.Record{
			Seq: uint64(len(b.Records) + 1), ConferenceID: p.id, ConferenceAt: p.start, Fabric: 1, Name: semconv.EventEvent, At: at, ObservedAt: at,
			Activity: true, Attributes: attributes,
		})
	}
	for at := p.start; at.Before(end); at = at.Add(20 * time.Second) {
		add(at, map[string]any{semconv.EventName: "application"})
	}
	add(end, map[string]any{semconv.EventName: "application"})
	if u.renamed != "" {
		add(end, map[string]any{
			semconv.EventName: "userIDChange", semconv.EventData: fmt.Sprintf(`{"userIDType":"local","newUserID":{"userName":%[1]q,"aliasName":%[1]q}}`, u.renamed),
		})
	}
	return b
}

// plantedDay is the conferences of the last hours. Those with Firefox 144 at a site in the last six of them often fail.
func plantedDay(now time.Time) (all []planted) {
	random := rand.New(rand.NewPCG(17, 4))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for i := range 600 {
		start := now.Add(-time.Duration(10+random.IntN(24*60-20)) * time.Minute).Truncate(time.Millisecond)
		one := planted{id: fmt.Sprint("call ", i), start: start, outcome: "success", mos: 3.5 + random.Float64()}
		for k := range 2 {
			browser := pick("firefox", "chrome")
			version := map[string]string{"firefox": pick("143", "144"), "chrome": pick("141", "142")}[browser]
			user := fmt.Sprint("user ", random.IntN(40))
			one.people = append(one.people, plantedUser{name: user, alias: user, facts: digest.Member{
				SiteID: pick(htmlName, hebrewName, japaneseName), ApplicationVersion: pick("4.1", "4.2"), Browser: browser, BrowserVersion: version, OS: pick("linux", "windows"), MOS: one.mos,
				Fabrics: []digest.Fabric{{Usage: "multiplex", Connected: true, LocalCandidateType: pick("host", "srflx"), NetworkType: pick("wifi", "ethernet"), LocalAddress: fmt.Sprintf("192.0.2.%d", 16*random.IntN(4)), Codecs: "VP8 opus"}},
			}})
			f := &one.people[k].facts
			if now.Sub(start) < 6*time.Hour && f.SiteID == htmlName && f.BrowserVersion == "144" && random.IntN(3) > 0 {
				one.outcome, one.mos, one.cause = "partiallyFailed", 1.9, "iceConnectivity"
				one.errors = []digest.Count{{Name: "createOffer", Count: 2}}
				f.MOS = 1.9
			}
		}
		if random.IntN(60) == 0 {
			one.outcome = "dropped"
		}
		all = append(all, one)
	}
	return all
}
