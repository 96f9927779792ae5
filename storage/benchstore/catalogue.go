package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/join"
)

const (
	apps     = 20
	rooms    = 50_000 // names that are used again
	span     = 90 * day
	longest  = 26 * time.Hour
	mostInIt = 8
	live     = 30 // conferences without a summary yet, the newest
)

const (
	frequent = string(conference.OutcomeSuccess)
	rare     = string(conference.OutcomeTotallyFailed)
)

// catalogue is conferences to search: number i is the same each time.
type catalogue struct {
	n         int
	first     time.Time
	shares    [apps]float64        // of conferences, summed up
	documents [mostInIt + 1][]byte // by participants, as a store keeps them
	details   []byte               // of each session
}

// attendee is a session as its row has it.
type attendee struct {
	id      [16]byte
	user    string
	details []byte
}

// listing is a conference as its rows have it.
type listing struct {
	app, conference string
	start, end      time.Time
	sessions        []attendee
	summary         *storage.Summary // without its document
	document        []byte           // as a store keeps it
}

func newCatalogue(n int, now time.Time) (*catalogue, error) {
	c := &catalogue{n: n, first: now.Add(-span)}
	sum := 0.0
	for i := range c.shares { // Zipf's law
		sum += 1 / float64(i+1)
		c.shares[i] = sum
	}
	var err error
	if c.details, err = json.Marshal(details); err != nil {
		return nil, err
	}
	for people := range c.documents {
		text, err := json.Marshal(document(people))
		if err != nil {
			return nil, err
		}
		if c.documents[people], err = join.SealDocument(text); err != nil {
			return nil, err
		}
	}
	return c, nil
}

var details = map[string]string{
	semconv.ApplicationVersion: applicationVersion, semconv.LibraryVersion: libraryVersion, semconv.UserAgent: userAgent,
}

func appName(i int) string { return fmt.Sprintf("app-%02d", i) }

// app returns an app, large ones more often.
func (c *catalogue) app(r *rand.Rand) string {
	at := r.Float64() * c.shares[apps-1]
	for i, share := range c.shares {
		if at < share {
			return appName(i)
		}
	}
	return appName(apps - 1)
}

func (c *catalogue) start(i int) time.Time {
	return c.first.Add(time.Duration(i) * (span / time.Duration(c.n)))
}

func (c *catalogue) cursor(r *rand.Rand) storage.Cursor {
	i := r.IntN(c.n)
	return storage.Cursor{Start: c.start(i), Key: int64(i + 1)}
}

func (c *catalogue) window(r *rand.Rand, app string, long time.Duration) storage.Query {
	from := c.first.Add(time.Duration(r.Int64N(int64(span - long))))
	return storage.Query{AppID: app, From: from, To: from.Add(long)}
}

// at returns a conference from number i on whose name is used again, or is not.
func (c *catalogue) at(i int, again bool) listing {
	for isRoom(i) != again {
		i = (i + 1) % c.n
	}
	return c.listing(i)
}

// user returns one who took part in some conference.
func (c *catalogue) user(r *rand.Rand) string {
	for {
		if l := c.listing(r.IntN(c.n)); len(l.sessions) > 0 {
			return l.sessions[0].user
		}
	}
}

// isRoom: three of ten conferences are held under names that are used again.
func isRoom(i int) bool { return i%10 < 3 }

func (c *catalogue) listing(i int) listing {
	random := rand.New(rand.NewPCG(uint64(i), 7)) //nolint:gosec // the same each time
	l := listing{app: c.app(random), conference: fmt.Sprintf("meeting-%d-%08x", i, random.Uint32()), start: c.start(i)}
	if isRoom(i) { // of one app, and hours apart
		l.conference = fmt.Sprintf("room-%d", i%rooms)
		l.app = c.app(rand.New(rand.NewPCG(uint64(i%rooms), 8))) //nolint:gosec // as above
	}
	l.end = l.start.Add(duration(random)).Truncate(time.Millisecond)
	people := 2
	if random.IntN(5) == 0 {
		people += random.IntN(mostInIt - 1)
	}
	for j := range people {
		id := newSessionID(l.start.Add(time.Duration(j)*time.Second), random)
		l.sessions = append(l.sessions, attendee{id, fmt.Sprintf("user-%d", random.IntN(c.n)), c.details})
	}
	if i < c.n-live {
		l.summary, l.document = summarise(l, people, random), c.documents[people]
	}
	return l
}

