package relay

import "github.com/pion/logging"

// silent drops the library's log, which has addresses and user names. Counts say what happened.
type silent struct{}

// NewLogger implements logging.LoggerFactory.
func (silent) NewLogger(string) logging.LeveledLogger { return silent{} }

func (silent) Trace(string)          {}
func (silent) Tracef(string, ...any) {}
func (silent) Debug(string)          {}
func (silent) Debugf(string, ...any) {}
func (silent) Info(string)           {}
func (silent) Infof(string, ...any)  {}
func (silent) Warn(string)           {}
func (silent) Warnf(string, ...any)  {}
func (silent) Error(string)          {}
func (silent) Errorf(string, ...any) {}
