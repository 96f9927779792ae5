package live

import "github.com/qosrtc/qos/internal/event"

// The issues and the summary of a conference take time in proportion to its size, which its clients choose. They are found
// without the lock of the Set (Config.Aside). Meanwhile nothing may change the conference: its records wait, those of all
// others do not.

// aside runs what reads c.
func (s *Set) aside(c *conf, run func()) {
	if s.cfg.Aside == nil {
		run()
		return
	}
	c.aside = true
	s.asides++
	s.cfg.Aside(run)
	s.asides--
	c.aside = false
}

// IsAside reports whether a conference of a record's ID is being read, so that the record has to wait.
func (s *Set) IsAside(e *event.Event) bool {
	if s.asides == 0 {
		return false
	}
	sl := s.keys[key{e.AppID, e.ConferenceID}]
	if sl == nil {
		return false
	}
	for _, c := range sl.confs {
		if c.aside {
			return true
		}
	}
	return false
}

// Large conferences are summarised again after some time, if records arrive after their end: each summary is that of all.
const (
	largeParts = 1000 // fabrics and streams
	partMs     = 1    // for each of them, some fifty times what its summary takes
)

// paceMs is the least time between two summaries of a conference.
func paceMs(parts int) int64 {
	if parts < largeParts {
		return 0
	}
	return int64(parts) * partMs
}