// duration: half last less than twelve minutes, one of 10,000 more than a day.
func duration(r *rand.Rand) time.Duration {
	if r.IntN(10_000) == 0 {
		return longest
	}
	return min(4*time.Hour, time.Duration(float64(12*time.Minute)*math.Exp(r.NormFloat64())))
}

// summarise: one of 50,000 conferences went on after its summary.
func summarise(l listing, people int, r *rand.Rand) *storage.Summary {
	mos := 3 + 1.4*r.Float64()
	s := &storage.Summary{
		AppID: l.app, ConferenceID: l.conference, Start: l.start, End: l.end, Revision: 1, Outcome: outcome(r),
		Participants: people, MOS: &mos, Label: "good",
	}
	if r.IntN(50_000) == 0 {
		s.End = s.Start
	}
	return s
}

func outcome(r *rand.Rand) string {
	at := r.Float64()
	switch {
	case at < 0.0005:
		return rare
	case at < 0.005:
		return string(conference.OutcomeDropped)
	case at < 0.015:
		return string(conference.OutcomeAborted)
	case at < 0.035:
		return string(conference.OutcomeMissed)
	case at < 0.07:
		return string(conference.OutcomePartiallyFailed)
	}
	return frequent
}

// document is a summary with as much in it as one of a call. Its numbers are all different,
// as they are in calls, and do not compress away.
func document(people int) conference.Summary {
	random := rand.New(rand.NewPCG(uint64(people), 9)) //nolint:gosec // the same each time
	score := 1 + 3.4*random.Float64()
	s := conference.Summary{
		AppID: appName(0), ConferenceID: "meeting-500000-01234567", StartMs: 1_770_000_000_000, EndMs: 1_770_000_600_000,
		DurationMs: 600_000, Revision: 1, Outcome: conference.OutcomeSuccess, MOS: &score, Label: "good",
		SetupMs: make([]float64, people), ErrorsByFunction: map[string]int{}, Issues: []conference.Issue{},
	}
	for range people {
		p := conference.Participant{
			Session: fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", random.Uint64()>>16), UserID: "user-500000", Alias: "user-500000",
			StartMs: s.StartMs, EndMs: s.EndMs, DurationMs: s.DurationMs, EndReason: "closed", Connected: true,
			MOS: &score, Label: "good", MOSIn: &score, MOSOut: &score, AudioMOSIn: &score, AudioMOSOut: &score,
		}
		f := conference.Fabric{
			Fabric: 1, Usage: "multiplex", RemoteUserID: "user-500001", RemoteAlias: "user-500001", State: conference.StateConnected,
			AddedAtMs: s.StartMs, EndMs: s.EndMs, EndReason: "closed", SetupMs: &score, GatheringMs: &score, ConnectivityMs: &score,
			LocalCandidateType: "host", RemoteCandidateType: "srflx", CandidatePair: documentStream(random, "candidate-pair", ""),
		}
		for _, kind := range []string{"inbound-rtp", "outbound-rtp"} {
			f.Streams = append(f.Streams, *documentStream(random, kind, "audio"), *documentStream(random, kind, "video"))
		}
		p.Fabrics = append(p.Fabrics, f)
		s.Participants = append(s.Participants, p)
	}
	return s
}

func documentStream(r *rand.Rand, kind, media string) *conference.Stream {
	any4 := func(most float64) float64 { return math.Round(1e4*most*r.Float64()) / 1e4 }
	spread := func(most float64) *conference.Distribution {
		return &conference.Distribution{Mean: any4(most), Min: any4(most), P5: any4(most), P50: any4(most), P95: any4(most), Max: any4(most)}
	}
	good := any4(1)
	return &conference.Stream{
		SSRC: int64(r.Uint32()), StatsType: kind, MediaType: media, Codec: "opus", Intervals: 60, DurationMs: 600_000,
		Bytes: r.Int64N(2e8), Packets: r.Int64N(2e5),
		BitrateKbps: spread(2000), JitterMs: spread(50), RTTMs: spread(200), FPS: spread(30), MOS: spread(5),
		QualityShare: map[string]float64{"good": good, "excellent": 1 - good},
	}
}
