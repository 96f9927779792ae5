package e2e

import (
	"fmt"
	"math"
)

// object is a report, a track or a row.
type object map[string]any

// number is a figure of an object; NaN where it is unknown.
func (o object) number(name string) float64 {
	if v, ok := o[name].(float64); ok {
		return v
	}
	return math.NaN()
}

// object is a member that is an object itself; nil where it is unknown.
func (o object) object(name string) object {
	v, _ := o[name].(map[string]any)
	return v
}

// first is the first of the values that is known; NaN where none is.
func first(values ...float64) float64 {
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	}
	return math.NaN()
}

// reading is what one call of getStats gave the library, and when, on the page's clock in ms.
type reading struct {
	At      float64
	Reports []object
}

func (a reading) byID(id any) object {
	for _, one := range a.Reports {
		if id != nil && one["id"] == id {
			return one
		}
	}
	return nil
}

func (a reading) ofType(statsType string) (all []object) {
	for _, one := range a.Reports {
		if one["type"] == statsType {
			all = append(all, one)
		}
	}
	return all
}

// counted are counters of one source as they were last; a counter that was never there was 0.
type counted map[string]float64

// rises is by how much each number of a report grew, and keeps the numbers.
func (c counted) rises(report object) counted {
	rose := counted{}
	for name := range report {
		if now := report.number(name); !math.IsNaN(now) {
			rose[name] = now - c[name]
			c[name] = now
		}
	}
	return rose
}

// of is the rise of the first of these counters that there is; NaN where none is.
func (c counted) of(names ...string) float64 {
	for _, name := range names {
		if rose, ok := c[name]; ok {
			return rose
		}
	}
	return math.NaN()
}

// interval is one stream or the candidate pair from one measurement to the next.
type interval struct {
	key                        string
	statsType, kind            string
	ms, atMs                   float64
	now, remote, source, codec object  // reports at its end
	own, far, limited          counted // rises over it
	saidMs, sentMs             float64 // between the other end's reports, on either clock; NaN before its second
	pairRTT                    float64 // ms, as reported
	freezes                    float64 // in the last minute
	meanJitterMs, meanRTTMs    float64
	pixels                     float64 // of the element that shows it; NaN where none does
	associated                 bool
}

func (i *interval) ssrc() float64 { return i.now.number("ssrc") }

func (i *interval) inbound() bool { return i.statsType == "inbound-rtp" }

const (
	shortestIntervalMs = 500    // a stream that is younger is measured the next time
	stalestReportMs    = 15_000 // of the other end; what is older is unknown
	slowestAnswerMs    = 5000   // against the fastest; what is slower is of a clock that was set
	freezeWindowMs     = 60_000
)

// known is a stream between measurements.
type known struct {
	atMs              float64
	own, far, limited counted
	jitters, rtts     []float64
	freezes           map[float64]float64 // by time
}

// replay computes what the library had to report from the answers that it got, in their order.
type replay struct {
	streams map[string]*known
	pairs   map[any]counted
	aheadMs float64 // the page's clock before that of the reports, in the fastest answer
	watched *watched
}

// replay has each measurement looked at, with what it had to report. A measurement for which
// no answer came in time reports nothing.
func (w *watched) replay(look func(n int, want []*interval)) {
	r := &replay{streams: map[string]*known{}, pairs: map[any]counted{}, aheadMs: math.Inf(1), watched: w}
	next := 0
	for n, reported := range w.Reported {
		if reported.Reading < 0 {
			look(n, nil)
			continue
		}
		for ; next < reported.Reading; next++ {
			r.take(next, false)
		}
		look(n, r.take(next, true))
		next++
	}
}

// takenMs is when the counters of an answer were read, on the page's clock.
func (r *replay) takenMs(a reading) float64 {
	all := append(a.ofType("inbound-rtp"), a.ofType("outbound-rtp")...)
	if len(all) == 0 {
		return a.At
	}
	taken := all[0].number("timestamp")
	r.aheadMs = min(r.aheadMs, a.At-taken)
	if a.At-taken-r.aheadMs > slowestAnswerMs {
		r.aheadMs = a.At - taken
	}
	return taken + r.aheadMs
}

// selected is the candidate pair in use.
func (a reading) selected() object {
	for _, transport := range a.ofType("transport") {
		if pair := a.byID(transport["selectedCandidatePairId"]); pair != nil {
			return pair
		}
	}
	return nil
}

