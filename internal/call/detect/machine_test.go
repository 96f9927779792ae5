package detect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

var timing = Timing{After: 8 * time.Second, ResolveAfter: 16 * time.Second}

// episodes feeds one class per 2 s: u unknown, . clear, - between, ! breach.
func episodes(classes string, excused ...Span) []Episode {
	var line Timeline
	for i, c := range classes {
		class := map[rune]Class{'.': Clear, '-': Between, '!': Breach}[c]
		line.Add(base+int64(i)*CellMs, base+int64(i+1)*CellMs, Word(0).with(levelLoss, class))
	}
	return line.Episodes(timing, excused, func(w Word) Class { return w.Class(levelLoss) })
}

// at is a span of cells.
func at(from, to int64) Span { return Span{base + from*CellMs, base + to*CellMs} }

// spec: CONF-03
func TestEpisodes(t *testing.T) {
	f := func(classes string, want ...Episode) {
		t.Helper()
		require.Equal(t, want, episodes(classes), classes)
	}
	closed := func(from, to int64) Episode {
		return Episode{SinceMs: base + from*CellMs, UntilMs: base + to*CellMs}
	}
	open := func(from, to int64) Episode {
		e := closed(from, to)
		e.Open = true
		return e
	}
	f("")
	f("....................")
	f("!!!.!!!.!!!")                  // never bad for long enough
	f("!!!-!!!-!!!")                  // what is neither interrupts
	f("!!!!", open(0, 4))             // 8 s
	f("..!!!!........", closed(2, 6)) // resolved by 16 s
	f("..!!!!.......", open(2, 6))    // not quite
	f("!!!!.......!........", closed(0, 12))
	f("!!!!--------.......", open(0, 12)) // between holds
	f("!!!!........!!!!........", closed(0, 4), closed(12, 16))
	f("!!!uuu!........", closed(0, 7))                        // a short gap interrupts nothing
	f("!!!uuuuuuuuuuuuuuuu!!!")                               // a long one does
	f("!!!!uuuuuuuuuuuuuuuu....", closed(0, 4))               // and ends what was raised
	f("!!!!uuuuuuuuuuuuuuuu!!!!", closed(0, 4), open(20, 24)) // so that it is raised again
	f("!!!!uuuuuuuuuuuuuuu!!!!", open(0, 23))                 // 30 s are no gap
}

// What is muted or held is no fault.
func TestEpisodesOfWhatIsExcused(t *testing.T) {
	f := func(classes string, excused []Span, want ...Span) {
		t.Helper()
		var got []Span
		for _, e := range episodes(classes, excused...) {
			got = append(got, Span{e.SinceMs, e.UntilMs})
		}
		require.Equal(t, want, got, classes)
	}
	f("!!!!!!!!!!", []Span{at(0, 20)})
	f("!!!!!!!!!!", []Span{at(4, 20)}, at(0, 4))
	f("!!!!!!!!!!", []Span{at(0, 6)}, at(6, 10))
	f("!!!!!!!!!!", []Span{at(3, 7)})
	f("!!!!!!!!!!", []Span{at(4, 6)}, at(0, 4), at(6, 10))
	f("!!!!uuuuuu!!!!", []Span{at(5, 6)}, at(0, 4), at(10, 14))
	f("!!!!", []Span{at(-9, -5), at(9, 12)}, at(0, 4))
	f("!!!!", []Span{{}}, at(0, 4))
}

// What was never anything but bad is raised sooner.
func TestEpisodesFromTheStart(t *testing.T) {
	f := func(classes string, want ...Span) {
		t.Helper()
		var line Timeline
		for i, c := range classes {
			class := map[rune]Class{'.': Clear, '-': Between, '!': Breach}[c]
			line.Add(base+int64(i)*CellMs, base+int64(i+1)*CellMs, Word(0).with(levelSilence, class))
		}
		var got []Span
		timing := NewRules(DefaultConfig()).Timing(levelSilence)
		for _, e := range line.Episodes(timing, []Span{at(20, 22)}, func(w Word) Class { return w.Class(levelSilence) }) {
			got = append(got, Span{e.SinceMs, e.UntilMs})
		}
		require.Equal(t, want, got, classes)
	}
	f("!!!!!!!")                                       // 14 s
	f("!!!!!!!!", at(0, 8))                            // 16 s
	f("uuuu!!!!!!!!", at(4, 12))                       // joined later, or without a level at first
	f("!!!!!!!!....!!!!!!!!", at(0, 8))                // once heard, it takes 30 s
	f("-!!!!!!!!!!!!!!")                               // 28 s
	f("-!!!!!!!!!!!!!!!", at(1, 16))                   // 30 s
	f("!!!!!!!uuuuuuuuuuuuuuuuu!!!!!")                 // nothing was heard of it in between: it begins anew
	f("uuuuuuuuuuuuuuuuuu!!!!!!!!!!!!", at(22, 30))    // unmuted, and still nothing
	f("................................!!!!!!!!!!!!!") // 26 s
	for name, change := range map[string]func(*Config){
		"switched off":     func(c *Config) { c.NeverHeard.Disabled = true },
		"longer than that": func(c *Config) { c.NeverHeard.After = time.Minute },
	} {
		c := DefaultConfig()
		change(&c)
		require.Equal(t, c.SilentMicrophone.Timing(), NewRules(c).Timing(levelSilence), name)
	}
	require.Equal(t, DefaultConfig().HighPacketLoss.Timing(), NewRules(DefaultConfig()).Timing(levelLoss))
}

