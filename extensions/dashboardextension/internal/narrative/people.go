package narrative

import (
	"fmt"

	"github.com/qosrtc/qos/internal/call/conference"
)

func (w *writer) participants() {
	people := w.c.Participants
	w.section("Participants", len(people))
	for _, p := range people[:min(len(people), maxParticipants)] {
		w.participant(p, w.summaryOf(p.Session))
	}
	w.more(len(people)-maxParticipants, "more participant", "more participants")
}

// summaryOf returns what the summary has of a session; nil: nothing.
func (w *writer) summaryOf(session string) *conference.Participant {
	if w.c.Summary == nil {
		return nil
	}
	for i := range w.c.Summary.Participants {
		if p := &w.c.Summary.Participants[i]; p.Session == session {
			return p
		}
	}
	return nil
}

func (w *writer) participant(p Participant, s *conference.Participant) {
	present, score, reason := "", "", ""
	if s != nil {
		present = fmt.Sprintf("%s to %s", clockTime(s.StartMs), clockTime(s.EndMs))
		reason = wordOf(endReasons, s.EndReason)
		score = scoreOf(s)
	}
	w.line("- %s", joined(", ", w.name(p.Session), present, reason, score, clean(p.Browser), labelled("site ", p.Site), labelled("version ", p.Version)))
	if s == nil {
		return
	}
	for i := range s.Fabrics[:min(len(s.Fabrics), maxFabrics)] {
		w.line("  - %s", fabric(&s.Fabrics[i]))
	}
	if left := len(s.Fabrics) - maxFabrics; left > 0 {
		w.line("  - and %s", plural(left, "more connection", "more connections"))
	}
}

func scoreOf(p *conference.Participant) string {
	if p.MOS == nil {
		return "no score"
	}
	return fmt.Sprintf("score %.2f (%s)", *p.MOS, clean(p.Label))
}

// fabric describes one connection.
func fabric(f *conference.Fabric) string {
	title := fmt.Sprintf("connection %d", f.Fabric)
	if remote := clean(f.RemoteAlias); remote != "" {
		title += " to " + remote
	}
	disruptions := ""
	if f.ICEDisruptions > 0 {
		disruptions = fmt.Sprintf("%s (%s)", plural(f.ICEDisruptions, "ICE disruption", "ICE disruptions"), duration(int64(f.ICEDisruptionMs)))
	}
	restarts := ""
	if f.ICERestarts > 0 {
		restarts = plural(f.ICERestarts, "ICE restart", "ICE restarts")
	}
	return fmt.Sprintf("%s: %s", title, joined(", ", stateOf(f), pathOf(f), labelled("network ", f.NetworkType), disruptions, restarts))
}

func stateOf(f *conference.Fabric) string {
	switch {
	case f.State == conference.StateConnected && f.SetupMs != nil:
		return "connected after " + milliseconds(*f.SetupMs)
	case f.State == conference.StateConnected:
		return "connected"
	case f.State == conference.StateUnused:
		return "not used"
	case f.FailureStage != "":
		return "never connected: " + wordOf(stages, f.FailureStage)
	case f.State == conference.StateNeverConnected:
		return "never connected"
	}
	return "connecting"
}

// pathOf returns the candidate types of the selected pair; empty: unknown.
func pathOf(f *conference.Fabric) string {
	if f.LocalCandidateType == "" {
		return ""
	}
	remote := clean(f.RemoteCandidateType)
	if remote == "" {
		remote = "?"
	}
	path := fmt.Sprintf("path %s to %s", clean(f.LocalCandidateType), remote)
	if f.RelayProtocol != "" {
		path += " over " + clean(f.RelayProtocol)
	}
	return path
}
