package narrative

import (
	"fmt"
	"strings"

	"github.com/qosrtc/qos/internal/call/conference"
)

// Limits of one text. A line says how many further ones exist.
const (
	maxParticipants = 50
	maxFabrics      = 10 // of one participant
	maxIssues       = 20
	maxErrors       = 20
	maxRatings      = 20
	maxRunes        = 300 // of one value that an application wrote
)

// The states of a conference.
const (
	StateLive    = "live"
	StatePending = "pending" // silent, and without a summary
	StateEnded   = "ended"
)

// Conference is what Text describes. The caller has removed what the reader may not see.
type Conference struct {
	AppID, ConferenceID string
	URL                 string // of its page; empty: none
	State               string
	StartMs, EndMs      int64               // ms since the Unix epoch
	Summary             *conference.Summary // nil while there is none; of a live conference its summary so far
	Missing             string              // why there is no summary so far, as a sentence; may be empty
	Participants        []Participant
	Errors              []Error // in order of time
	LeftOut             int     // entries of the time-line that were not read; some may be errors
	Unattached          int     // annotations that may belong to it
}

// Participant is one session.
type Participant struct {
	Session string
	Name    string // empty: unnamed
	Browser string // family, major version and system, such as "firefox 144 on linux"
	Site    string // siteID
	Version string // applicationVersion
}

// Error is one reported error.
type Error struct {
	AtMs     int64
	Session  string
	Function string
	Name     string
	Message  string
}

// Text returns the lines of a conference, each with a line feed. Values that applications wrote are on one line each.
func Text(c *Conference) string {
	w := &writer{c: c, names: namesOf(c)}
	w.head()
	w.score()
	w.cause()
	w.participants()
	w.issues()
	w.errors()
	w.ratings()
	w.remarks()
	return w.out.String()
}

// writer writes one text.
type writer struct {
	c     *Conference
	names map[string]string // by session
	out   strings.Builder
}

// line writes one line. Its values must be clean.
func (w *writer) line(format string, values ...any) {
	fmt.Fprintf(&w.out, format+"\n", values...)
}

// section begins a list.
func (w *writer) section(title string, count int) { w.line("\n%s (%d)", title, count) }

// more says how many entries of a list are left out.
func (w *writer) more(count int, one, many string) {
	if count > 0 {
		w.line("- and %s", plural(count, one, many))
	}
}

func (w *writer) name(session string) string {
	if name := w.names[session]; name != "" {
		return name
	}
	return "a participant"
}

// namesOf returns how each session is called; who has no name has a number.
func namesOf(c *Conference) map[string]string {
	out := make(map[string]string, len(c.Participants))
	for i, p := range c.Participants {
		if out[p.Session] = clean(p.Name); out[p.Session] == "" {
			out[p.Session] = fmt.Sprintf("participant %d", i+1)
		}
	}
	return out
}

func (w *writer) head() {
	c := w.c
	w.line("Conference %s (app %s)", clean(c.ConferenceID), clean(c.AppID))
	status := outcomes[""]
	switch {
	case c.State == StateLive:
		status = "Live: it goes on, and all below is preliminary"
	case c.State == StatePending:
		status = "It is silent and has no final summary"
	case c.Summary != nil:
		status = wordOf(outcomes, string(c.Summary.Outcome))
	}
	w.line("Outcome: %s", status)
	w.line("Time: %s to %s UTC, %s", stamp(c.StartMs), stampAfter(c.StartMs, c.EndMs), duration(c.EndMs-c.StartMs))
	if c.URL != "" {
		w.line("Page: %s", clean(c.URL))
	}
	if c.Missing != "" {
		w.line("%s", clean(c.Missing))
	}
}

func (w *writer) score() {
	s := w.c.Summary
	switch {
	case s == nil:
		return
	case s.MOS == nil:
		w.line("Score: unknown, nothing could be scored")
		return
	}
	text := fmt.Sprintf("Score: %.2f of 5 (%s)", *s.MOS, clean(s.Label))
	if worst := s.WorstParticipant; worst != nil && len(s.Participants) > 1 {
		text += fmt.Sprintf(", lowest %.2f (%s)", worst.MOS, w.name(worst.Session))
	}
	w.line("%s", text)
}

func (w *writer) cause() {
	if w.c.Summary == nil {
		return
	}
	f := &w.c.Summary.LikelyCause
	if f.Cause == "" {
		return
	}
	words := string(f.Cause)
	if f.Server {
		words = serverPath
	}
	text := "Likely cause: " + w.causeText(words, f.Session, f.Peer)
	if f.Confidence > 0 {
		text += fmt.Sprintf(" (%s sure)", percent(f.Confidence))
	}
	w.line("%s", text)
	for _, e := range f.Evidence {
		w.line("- %s", joined(": ", joined(", ", w.nameOrNone(e.Session), clean(e.MediaType)), clean(e.Text)))
	}
	for _, o := range f.Others {
		w.line("- less likely: %s (%s sure)", w.causeText(string(o.Cause), o.Session, ""), percent(o.Confidence))
	}
}