// TestNoFlapping: a metric that hovers at an edge is raised once, or not at all.
func TestNoFlapping(t *testing.T) {
	rules := NewRules(DefaultConfig())
	raises := func(interval int64, value func(i int) float64) int {
		var line Timeline
		for i := range 400 {
			lost := value(i) * 500
			s := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, IntervalMs: float64(interval)}, eventtest.Values{protocol.Packets: 500 - lost, protocol.PacketsLost: lost})
			from := base + int64(i)*interval
			line.Add(from, from+interval, rules.Read(&s).Word)
		}
		class := func(w Word) Class { return w.Class(levelLoss) }
		return len(line.Episodes(rules.Level(levelLoss).Timing(), nil, class))
	}
	for _, interval := range []int64{2000, 5000, 10_000, 20_000} {
		edge := btoi(interval >= 10_000) // a shorter interval is not bad for long enough
		require.Equal(t, edge, raises(interval, func(i int) float64 { return 0.032 - 0.004*float64(i%2) }), "about raise, %d ms", interval)
		require.Equal(t, 1, raises(interval, func(i int) float64 { return 0.032 - 0.004*float64(btoi(i > 100)*(i%2)) }), "above, then about raise")
		require.Zero(t, raises(interval, func(i int) float64 { return 0.022 - 0.004*float64(i%2) }), "about resolve, %d ms", interval)
	}
	// At the fastest pace a single bad or good interval in between changes nothing.
	require.Zero(t, raises(2000, func(i int) float64 { return 0.05 * float64(btoi(i%4 == 0)) }))
	require.Equal(t, 1, raises(2000, func(i int) float64 { return 0.05 * float64(btoi(i%5 != 4)) }))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestRaisesAreBoundedByExcursions: between two raises it was well for long enough, or
// nothing was heard; and each was bad for long enough. Said in terms of cells, not of the
// machine.
func TestRaisesAreBoundedByExcursions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(0, 80).Draw(t, "length")
		classes := make([]byte, length)
		for i := range classes {
			classes[i] = rapid.SampledFrom([]byte("!!!!-...u")).Draw(t, "class")
			if i > 0 && rapid.IntRange(0, 3).Draw(t, "stay") > 0 {
				classes[i] = classes[i-1]
			}
		}
		found := episodes(string(classes))
		bad := longRuns(classes, '!', 4)
		if len(found) > len(bad) {
			t.Fatalf("%d raises, %d excursions in %s", len(found), len(bad), classes)
		}
		if len(bad) > 0 && len(found) == 0 {
			t.Fatalf("missed an excursion in %s", classes)
		}
		for i, e := range found {
			first, last := (e.SinceMs-base)/CellMs, (e.UntilMs-base)/CellMs
			if classes[first] != '!' || classes[last-1] != '!' && classes[last-1] != '-' {
				t.Fatalf("%v in %s", e, classes)
			}
			if i > 0 {
				before := (found[i-1].UntilMs - base) / CellMs
				quiet := classes[before:first]
				if len(longRuns(quiet, '.', 8)) == 0 && len(quiet) <= 15 {
					t.Fatalf("raised again after %s in %s", quiet, classes)
				}
			}
		}
	})
}

// longRuns returns where c stands n times in a row, unknown ones between not counted, unless
// they are so many that all is forgotten.
func longRuns(classes []byte, c byte, n int) (starts []int) {
	count, unknown := 0, 0
	for i, have := range classes {
		if have == 'u' {
			if unknown++; int64(unknown)*CellMs > forgetMs {
				count = 0
			}
			continue
		}
		unknown = 0
		switch have {
		case c:
			if count++; count == n {
				starts = append(starts, i)
			}
		default:
			count = 0
		}
	}
	return starts
}

func TestMerge(t *testing.T) {
	require.Equal(t, []Span{at(0, 5), at(7, 9)}, Merge([]Span{at(7, 9), at(3, 5), at(0, 4), at(6, 6), at(5, 5)}))
	require.Empty(t, Merge(nil))
}