// take replays an answer. Those that are no measurement are where new streams begin.
func (r *replay) take(index int, measured bool) (all []*interval) {
	a := r.watched.Readings[index]
	takenMs := r.takenMs(a)
	pair := a.selected()
	if measured && pair != nil {
		all = append(all, r.measurePair(pair))
	}
	for _, statsType := range []string{"inbound-rtp", "outbound-rtp"} {
		for _, report := range a.ofType(statsType) {
			key := fmt.Sprintf("%s %.0f", statsType, report.number("ssrc"))
			at := r.streams[key]
			if at == nil {
				r.streams[key] = newKnown(takenMs, describe(a, report))
				continue
			}
			if !measured || takenMs-at.atMs < shortestIntervalMs {
				continue
			}
			one := describe(a, report)
			one.key = key
			at.measure(one, takenMs, pairRTT(all))
			if first(report.number("packetsReceived"), report.number("packetsSent")) > 0 {
				r.watched.associate(one, index)
				all = append(all, one)
			}
		}
	}
	if pair != nil && (measured || len(r.pairs) == 0) {
		r.pairs = map[any]counted{}
		for _, one := range a.ofType("candidate-pair") {
			r.pairs[one["id"]] = counted{}
			r.pairs[one["id"]].rises(one)
		}
	}
	return all
}

func (r *replay) measurePair(pair object) *interval {
	last := r.pairs[pair["id"]]
	if last == nil {
		last = counted{}
	}
	return &interval{key: "candidate-pair", statsType: "candidate-pair", now: pair, own: last.rises(pair)}
}

func pairRTT(all []*interval) float64 {
	if len(all) == 0 || all[0].statsType != "candidate-pair" {
		return math.NaN()
	}
	return rounded(rttMs(all[0]), 1)
}

// describe collects what the reports have about a stream.
func describe(a reading, report object) *interval {
	one := &interval{
		statsType: report["type"].(string), kind: report["kind"].(string), now: report,
		source: a.byID(report["mediaSourceId"]), codec: a.byID(report["codecId"]), pixels: math.NaN(),
	}
	other := map[string]string{"inbound-rtp": "remote-outbound-rtp", "outbound-rtp": "remote-inbound-rtp"}[one.statsType]
	one.remote = a.byID(report["remoteId"])
	for _, remote := range a.ofType(other) {
		if one.remote == nil && remote.number("ssrc") == one.ssrc() {
			one.remote = remote
		}
	}
	if report.number("timestamp")-one.remote.number("timestamp") > stalestReportMs {
		one.remote = nil
	}
	return one
}

func newKnown(atMs float64, begin *interval) *known {
	k := &known{atMs: atMs, own: counted{}, far: counted{}, limited: counted{}, freezes: map[float64]float64{}}
	k.own.rises(begin.now)
	k.far.rises(begin.remote)
	k.limited.rises(begin.now.object("qualityLimitationDurations"))
	return k
}

// measure fills in an interval that ends now; the next begins here.
func (k *known) measure(one *interval, atMs, pairRTT float64) {
	_, reported := k.far["timestamp"]
	_, sent := k.far["remoteTimestamp"]
	one.ms, one.atMs, one.pairRTT = math.Round(atMs-k.atMs), atMs, pairRTT
	one.own, one.far = k.own.rises(one.now), k.far.rises(one.remote)
	one.limited = k.limited.rises(one.now.object("qualityLimitationDurations"))
	one.saidMs, one.sentMs = math.NaN(), one.ms
	if reported {
		one.saidMs = one.far.of("timestamp")
	}
	if _, ok := one.far["remoteTimestamp"]; ok {
		one.sentMs = math.NaN()
		if sent {
			one.sentMs = one.far.of("remoteTimestamp")
		}
	}
	k.freezes[atMs] = first(one.own.of("freezeCount"), 0)
	for at, n := range k.freezes {
		if atMs-at < freezeWindowMs {
			one.freezes += n
		}
	}
	k.jitters = appendKnown(k.jitters, rounded(1000*first(one.now.number("jitter"), one.remote.number("jitter")), 1))
	k.rtts = appendKnown(k.rtts, rounded(rttMs(one), 1))
	one.meanJitterMs, one.meanRTTMs = mean(k.jitters), mean(k.rtts)
	k.atMs = atMs
}

func appendKnown(all []float64, v float64) []float64 {
	if math.IsNaN(v) {
		return all
	}
	return append(all, v)
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all)) // NaN of none
}

func rounded(v float64, decimals int) float64 {
	factor := math.Pow10(decimals)
	return math.Floor(v*factor+0.5) / factor
}

// rttMs is the mean of the interval's measurements, else the last, else that of the pair.
func rttMs(i *interval) float64 {
	if i.statsType == "candidate-pair" {
		return 1000 * first(i.own.of("totalRoundTripTime")/i.own.of("responsesReceived"), i.now.number("currentRoundTripTime"))
	}
	return first(1000*first(i.far.of("totalRoundTripTime")/i.far.of("roundTripTimeMeasurements"), i.remote.number("roundTripTime")), i.pairRTT)
}