func (w *writer) nameOrNone(session string) string {
	if session == "" {
		return ""
	}
	return w.name(session)
}

// causeText returns a cause as a sentence, by the key of its words.
func (w *writer) causeText(words, at, peer string) string {
	other := "the others"
	if peer != "" {
		other = w.name(peer)
	}
	return strings.NewReplacer("{at}", w.name(at), "{peer}", other).Replace(wordOf(causes, words))
}

func (w *writer) issues() {
	s := w.c.Summary
	if s == nil {
		return
	}
	total := 0
	for _, n := range s.IssueCounts {
		total += n
	}
	total = max(total, len(s.Issues))
	w.section("Issues", total)
	for i := range s.Issues[:min(len(s.Issues), maxIssues)] {
		w.line("- %s", w.issue(&s.Issues[i]))
	}
	w.more(total-min(len(s.Issues), maxIssues), "more issue", "more issues")
}

func (w *writer) issue(i *conference.Issue) string {
	stream := clean(i.MediaType)
	if word := directions[i.Direction]; stream != "" && word != "" {
		stream += " " + word
	}
	connection := ""
	if i.Fabric > 0 {
		connection = fmt.Sprintf("connection %d", i.Fabric)
	}
	limit := ""
	if i.Threshold != 0 {
		limit = "limit " + value(i.Metric, i.Threshold)
	}
	open, uncertain := "", ""
	if i.Open && w.c.State != StateEnded {
		open = "open"
	}
	if i.Confidence == "low" {
		uncertain = "uncertain"
	}
	return fmt.Sprintf("%s: %s", issueTitle(i.Kind), joined(", ", value(i.Metric, i.Value), w.name(i.Session), stream, connection, limit, spans(i), uncertain, open))
}

// spans says when an issue was there.
func spans(i *conference.Issue) string {
	if i.SinceMs == 0 {
		return ""
	}
	text := "from " + clockTime(i.SinceMs)
	if i.TotalMs > 0 {
		text += " for " + duration(i.TotalMs)
	}
	if i.Count > 1 {
		text = fmt.Sprintf("%d times %s", i.Count, text)
	}
	return text
}

// sameError are errors that are one line.
type sameError struct{ session, function, name, message string }

func (w *writer) errors() {
	if len(w.c.Errors) == 0 {
		return
	}
	w.section("Errors", len(w.c.Errors))
	count, first := map[sameError]int{}, map[sameError]int64{}
	var order []sameError
	for _, e := range w.c.Errors {
		key := sameError{e.Session, e.Function, e.Name, e.Message}
		if count[key]++; count[key] == 1 {
			first[key], order = e.AtMs, append(order, key)
		}
	}
	for _, key := range order[:min(len(order), maxErrors)] {
		times := ""
		if n := count[key]; n > 1 {
			times = fmt.Sprintf(" (%d times)", n)
		}
		w.line("- %s %s: %s%s", clockTime(first[key]), w.name(key.session), joined(": ", joined(" ", clean(key.function), clean(key.name)), clean(key.message)), times)
	}
	w.more(len(order)-maxErrors, "more kind of error", "more kinds of errors")
}

func (w *writer) ratings() {
	s := w.c.Summary
	if s == nil || s.Feedback.Count == 0 {
		return
	}
	w.section("Ratings", s.Feedback.Count)
	left := maxRatings
	for i := range s.Participants {
		for _, f := range s.Participants[i].Feedback {
			if left--; left < 0 || f.Overall == nil {
				continue
			}
			w.line("- %s", joined(": ", fmt.Sprintf("%s, %d of 5", w.name(s.Participants[i].Session), *f.Overall), clean(f.Comment)))
		}
	}
	w.more(-left, "more rating", "more ratings")
}

func (w *writer) remarks() {
	if n := w.c.Unattached; n > 0 {
		w.line("\n%s of the same conference ID arrived near this time and belong to no conference.", plural(n, "annotation", "annotations"))
	}
	if n := w.c.LeftOut; n > 0 {
		w.line("\nThe time-line leaves out %s: it has too many.", plural(n, "entry", "entries"))
	}
	s := w.c.Summary
	if s == nil {
		return
	}
	if s.LostMeasurements > 0 || s.LostEvents > 0 {
		w.line("\nThe browsers dropped %s and %s before sending.", plural(s.LostMeasurements, "measurement", "measurements"), plural(s.LostEvents, "event", "events"))
	}
	if s.Truncated > 0 {
		w.line("\nThe summary leaves out %s: a limit of the collector was reached.", plural(s.Truncated, "fact", "facts"))
	}
}
