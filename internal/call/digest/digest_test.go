package digest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/digest"
)

func summary() *conference.Summary {
	return &conference.Summary{
		Outcome: conference.OutcomePartiallyFailed, Label: "fair", MOS: new(3.1234), SetupMs: []float64{120.4, 3001.5},
		ErrorsByFunction: map[string]int{"createOffer": 2, "addIceCandidate": 1}, IssueCounts: map[string]int{"frozenVideo": 3},
		Feedback: conference.Ratings{Count: 2, Worst: new(1)},
		Participants: []conference.Participant{{
			Session: "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f", UserID: "alice@example.org", Alias: "a-1", DurationMs: 61_000, MOS: new(2.5), Label: "poor",
			Client:  conference.Client{SiteID: "Ålesund", ApplicationVersion: "4.2.0", Browser: "firefox", BrowserVersion: "144"},
			Machine: conference.Machine{OS: "linux", Devices: []string{"Headset (0b0e:030a)"}},
			Fabrics: []conference.Fabric{
				{Fabric: 1, Usage: "multiplex", State: "connected", LocalCandidateType: "relay", RelayProtocol: "tls", NetworkType: "wifi", LocalAddress: "192.0.2.0", RemoteUserID: "bob", CandidatePair: &conference.Stream{RTTMs: &conference.Distribution{P50: 212.3456}}, Streams: []conference.Stream{{Codec: "opus", LossFraction: new(0.0312345)}, {Codec: "VP8", LossFraction: new(0.01), RTTMs: &conference.Distribution{P50: 180}}, {Codec: "opus"}}},
				{Fabric: 2, Usage: "multiplex", State: "connected", LocalCandidateType: "relay", RelayProtocol: "tls", NetworkType: "wifi", LocalAddress: "192.0.2.0", RemoteUserID: "carol", Streams: []conference.Stream{{Codec: "VP8"}, {Codec: "opus"}}},
				{Fabric: 3, Usage: "screen", State: "neverConnected"},
			},
		}, {Session: "no UUID"}},
	}
}

func want() *digest.Digest {
	return &digest.Digest{
		Outcome: "partiallyFailed", Label: "fair", MOS: 3.123, Participants: 2, Ratings: 2, WorstRating: 1, SetupMs: []int64{120, 3002}, RTTMs: 212.346, LossFraction: 0.031235,
		Errors: []digest.Count{{Name: "addIceCandidate", Count: 1}, {Name: "createOffer", Count: 2}}, Issues: []digest.Count{{Name: "frozenVideo", Count: 3}},
		Members: []digest.Member{{
			Session: [16]byte{0x01, 0x9a, 0x9f, 0x3c, 0x7b, 0x1a, 0x7c, 0x3e, 0x9f, 0x10, 0x2b, 0x6f, 0x0c, 0x1d, 0x2e, 0x3f},
			SiteID:  "Ålesund", ApplicationVersion: "4.2.0", Browser: "firefox", BrowserVersion: "144", OS: "linux", Devices: []string{"Headset (0b0e:030a)"},
			MOS: 2.5, Label: "poor", DurationMs: 61_000,
			Fabrics: []digest.Fabric{
				{Usage: "multiplex", Connected: true, LocalCandidateType: "relay", RelayProtocol: "tls", NetworkType: "wifi", LocalAddress: "192.0.2.0", Codecs: "VP8 opus"},
				{Usage: "screen"},
			},
		}, {}},
	}
}

func decode(t require.TestingT, b []byte) *digest.Digest {
	var d digest.Digest
	require.NoError(t, new(digest.Decoder).Decode(b, &d))
	return &d
}

// Fabrics with equal facts are one; what a summary has of names is not in a digest.
func TestOf(t *testing.T) {
	b := digest.Of(summary()).Encode()
	require.Equal(t, want(), decode(t, b))
	for _, name := range []string{"alice", "a-1", "bob", "carol"} {
		require.NotContains(t, string(b), name)
	}
	require.Less(t, len(b), 270)
	none := conference.Summary{Outcome: conference.OutcomeSuccess}
	none.LikelyCause.Cause = "none"
	require.Equal(t, &digest.Digest{Outcome: "success"}, decode(t, digest.Of(&none).Encode()), "no fault has no cause")
	none.LikelyCause.Cause = "unknown"
	require.Equal(t, "unknown", decode(t, digest.Of(&none).Encode()).Cause)
}

