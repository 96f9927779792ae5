package readapi

import (
	"math"
	"strconv"
)

// members are those of an object that an application sent as JSON.
type members map[string]any

func (m members) text(name string) string {
	s, _ := m[name].(string)
	return s
}

// number returns NaN for what is absent.
func (m members) number(name string) float64 { return number(m[name]) }

func number(v any) float64 {
	switch v := v.(type) {
	case string:
		return fromText(v)
	case interface{ Float64() (float64, error) }: // json.Number
		if n, err := v.Float64(); err == nil {
			return n
		}
	}
	return math.NaN()
}

func fromText(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return n
}
