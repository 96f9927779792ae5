package harness

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// Record is one record that a frame must come to in the store.
type Record struct {
	Name  string // semconv event name
	Value string // what tells its content from others', as Content reads it
	None  bool   // it belongs to no conference: counted, not stored
}

// Frame is a numbered frame as the client keeps it.
type Frame struct {
	From, Seq uint64 // numbers that it stands for; From is smaller in skips alone
	Text      string
	Records   []Record
	Bad       bool          // it must be refused
	Sent      int           // how often it went out
	Acked     bool          // by an ack of its number or a higher one
	Refused   protocol.Code // by a nack
	lost      loss          // what a skip of it would declare
}

// loss is what dropping a frame loses.
type loss struct{ stats, events int }

// Skip says whether the frame declares dropped numbers.
func (f *Frame) Skip() bool { return f.From < f.Seq }

func head(kind string, seq uint64, at int64) string {
	return fmt.Sprintf(`{"type":%q,"seq":%d,"at":%d,`, kind, seq, at)
}

// newFrame makes a frame: mostly measurements, some of each other kind, one in sixty bad.
func newFrame(dice *rand.Rand, client string, seq uint64, at int64) *Frame {
	f := &Frame{From: seq, Seq: seq, lost: loss{events: 1}}
	mark := fmt.Sprintf("%s %d", client, seq)
	switch n := dice.IntN(60); {
	case n == 0:
		f.Bad, f.Text = true, head("event", seq, at)+`"fabric":1,"event":"no name"}`
	case n < 10:
		f.Text = head("log", seq, at) + fmt.Sprintf(`"fabric":1,"text":%q}`, mark)
		f.Records = []Record{{Name: semconv.EventLog, Value: mark}}
	case n < 18:
		f.Text = head("event", seq, at) + fmt.Sprintf(`"fabric":1,"event":"customEvent","data":{"mark":%q}}`, mark)
		f.Records = []Record{{Name: semconv.EventEvent, Value: fmt.Sprintf(`{"mark":%q}`, mark)}}
	default:
		f.measure(1+dice.IntN(3), at)
	}
	return f
}

// measure makes a measurement whose packets tell its rows from all others.
func (f *Frame) measure(rows int, at int64) {
	f.lost = loss{stats: 1}
	var text []string
	for index := range rows {
		packets := 8*(f.Seq%1_000_000) + uint64(index)
		text = append(text, fmt.Sprintf(`[1,%d,"opus",%d,3.5]`, 7+index, packets))
		f.Records = append(f.Records, Record{Name: semconv.EventStats, Value: strconv.FormatUint(packets, 10)})
	}
	f.Text = head("stats", f.Seq, at) + `"fabric":1,"intervalMs":2000,"rows":[` + strings.Join(text, ",") + `]}`
}

// newSkip declares frames as dropped. One in two names a loss that belongs to no fabric,
// which no conference can be found for.
func newSkip(dice *rand.Rand, dropped []*Frame, at int64) *Frame {
	first, last := dropped[0], dropped[len(dropped)-1]
	f := &Frame{From: first.From, Seq: last.Seq}
	for _, d := range dropped {
		f.lost.stats += d.lost.stats
		f.lost.events += d.lost.events
	}
	entry := func(fabric int, l loss) string {
		return fmt.Sprintf(`{"fabric":%d,"stats":%d,"events":%d}`, fabric, l.stats, l.events)
	}
	value := func(l loss) string { return fmt.Sprintf("%d %d %d", f.From, l.stats, l.events) }
	here, nowhere := f.lost, loss{}
	if here.events > 0 && dice.IntN(2) == 0 {
		here.events, nowhere.events = 0, here.events
	}
	entries := []string{entry(2, here)}
	f.Records = []Record{{Name: semconv.EventSkip, Value: value(here)}}
	if nowhere.events > 0 {
		entries = append(entries, entry(0, nowhere))
		f.Records = append(f.Records, Record{Name: semconv.EventSkip, Value: value(nowhere), None: true})
	}
	f.Text = head("skip", f.Seq, at) + fmt.Sprintf(`"from":%d,"lost":[%s]}`, f.From, strings.Join(entries, ","))
	return f
}
