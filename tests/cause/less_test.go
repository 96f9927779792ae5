package cause

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// The order of answers by what they say: docs/cause.md has the table.
const (
	nothingSaid = iota // none, unknown
	betweenEnds        // a path, or a connection, between two
	atAPerson          // a participant, without a direction of the access
	aDirection         // a participant and a direction, or a part of the participant's machine or page; the server
)

// said is an answer by its place in the order, and the names of whom it names.
type said struct {
	cause cause.Cause
	place int
	users []string
}

func saidOf(s *conference.Summary) said {
	f := s.LikelyCause
	out := said{cause: f.Cause, place: aDirection}
	for i := range s.Participants {
		if p := &s.Participants[i]; p.Session == f.Session || p.Session == f.Peer {
			out.users = append(out.users, p.UserID)
		}
	}
	either := func(o cause.Other) bool {
		return o.Session == f.Session && (o.Cause == cause.SenderUplink || o.Cause == cause.ReceiverDownlink)
	}
	switch {
	case f.Cause == cause.None || f.Cause == cause.Unknown:
		out.place = nothingSaid
	case len(out.users) == 0 && f.Cause != cause.MediaServer: // nobody with the library
		out.place = betweenEnds
	case f.Cause == cause.PathOrTURN:
		out.place = betweenEnds
	case f.Cause == cause.Signalling || f.Cause == cause.ICEConnectivity:
		out.place = betweenEnds + btoi(len(out.users) == 1)
	case (f.Cause == cause.SenderUplink || f.Cause == cause.ReceiverDownlink) && slices.ContainsFunc(f.Others, either):
		out.place = atAPerson
	}
	return out
}

// ssrcKey is the attribute of a stream's SSRC; identity are attributes that are no measures.
const ssrcKey = semconv.StatsPrefix + "ssrc"

var identity = []string{ssrcKey, semconv.StatsType, semconv.StatsPrefix + "codec"}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}

// removal is a part of the records that is taken away.
type removal struct {
	name   string
	change func([]plog.Logs) []plog.Logs
}

// removals returns all that can be taken away from a call: each participant, each stream of each, and each measure of all.
func removals(batches []plog.Logs) (all []removal) {
	users, streams, measures := map[string]bool{}, map[string]bool{}, map[string]bool{}
	changed(batches, func(user string, records plog.LogRecordSlice) {
		users[user] = true
		for _, r := range records.All() {
			if ssrc, ok := r.Attributes().Get(ssrcKey); ok {
				streams[ssrc.AsString()] = true
			}
			for name := range r.Attributes().All() {
				if strings.HasPrefix(name, semconv.StatsPrefix) && !slices.Contains(identity, name) {
					measures[name] = true
				}
			}
		}
	})
	for user := range users {
		all = append(all, removal{"participant " + user, without(user)})
	}
	for ssrc := range streams {
		all = append(all, removal{"stream " + ssrc, withoutStream(ssrc)})
	}
	for name := range measures {
		all = append(all, removal{"measure " + name, withoutMeasure(name)})
	}
	slices.SortFunc(all, func(a, b removal) int { return strings.Compare(a.name, b.name) })
	return all
}

// withoutStream takes out a stream, at both of its ends where they have the same SSRC: an end alone is evidence that nothing arrived.
func withoutStream(ssrc string) func([]plog.Logs) []plog.Logs {
	return func(batches []plog.Logs) []plog.Logs {
		return changed(batches, func(_ string, records plog.LogRecordSlice) {
			records.RemoveIf(func(r plog.LogRecord) bool {
				have, ok := r.Attributes().Get(ssrcKey)
				return ok && r.EventName() == semconv.EventStats && have.AsString() == ssrc
			})
		})
	}
}

func withoutMeasure(name string) func([]plog.Logs) []plog.Logs {
	return func(batches []plog.Logs) []plog.Logs {
		return changed(batches, func(_ string, records plog.LogRecordSlice) {
			for _, r := range records.All() {
				r.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return key == name })
			}
		})
	}
}

// showsHarm reports whether an issue of a conference shows harm.
func showsHarm(s *conference.Summary) bool {
	return slices.ContainsFunc(s.Issues, func(i conference.Issue) bool {
		return i.Confidence == string(detect.High) && !detect.Kind(i.Kind).Informs() && i.Kind != string(detect.WeakWiFi) // of no media
	})
}

// allows reports whether an answer by a part of the records says no more than that by all: it has a lower place in the order, or names
// nobody else. A further fault that the answer by all lists beside the first, or has for a participant, may be what is left.
func (s said) allows(less said, further, gone []string) bool {
	named := func(user string) bool { return slices.Contains(s.users, user) }
	listed := func(user string) bool { return slices.Contains(further, user) }
	switch {
	case less.place == nothingSaid:
		return true
	case len(less.users) > 0 && !slices.ContainsFunc(less.users, func(user string) bool { return !listed(user) }):
		return s.place > nothingSaid
	case (less.cause == cause.Signalling || less.cause == cause.ICEConnectivity) && slices.ContainsFunc(gone, named):
		return len(less.users) < 2 // of the two ends one has no name now
	case less.place > max(s.place, betweenEnds) && s.place < atAPerson || s.place == nothingSaid: // of a person's access either direction may be left
		return false
	case less.place == betweenEnds && s.place > betweenEnds: // one of the two ends
		return len(s.users) == 0 || len(less.users) < 2 || slices.ContainsFunc(less.users, named)
	}
	return !slices.ContainsFunc(less.users, func(user string) bool { return !named(user) })
}