// A Digest that is used again has nothing of the digest before.
func TestDecodeAgain(t *testing.T) {
	var d digest.Digest
	var r digest.Decoder
	require.NoError(t, r.Decode(digest.Of(summary()).Encode(), &d))
	require.NoError(t, r.Decode((&digest.Digest{Errors: []digest.Count{{Count: 1}}, Members: []digest.Member{{Fabrics: []digest.Fabric{{Usage: "audio"}}}}}).Encode(), &d))
	require.Equal(t, []digest.Count{{Count: 1}}, d.Errors)
	require.Len(t, d.Members, 1)
	require.Equal(t, []digest.Fabric{{Usage: "audio"}}, d.Members[0].Fabrics)
	require.Empty(t, d.Members[0].Devices)
	require.Empty(t, d.SetupMs)
	require.Zero(t, d.MOS)
}

func TestEncodeIsBounded(t *testing.T) {
	d := digest.Digest{Participants: 1000}
	for range 1000 {
		d.Members = append(d.Members, digest.Member{SiteID: strings.Repeat("s", 250)})
	}
	b := d.Encode()
	require.LessOrEqual(t, len(b), digest.MaxBytes)
	got := decode(t, b)
	require.Equal(t, 1000, len(got.Members)+got.Omitted)
	require.Greater(t, len(got.Members), 120)
	again := decode(t, got.Encode())
	require.Equal(t, got, again, "what was left out stays counted")
}

func TestFieldsThatAreUnknownAreSkipped(t *testing.T) {
	b := protowire.AppendFixed64(protowire.AppendTag(nil, 900, protowire.Fixed64Type), 7)
	b = protowire.AppendVarint(protowire.AppendTag(b, 901, protowire.VarintType), 7)
	require.Equal(t, want(), decode(t, append(digest.Of(summary()).Encode(), b...)))
}

func TestMalformed(t *testing.T) {
	whole := digest.Of(summary()).Encode()
	for n := range whole {
		var d digest.Digest
		if err := new(digest.Decoder).Decode(whole[:n], &d); err != nil {
			require.ErrorIs(t, err, digest.ErrMalformed)
		}
	}
	short := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte("too short"))
	var d digest.Digest
	require.ErrorIs(t, new(digest.Decoder).Decode(protowire.AppendBytes(protowire.AppendTag(nil, 11, protowire.BytesType), short), &d), digest.ErrMalformed)
	_, err := digest.Rewrite([]byte{0xff}, func(*digest.Member) {})
	require.ErrorIs(t, err, digest.ErrMalformed)
}

func TestRewrite(t *testing.T) {
	b, err := digest.Rewrite(digest.Of(summary()).Encode(), func(m *digest.Member) { m.SiteID, m.Devices = "", nil })
	require.NoError(t, err)
	changed := want()
	changed.Members[0].SiteID, changed.Members[0].Devices = "", nil
	require.Equal(t, changed, decode(t, b))
}

func texts() *rapid.Generator[string] { return rapid.StringN(0, 12, 40) }

func drawn(t *rapid.T) *digest.Digest {
	count := rapid.Custom(func(t *rapid.T) digest.Count {
		return digest.Count{Name: texts().Draw(t, "name"), Count: rapid.IntRange(0, 1<<30).Draw(t, "count")}
	})
	score := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 5000).Draw(t, "mos")) / 1000 })
	fabric := rapid.Custom(func(t *rapid.T) digest.Fabric {
		return digest.Fabric{Usage: texts().Draw(t, "usage"), Connected: rapid.Bool().Draw(t, "connected"), NetworkType: texts().Draw(t, "network"), Codecs: texts().Draw(t, "codecs"), LocalAddress: texts().Draw(t, "address")}
	})
	member := rapid.Custom(func(t *rapid.T) digest.Member {
		return digest.Member{SiteID: texts().Draw(t, "site"), MOS: score.Draw(t, "mos"), DurationMs: rapid.Int64Range(0, 1<<31-1).Draw(t, "ms"), Devices: some(t, rapid.StringN(1, 9, 20)), Fabrics: some(t, fabric)}
	})
	return &digest.Digest{
		Outcome: texts().Draw(t, "outcome"), MOS: score.Draw(t, "mos"), SetupMs: some(t, rapid.Int64Range(0, 1<<31-1)),
		Errors: some(t, count), Issues: some(t, count), Members: some(t, member), Omitted: rapid.IntRange(0, 9).Draw(t, "omitted"),
	}
}

