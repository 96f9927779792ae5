package narrative

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
)

// clean returns a text that an application wrote as a part of one line: control characters and line separators are spaces,
// marks that change the direction of text are removed, and it is cut to maxRunes.
func clean(text string) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case unicode.IsControl(r) || unicode.IsSpace(r):
			space = n > 0
			continue
		case directional(r):
			continue
		}
		if n >= maxRunes {
			b.WriteString("…")
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// directional reports whether a character overrides the direction of the text behind it.
func directional(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }

// joined joins the texts that are not empty.
func joined(between string, texts ...string) string {
	var known []string
	for _, text := range texts {
		if text != "" {
			known = append(known, text)
		}
	}
	return strings.Join(known, between)
}

func labelled(word, text string) string {
	if text = clean(text); text == "" {
		return ""
	}
	return word + text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.DateTime) }

func clockTime(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.TimeOnly) }

// stampAfter is the time of day alone on the same day.
func stampAfter(before, ms int64) string {
	if stamp(before)[:len(time.DateOnly)] == stamp(ms)[:len(time.DateOnly)] {
		return clockTime(ms)
	}
	return stamp(ms)
}

// duration returns "1 h 02 min", "3 min 05 s", "4.2 s" or "300 ms".
func duration(ms int64) string {
	seconds := (ms + 500) / 1000
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.1f s", float64(ms)/1000)
	case seconds < 60:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%d min %02d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d h %02d min", seconds/3600, seconds/60%60)
}

// short has one decimal below 10.
func short(v float64) string {
	if v != 0 && math.Abs(v) < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func percent(share float64) string { return short(share*100) + " %" }

func milliseconds(v float64) string {
	if v >= 10_000 {
		return fmt.Sprintf("%.1f s", v/1000)
	}
	return short(v) + " ms"
}

// value returns the value of an issue's metric, whose name ends with its unit.
func value(metric string, v float64) string {
	switch metric {
	case "mos":
		return fmt.Sprintf("score %.2f", v)
	case "fps":
		return short(v) + " frames/s"
	case "signal_dbm":
		return fmt.Sprintf("%.0f dBm", v)
	case "audio_level":
		if v == 0 {
			return "no sound at all"
		}
		return fmt.Sprintf("level %.4f", v)
	case "key_frame_requests_per_s":
		return fmt.Sprintf("%.1f/s", v)
	case "ice_restarts", "device_changes":
		return plural(int(v), "time", "times")
	case "disrupted_ms", "without_media_ms", "relayed_ms", "late_ms":
		return duration(int64(v))
	}
	switch {
	case strings.HasSuffix(metric, "_fraction"):
		return percent(v)
	case strings.HasSuffix(metric, "_ms"):
		return milliseconds(v)
	}
	return fmt.Sprintf("%.4g", v)
}
