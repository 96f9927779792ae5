package storagetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

// digestOf returns a digest of the user's session and another's, with the user's names in all texts of clients.
func digestOf(alias, name string) *digest.Digest {
	member := func(n int, site, address string) digest.Member {
		return digest.Member{
			Session: uuid.MustParse(sessionID(n)), SiteID: site, ApplicationVersion: "2.3-" + alias, Browser: "firefox", BrowserVersion: "118", OS: "linux",
			Devices: []string{"Headset of " + name, "Camera"}, MOS: 3.25, Label: "fair", Cause: "senderUplink", DurationMs: 61_000,
			Fabrics: []digest.Fabric{{Usage: "audio", Connected: true, LocalCandidateType: "host", NetworkType: "wifi " + alias, LocalAddress: address, Codecs: "opus " + alias}, {Usage: "screen"}},
		}
	}
	return &digest.Digest{
		Outcome: "success", MOS: 3.5, Participants: 2, SetupMs: []int64{120}, Errors: []digest.Count{{Name: "createOffer", Count: 1}},
		Members: []digest.Member{member(1, "hq of "+alias, "192.0.2.0"), member(2, name+" at hq", "198.51.100.0")},
	}
}

// erasedDigest returns digestOf after an erasure: the user's session has no device, address, operating system, or
// text instead of a word; in the other only names are replaced.
func erasedDigest(pseudonym string) *digest.Digest {
	d := digestOf(pseudonym, pseudonym)
	own := &d.Members[0]
	own.OS, own.Devices, own.Fabrics[0].NetworkType, own.Fabrics[0].LocalAddress = "", nil, "", ""
	return d
}

func requireDigest(t require.TestingT, want *digest.Digest, body []byte) {
	var got digest.Digest
	require.NoError(t, new(digest.Decoder).Decode(body, &got))
	require.Equal(t, want, &got)
}

// follow returns a channel that is closed at the next CatchUp of the store. The follower has started when it returns.
func (f *usersFixture) follow() <-chan struct{} {
	begun, again := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(f.t.Context())
	f.t.Cleanup(func() { cancel(); wg.Wait() })
	wg.Go(func() {
		first := true
		_ = f.s.Follow(ctx, storage.Filter{}, func(c storage.Change) bool {
			switch {
			case first:
				first = false
				close(begun)
			case c.CatchUp:
				close(again)
				return false
			}
			return true
		})
	})
	<-begun
	return again
}

// A digest is erased by the sessions of the user that the store and the document have. One that cannot be decoded is
// removed. A late one without a document is not stored, because the owners of its members are unknown.
//
// spec: PRIV-02
func testEraseDigests(f *usersFixture) {
	t := f.t
	f.append(zo(1, activity(1, 0, 0)), batch(2, activity(1, 0, 0)))
	alone := summaryOf(0, "user 2")
	alone.Document = nil
	f.putSummary(alone)
	f.append(batch(3, activity(1, 0, 1000)))
	torn := summary(1000, 1000, 1)
	torn.Digest = []byte("of " + aliasName)
	f.putSummary(torn)
	other := summary(2000, 2000, 1)
	others := digestOf("", "somebody")
	others.Members = others.Members[1:]
	other.Digest = slices.Concat(others.Encode(), []byte{0xf8, 0x7f, 0x01}) // a field of a later version
	f.append(batch(3, activity(9, 0, 2000)))
	f.putSummary(other)

	followed := f.follow()
	e := f.erase(realName, aliasName)
	select {
	case <-followed:
	case <-time.After(followWait):
		require.Fail(t, "who follows does not read again")
	}
	f.absent(realName, aliasName, "192.0.2.0")
	requireDigest(t, erasedDigest(e.Pseudonym), f.conference(0).Summary.Digest)
	require.Nil(t, f.conference(1000).Summary.Digest)
	require.Equal(t, other.Digest, f.conference(2000).Summary.Digest, "without the user it stays, to the byte")
	require.Equal(t, 2, e.Summaries)

	for revision, document := range []string{"", "no JSON"} {
		alone.Revision, alone.Document = revision+2, []byte(document)
		f.putSummary(alone)
		require.Nil(t, f.conference(0).Summary.Digest)
	}
	again := summaryOf(0, "user 2") // of a processor that restored the conference from the store
	again.Document = []byte(strings.NewReplacer(forms(realName)[1], e.Pseudonym, aliasName, e.Pseudonym).Replace(string(again.Document)))
	again.Revision = 9
	f.putSummary(again)
	requireDigest(t, erasedDigest(e.Pseudonym), f.conference(0).Summary.Digest)
	f.absent(realName, aliasName)
}