// some is nil, not empty, without elements, as a decoded digest has it.
func some[T any](t *rapid.T, of *rapid.Generator[T]) []T {
	all := rapid.SliceOfN(of, 0, 4).Draw(t, "all")
	if len(all) == 0 {
		return nil
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t)
		require.Equal(t, d, decode(t, d.Encode()))
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(digest.Of(summary()).Encode())
	f.Add([]byte{0x5a, 0x02, 0x0a, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		var d digest.Digest
		if new(digest.Decoder).Decode(b, &d) != nil {
			return
		}
		first := d.Encode()
		require.LessOrEqual(t, len(first), max(digest.MaxBytes, len(b)+1000))
		require.Equal(t, first, decode(t, first).Encode(), "a digest that was read is stable")
	})
}

func BenchmarkDecode(b *testing.B) {
	encoded := digest.Of(summary()).Encode()
	var r digest.Decoder
	var d digest.Digest
	b.ReportAllocs()
	b.SetBytes(int64(len(encoded)))
	for b.Loop() {
		if r.Decode(encoded, &d) != nil {
			b.Fatal("malformed")
		}
	}
}

// A real name in a text of an application is replaced by its alias: counts, trends and comparisons have no names.
//
// spec: DASH-03
func TestNoRealNames(t *testing.T) {
	s := summary()
	p := &s.Participants[0]
	p.UserID, p.UserIDs, p.Alias = "Alice Ek", []string{"Alice Berg", "Alice Ek"}, "a-1"
	p.Client.SiteID, p.Client.ApplicationVersion = "room of alice_ek", "4.2.0"
	p.Machine.Devices = []string{"Alice Berg’s headset", "Camera"}
	p.Fabrics[0].Usage, p.Fabrics[0].RemoteUserID, p.Fabrics[0].RemoteAlias = "to Bob Ås", "Bob Ås", "b-2"
	p.Fabrics[0].NetworkType, p.Fabrics[0].RelayProtocol, p.Fabrics[0].LocalCandidateType, p.Fabrics[0].RemoteCandidateType = "of Bob Ås", "bob_ås", "Bob%20Ås", "x/Bob Ås"
	p.Fabrics[0].Streams[0].Codec = "audio/Bob Ås"
	s.Participants[1].Client.SiteID = "Alice Ek's floor"
	d := digest.Of(s)
	require.Equal(t, digest.Fabric{
		Usage: "to b-2", Connected: true, LocalCandidateType: "b-2", RemoteCandidateType: "x/b-2", RelayProtocol: "b-2", NetworkType: "of b-2",
		LocalAddress: "192.0.2.0", Codecs: "VP8 audio/b-2 opus",
	}, d.Members[0].Fabrics[0])
	require.Equal(t, []string{"room of a-1", "4.2.0", "a-1’s headset", "Camera", "a-1's floor"}, []string{
		d.Members[0].SiteID, d.Members[0].ApplicationVersion, d.Members[0].Devices[0], d.Members[0].Devices[1], d.Members[1].SiteID,
	})
	require.Equal(t, "Alice Berg’s headset", p.Machine.Devices[0], "the summary stays as it is")
	p.UserID, p.UserIDs, p.Fabrics[1].RemoteUserID, p.Fabrics[1].RemoteAlias = "Relay", []string{"opus"}, "multiplex", "b-2"
	require.Equal(t, want().Members[0].Fabrics[0], digest.Of(s).Members[0].Fabrics[1], "a name that is a word of the protocol")
	p.UserID, p.UserIDs = "Ålesund", nil
	p.Alias, p.Client.SiteID = "Ålesund", "Ålesund"
	require.Equal(t, "Ålesund", digest.Of(s).Members[0].SiteID, "a text as userID is its own alias")
}
