package dashboardextension

import (
	"math"
	"strconv"
)

// attributes are a record's, by semconv name. Stores may give a whole number as a float.
type attributes map[string]any

func (a attributes) text(name string) string {
	s, _ := a[name].(string)
	return s
}

// keep writes a text that is there to place.
func (a attributes) keep(name string, place *string) {
	if s := a.text(name); s != "" {
		*place = s
	}
}

// number returns NaN for what is absent.
func (a attributes) number(name string) float64 { return number(a[name]) }

func (a attributes) integer(name string) int64 {
	if n := a.number(name); !math.IsNaN(n) {
		return int64(n)
	}
	return 0
}

// rating is nil when it was not given.
func (a attributes) rating(name string) *int64 {
	n := a.number(name)
	if math.IsNaN(n) {
		return nil
	}
	i := int64(n)
	return &i
}

func number(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
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
