package readapi

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/call/event"
)

// maxCustomStats bounds the series of sendCustomStats in one answer. A page sends 1,000 at a
// time, under names of its own.
const maxCustomStats = 200

// Which time stamps of an application are believed: it may hand over what it gathered before.
const (
	customStatAge   = 24 * time.Hour
	customStatAhead = time.Minute
)

// customStat is a number that an application sends under a name of its own (requirement LIB-09).
type customStat struct {
	Session string       `json:"session" mask:"-"` // ID of the session
	Fabric  int          `json:"fabric"`           // number of the fabric; 0: of the conference
	Name    string       `json:"name"`             // name that the application gave
	Points  customPoints `json:"points"`           // in order of time
}

type customPoint struct {
	at     int64 // Unix ms
	value  float64
	weight int // how many values it is the mean of
}

// customPoints are written as two arrays, of times and of values.
type customPoints []customPoint

type customKey struct {
	fabricKey
	name string
}

type customStats struct {
	byKey   map[customKey]*customStat
	leftOut int
}

// take keeps the event if it is a number of the application's, and says whether it was one.
func (c *customStats) take(e *event.Event, n names) bool {
	if e.Name != "customStats" {
		return false
	}
	object, _ := n.document(e.Text, hiddenInEvents).(map[string]any)
	data := members(object)
	name, value := data.text("name"), data.number("value")
	if name == "" || math.IsNaN(value) || math.IsInf(value, 0) {
		return false
	}
	key := customKey{fabricKey{e.Session, e.Fabric}, name}
	one := c.byKey[key]
	if one == nil {
		if len(c.byKey) == maxCustomStats {
			c.leftOut++
			return true
		}
		one = &customStat{Session: e.Session, Fabric: e.Fabric, Name: name}
		c.byKey[key] = one
	}
	one.add(customPoint{at: customTime(e, data["timestamp"]), value: value, weight: 1})
	return true
}

// customTime is the application's own time stamp where it can be true, else the event's. A
// clock that the receiver had to correct gives none that can.
func customTime(e *event.Event, stamp any) int64 {
	ms := number(stamp)
	if e.TimeCorrected || !(ms >= float64(e.AtMs-customStatAge.Milliseconds()) && ms <= float64(e.AtMs+customStatAhead.Milliseconds())) {
		return e.AtMs
	}
	return int64(ms)
}

// add makes neighbours their mean where there are twice as many points as are shown.
func (s *customStat) add(p customPoint) {
	s.Points = append(s.Points, p)
	if len(s.Points) == 2*maxPoints {
		s.Points = s.Points.thin()
	}
}

// sort puts the points in order of time: they may be handed over late.
func (p customPoints) sort() {
	slices.SortStableFunc(p, func(a, b customPoint) int { return cmp.Compare(a.at, b.at) })
}

func (p customPoints) thin() customPoints {
	p.sort()
	n := len(p) / 2
	for i := range n {
		a, b := p[2*i], p[2*i+1]
		weight := a.weight + b.weight
		share := float64(b.weight) / float64(weight)
		p[i] = customPoint{at: b.at, value: a.value*(1-share) + b.value*share, weight: weight}
	}
	return p[:n]
}

// MarshalJSON gives {"t": [Unix ms], "value": [numbers]}.
func (p customPoints) MarshalJSON() ([]byte, error) {
	b := []byte(`{"t":[`)
	for i, one := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, one.at, 10)
	}
	b = append(b, `],"value":[`...)
	for i, one := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, one.value, 'g', -1, 64)
	}
	return append(b, `]}`...), nil
}

// list returns the series by session, name and fabric, at most maxPoints each.
func (c *customStats) list() []*customStat {
	out := make([]*customStat, 0, len(c.byKey))
	for _, one := range c.byKey {
		if len(one.Points) > maxPoints {
			one.Points = one.Points.thin()
		}
		one.Points.sort()
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b *customStat) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Fabric, b.Fabric))
	})
	return out
}