// missingFrom returns the users of a call that are not in another one.
func missingFrom(users, others []string) []string {
	return slices.DeleteFunc(users, func(user string) bool { return slices.Contains(others, user) })
}

func usersOf(s *conference.Summary) (users []string) {
	for i := range s.Participants {
		users = append(users, s.Participants[i].UserID)
	}
	return users
}

// furtherFaults returns at whom a summary has a fault beside the first: as a cause of their own or as another one that is as likely.
func furtherFaults(s *conference.Summary) (users []string) {
	const likely = 0.5 // from which a cause is an answer
	first, sessions := s.LikelyCause, map[string]bool{}
	for i := range s.Participants {
		own := &s.Participants[i].LikelyCause
		sessions[own.Session] = own.Session != first.Session && own.Session != first.Peer
	}
	for _, o := range first.Others {
		sessions[o.Session] = sessions[o.Session] || o.Confidence >= likely
	}
	for i := range s.Participants {
		if p := &s.Participants[i]; sessions[p.Session] {
			users = append(users, p.UserID)
		}
	}
	return users
}

// TestLessSaysLess takes parts of recorded calls away, as chance has it. The answer says less, or the same; it is none only where no
// certain issue is left. A harmed call that nothing shows is left out: only its scores say none.
//
// spec: CONF-03, CONF-06
func TestLessSaysLess(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(seedOfLess, 1))
	var all []*Trace
	for _, dir := range folders(1) {
		for _, trace := range traces(t, dir) {
			if trace.Label.Cause == string(cause.None) || replay(t, trace).LikelyCause.Cause != cause.None {
				all = append(all, trace)
			}
		}
	}
	var more []string
	for range testenv.Pick(100, 1000) {
		trace := all[source.IntN(len(all))]
		logs, names := taken(source, trace.Logs)
		if len(logs) == 0 { // nobody reported anything
			continue
		}
		whole, less := replay(t, trace), Replay(t, logs)
		was, is := saidOf(&whole), saidOf(&less)
		if !was.allows(is, furtherFaults(&whole), missingFrom(usersOf(&whole), usersOf(&less))) {
			more = append(more, fmt.Sprintf("%s without %s: %v became %v", trace.Name, names, was, is))
		}
		require.False(t, is.cause == cause.None && showsHarm(&less), "%s without %s has no cause, and issues", trace.Name, names)
	}
	require.LessOrEqual(t, len(more), testenv.Pick(0, mostMore), "%s", strings.Join(more, "\n"))
}

// mostMore is the number of the thousand answers that say more: of a call of three, accesses in place of a path or of the server.
const mostMore = 3

// seedOfLess decides what is taken away.
const seedOfLess = 41

// folders are those of the recorded calls, the chosen ones first and those through real servers last: all of them in `make test-long`,
// else as many as given.
func folders(short int) []string {
	dirs := []string{"testdata"}
	for _, draw := range draws {
		dirs = append(dirs, filepath.Join("testdata", draw.name))
	}
	return testenv.Pick(dirs[:short], append(dirs, servers))
}

// taken takes one to three things away: a participant, a stream or a measure, each kind as often.
func taken(source *rand.Rand, logs []plog.Logs) (left []plog.Logs, names []string) {
	all := removals(logs)
	for range 1 + source.IntN(3) {
		kind := [...]string{"participant", "stream", "measure"}[source.IntN(3)]
		var some []removal
		for _, one := range all {
			if strings.HasPrefix(one.name, kind) {
				some = append(some, one)
			}
		}
		if len(some) > 0 {
			one := some[source.IntN(len(some))]
			logs, names = one.change(logs), append(names, one.name)
		}
	}
	return logs, names
}

// TestClosedTab: an encoder on a path that is dead is not limited by a network, so nobody who left is accused of it.
//
// spec: CONF-03
func TestClosedTab(t *testing.T) {
	i := slices.IndexFunc(traces(t, "testdata"), func(one *Trace) bool { return one.Name == "tab-closed-mesh" })
	logs := without("cyd")(traces(t, "testdata")[i].Logs)
	for _, measure := range []string{"", "packets_lost", "available_outgoing_bps"} {
		s := Replay(t, withoutMeasure(semconv.StatsPrefix+measure)(logs))
		require.Contains(t, []cause.Cause{cause.None, cause.Unknown}, s.LikelyCause.Cause, "%s: %v", measure, s.LikelyCause)
	}
}
