package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

// aDay is the conferences of a day of a large installation.
const aDay = 33_000

// words are values of members of digests, the frequent ones first.
var words = struct{ versions, browsers, systems, devices, networks, usages []string }{
	[]string{"4.2.0", "4.2.0", "4.2.0", "4.1.3"},
	[]string{"chrome", "chrome", "edge", "firefox", "safari"},
	[]string{"windows", "windows", "macos", "linux"},
	[]string{"Headset (0b0e:030a)", "Built-in Microphone", "HD Webcam (046d:0825)", "USB Audio (08bb:2912)"},
	[]string{"wifi", "ethernet", ""},
	[]string{"multiplex"},
}

// digestOf returns the digest of conference i, with a random number of members, at 60 sites.
func digestOf(i int) []byte {
	r := random(i)
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	d := &digest.Digest{Outcome: frequent, Label: "good", MOS: 3 + 1.4*r.Float64(), Participants: takePart(r), SetupMs: []int64{int64(200 + r.IntN(900))}}
	for p := range d.Participants {
		local := fmt.Sprintf("198.51.%d.0", r.IntN(250))
		m := digest.Member{
			SiteID: fmt.Sprintf("site-%d", r.IntN(60)), ApplicationVersion: pick(words.versions), Browser: pick(words.browsers), BrowserVersion: strconv.Itoa(130 + r.IntN(8)),
			OS: pick(words.systems), Devices: []string{pick(words.devices), pick(words.devices)}, MOS: d.MOS, Label: "good", DurationMs: int64(r.IntN(2_400_000)),
			Fabrics: []digest.Fabric{{
				Usage: pick(words.usages), Connected: true, LocalCandidateType: "srflx", RemoteCandidateType: "host", NetworkType: pick(words.networks), LocalAddress: local, Codecs: "VP8 opus",
			}},
		}
		m.Session[0], m.Session[1], m.Session[15] = byte(i>>8), byte(i), byte(p)
		d.Members = append(d.Members, m)
	}
	return d.Encode()
}

// readDigests reads the digests of a day's conferences, of all apps and of the largest.
func (e *env) readDigests(s store, c *catalogue) error {
	long := span / time.Duration(c.n) * time.Duration(min(aDay, c.n/2))
	r := random(2)
	for _, app := range []string{"", appName(0)} {
		what := strings.TrimSpace("digests of a day, " + short(aDay) + " " + app)
		var took latencies
		rows, bytes := 0, 0
		for began := time.Now(); len(took) < 3 || len(took) < mostSearches && time.Since(began) < e.seconds; {
			window := c.window(r, app, long)
			rows, bytes = 0, 0
			asked := time.Now()
			err := s.Digests(e.ctx, storage.DigestQuery{AppID: app, From: window.From, To: window.To}, func(d storage.Digest) bool {
				rows++
				bytes += len(d.Body)
				return true
			})
			if err != nil {
				return err
			}
			took = append(took, time.Since(asked))
		}
		took = took[1:] // the first fills caches
		e.latency(what, took)
		slices.Sort(took)
		e.add(what, "rows", float64(rows))
		e.add(what, "asked", float64(len(took)))
		e.add(what, "µs a row", 1000*ms(took.at(0.5))/float64(rows))
		e.add(what, "B a digest", float64(bytes)/float64(rows))
	}
	return nil
}
