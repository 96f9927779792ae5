package conference

import (
	"cmp"

	"github.com/qosrtc/qos/internal/call/detect"
)

// Limits of the list and of an issue's times.
const (
	maxIssues     = 100
	maxIssueSpans = 20
)

var kindOrder = func() map[string]int {
	order := make(map[string]int, len(detect.Kinds))
	for i, kind := range detect.Kinds {
		order[string(kind)] = i
	}
	return order
}()

// listIssues lists at most maxIssues issues in the summary, and counts all. Each kind has an
// equal share of the list, for its worst issues.
func (s *Summary) listIssues(issues []Issue) {
	s.IssueCounts = map[string]int{}
	for i := range issues {
		s.IssueCounts[issues[i].Kind]++
	}
	room := quotaByKind(s.IssueCounts, min(len(issues), maxIssues))
	s.Issues = make([]Issue, 0, min(len(issues), maxIssues))
	for i := range issues {
		if kind := issues[i].Kind; room[kind] > 0 {
			room[kind]--
			s.Issues = append(s.Issues, issues[i])
		}
	}
}

// quotaByKind distributes n list entries over the kinds in turn, at most counts to each.
func quotaByKind(counts map[string]int, n int) map[string]int {
	room := make(map[string]int, len(counts))
	for left := n + 1; left > n; {
		left = n
		for _, kind := range detect.Kinds {
			if k := string(kind); n > 0 && room[k] < counts[k] {
				room[k]++
				n--
			}
		}
	}
	return room
}

// compareSeverity orders worse issues first, and longer ones among equal ones.
func (i Issue) compareSeverity(o Issue) int {
	worse := cmp.Compare(o.Value, i.Value)
	if lowerIsWorse[i.Kind] {
		worse = -worse
	}
	return cmp.Or(worse, cmp.Compare(o.TotalMs, i.TotalMs))
}

var lowerIsWorse = func() map[string]bool {
	m := map[string]bool{IssueLowQuality: true, string(detect.WeakWiFi): true}
	for l := range detect.NumLevels {
		m[string(l.Kind())] = l.Below()
	}
	return m
}()

func (i Issue) withKind(kind detect.Kind, metric string, confidence detect.Confidence) Issue {
	i.Kind, i.Metric, i.Confidence = string(kind), metric, string(confidence)
	return i
}
