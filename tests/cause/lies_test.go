package cause

import (
	"math/rand/v2"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// lies are measurements that cannot be true, as clients other than the library report them: such a client subtracts the
// counters of two readings, whatever they are.
type lies struct {
	source  *rand.Rand
	remove  bool // the measurements that would be changed are missing instead
	streams map[string]*lying
}

// lying is one stream or candidate pair.
type lying struct {
	left, changes int              // intervals, and those of them that change
	totals        map[string]int64 // the browser's counters, by attribute
	absent        int              // intervals for which the report is missing from now on
}

const (
	hourIntervals = 1800  // of 2 s: the counters of a connection that was added after an hour
	leastJump     = 32000 // packets
	leastExcess   = 17    // bits by which a counter jumps
)

// lie returns a call in which a share of the intervals of each stream is changed.
func lie(batches []plog.Logs, seed uint64, share float64, remove bool) []plog.Logs {
	l := lies{source: rand.New(rand.NewPCG(seed, 41)), remove: remove, streams: map[string]*lying{}}
	changed(batches, func(user string, records plog.LogRecordSlice) {
		for _, r := range records.All() {
			if key := streamOf(user, r); key != "" {
				l.stream(key).left++
			}
		}
	})
	for _, s := range l.streams {
		s.changes = int(share * float64(s.left))
	}
	return changed(batches, func(user string, records plog.LogRecordSlice) {
		records.RemoveIf(func(r plog.LogRecord) bool {
			key := streamOf(user, r)
			return key != "" && l.row(l.stream(key), r.Attributes())
		})
	})
}

func (l *lies) stream(key string) *lying {
	if l.streams[key] == nil {
		l.streams[key] = &lying{totals: map[string]int64{}}
	}
	return l.streams[key]
}

// streamOf returns what names a measurement's stream, empty for records of another kind.
func streamOf(user string, r plog.LogRecord) string {
	kind := eventlog.Text(r.Attributes(), semconv.StatsType)
	if r.EventName() != semconv.EventStats || kind == "" {
		return ""
	}
	ssrc, _ := eventlog.Integer(r.Attributes(), eventtest.Stats(protocol.SSRC.String()))
	return user + kind + string(rune(ssrc))
}

// row changes a measurement, or not. It reports whether there is none.
func (l *lies) row(s *lying, row pcommon.Map) (missing bool) {
	counters := counted(row)
	for name, v := range counters {
		if s.totals[name] == 0 {
			s.totals[name] = hourIntervals * v.Int()
		}
		s.totals[name] += v.Int()
	}
	s.left--
	if s.absent > 0 {
		s.absent--
		s.changes--
		return true
	}
	if s.changes == 0 || l.source.IntN(s.left+1) >= s.changes {
		return false
	}
	s.changes--
	l.change(s, row)
	return l.remove
}

// change changes one to three values of a measurement.
func (l *lies) change(s *lying, row pcommon.Map) {
	jumps := false
	for range 1 + l.source.IntN(3) {
		counters := counted(row)
		if len(counters) == 0 {
			return
		}
		name := l.oneOf(row, counters)
		v := counters[name]
		switch l.source.IntN(8) {
		case 0: // it fell by a little, and was taken for one that started again
			v.SetInt(s.totals[name])
		case 1: // -1 without sign
			v.SetInt([]int64{1<<24 - 1, 1<<32 - 1}[l.source.IntN(2)])
		case 2: // 65,536 s
			if rtt, ok := row.Get(eventtest.Stats("rttMs")); ok {
				rtt.SetDouble(3_600_000)
			}
		case 3:
			jumps = true
		case 4:
			v.SetInt(-v.Int() - 1)
		case 5:
			row.PutStr(name, "12345")
		case 6:
			v.SetInt(v.Int() + 1<<(leastExcess+l.source.IntN(15)))
		case 7:
			s.absent = min(s.changes, 1+l.source.IntN(7))
		}
	}
	if jumps {
		l.jump(row)
	}
}

// oneOf draws the name of a counter. Names are taken in the order of the row.
func (l *lies) oneOf(row pcommon.Map, counters map[string]pcommon.Value) (drawn string) {
	n := l.source.IntN(len(counters))
	for name := range row.All() {
		if _, ok := counters[name]; ok {
			if n == 0 {
				return name
			}
			n--
		}
	}
	return ""
}

// jump adds a jump of sequence numbers, which receivers count as lost.
func (l *lies) jump(row pcommon.Map) {
	wide := int64(leastJump + l.source.IntN(1<<16-leastJump))
	for _, lost := range [...]protocol.Measure{protocol.PacketsLost, protocol.RemotePacketsLost} {
		if v, ok := row.Get(eventtest.Stats(lost.String())); ok && v.Type() == pcommon.ValueTypeInt {
			v.SetInt(v.Int() + wide)
			if fraction, ok := row.Get(eventtest.Stats(protocol.RemoteLossFraction.String())); ok {
				fraction.SetDouble(0.98)
			}
		}
	}
}

// counted returns the values of a row that are increases of counters.
func counted(row pcommon.Map) map[string]pcommon.Value {
	counters := map[string]pcommon.Value{}
	for i := range protocol.Measures {
		m := &protocol.Measures[i]
		if v, ok := row.Get(eventtest.Stats(m.Name)); ok && m.PerSecond > 0 && v.Type() == pcommon.ValueTypeInt {
			counters[eventtest.Stats(m.Name)] = v
		}
	}
	return counters
}
