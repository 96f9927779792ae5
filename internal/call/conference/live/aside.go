package live

import "github.com/qosrtc/qos/internal/call/event"

// The time to compute the issues and the summary of a conference is proportional to its size, which its clients choose. So
// they are computed without the lock of the Set (Config.Aside). Meanwhile the conference MUST NOT change: its records
// wait, those of other conferences do not.

// runAside calls run, which reads c, by Config.Aside.
func (s *Set) runAside(c *conf, run func()) {
	if s.cfg.Aside == nil {
		run()
		return
	}
	c.beingRead = true
	s.reads++
	s.cfg.Aside(run)
	s.reads--
	c.beingRead = false
}

// IsAside reports whether a conference with a record's ID is being read, so that the record has to wait.
func (s *Set) IsAside(e *event.Event) bool {
	if s.reads == 0 {
		return false
	}
	sl := s.keys[key{e.AppID, e.ConferenceID}]
	if sl == nil {
		return false
	}
	for _, c := range sl.confs {
		if c.beingRead {
			return true
		}
	}
	return false
}

// A large conference is not summarised again at once if records arrive after its end: each summary covers all records.
const (
	largeParts = 1000 // fabrics and streams
	partMs     = 1    // delay per fabric or stream, some fifty times the time of its summary
)

// paceMs is the least time between two summaries of a conference.
func paceMs(parts int) int64 {
	if parts < largeParts {
		return 0
	}
	return int64(parts) * partMs
}
