package qoswssreceiver

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// memoryConfig limits the memory of clients: announcements as long as their connection is open, at most half of each
// limit, and frames while they are in the pipeline.
type memoryConfig struct {
	// TotalMiB is for all clients. One application may hold three times as much as is free.
	TotalMiB int `mapstructure:"total_mib"`
	// PerUserMiB is for all sessions of a user of an application.
	PerUserMiB int `mapstructure:"per_user_mib"`
	// PerSessionMiB is for all connections of a session.
	PerSessionMiB int `mapstructure:"per_session_mib"`
	// PerConnectionMiB is for one connection, or one POST.
	PerConnectionMiB int `mapstructure:"per_connection_mib"`

	_ struct{}
}

// leastConnectionMiB has room for the largest frame and as many bytes of announcements.
const leastConnectionMiB = 8

func defaultMemory() memoryConfig {
	return memoryConfig{TotalMiB: 256, PerUserMiB: 32, PerSessionMiB: 16, PerConnectionMiB: leastConnectionMiB}
}

func (c memoryConfig) validate() error {
	atLeast := func(key string, n, least int, of string) error {
		if n >= least && n <= 1<<20 {
			return nil
		}
		return fmt.Errorf("memory::%s: must be %d (%s) to %d (got %d)", key, least, of, 1<<20, n)
	}
	return errors.Join(
		atLeast("per_connection_mib", c.PerConnectionMiB, leastConnectionMiB, "the largest frame and as much for announcements"),
		atLeast("per_session_mib", c.PerSessionMiB, c.PerConnectionMiB, "per_connection_mib"),
		atLeast("per_user_mib", c.PerUserMiB, c.PerSessionMiB, "per_session_mib"),
		atLeast("total_mib", c.TotalMiB, 2*c.PerUserMiB, "twice per_user_mib"),
	)
}

func (c memoryConfig) limits() budget.Limits {
	const mib = 1 << 20
	return budget.Limits{
		Total: int64(c.TotalMiB) * mib, User: int64(c.PerUserMiB) * mib,
		Session: int64(c.PerSessionMiB) * mib, Connection: int64(c.PerConnectionMiB) * mib,
	}
}

// Estimates of the memory of a frame in the pipeline beside its texts, as records and as events of conferences.
const (
	recordBytes = 1 << 10
	valueBytes  = 64
)

// frameBytes estimates the memory of a frame in the pipeline.
func frameBytes(frame protocol.Frame, size int) int64 {
	records, values := 1, 0
	switch f := frame.(type) {
	case *protocol.Stats:
		records = max(1, len(f.Records))
		for i := range f.Records {
			values += len(f.Records[i].Values)
		}
	case *protocol.Skip:
		records = max(1, len(f.Lost))
	}
	return int64(records*recordBytes + values*valueBytes + 2*size)
}

// sessionBytes estimates the memory of a session after its hello, beside the texts of the hello.
const sessionBytes = 1 << 10

// owner returns the account of the connection. Before the hello it is an account of its address.
func (s *session) owner() *budget.Account {
	if s.account == nil {
		s.account = s.shared.openAnonymous(s.network)
	}
	return s.account
}

// openAccount opens the account of a connection.
func (d *shared) openAccount(app, user, session string) *budget.Account {
	return connect(d.memory.Open(app, user, session))
}

// openAnonymous opens the account of a connection before its hello, or of a POST. All of them share a user's limit, of
// which each address has a share.
func (d *shared) openAnonymous(network throttle.Key) *budget.Account {
	return connect(d.memory.OpenAddress(strconv.FormatUint(uint64(network), 16)))
}

// connect opens the account of one connection, which holds the shared account open.
func connect(shared *budget.Account) *budget.Account {
	defer shared.Close()
	return shared.Connect()
}

// openOwn opens the account of an admitted client, and charges its hello.
func (s *session) openOwn(size int) *protocol.Error {
	s.anonymous = s.account
	s.account = s.shared.openAccount(s.identity.AppID, s.identity.User.Name, s.translator.session)
	s.decoder.SetKeep(s.keep)
	return s.keep(sessionBytes + size)
}

// keep charges what the decoder keeps. An announcement for which the connection itself has no room is refused like any
// other beyond a limit. If the session, the user or the application has none, the connection ends.
func (s *session) keep(n int) *protocol.Error {
	if n < 0 {
		s.account.Drop(int64(-n))
		return nil
	}
	switch level := s.account.Keep(int64(n)); level {
	case budget.None:
		return nil
	case budget.Connection:
		limit := s.shared.cfg.Memory.PerConnectionMiB << 19
		return &protocol.Error{
			Code: protocol.CodeTooMany, Limit: limit, Message: fmt.Sprintf("is beyond the %d bytes of announcements that one connection may have", limit),
		}
	case budget.Session, budget.Address, budget.User, budget.App, budget.Total, budget.NumLevels:
		return &protocol.Error{Code: protocol.CodeOverloaded, Message: "has no room: other connections of the same " + level.String() + " hold all that it may have"}
	}
	return nil
}

// hold charges a frame for the pipeline. If there is no room, it flushes the frames before it and tries again.
func (s *session) hold(n int64, flush func()) bool {
	if s.owner().Take(n) != budget.None {
		if len(s.batch) == 0 {
			return false
		}
		flush()
		if s.account.Take(n) != budget.None {
			return false
		}
	}
	s.heldBytes += n
	return true
}

// observeMemory registers the metrics of the memory of clients and of their refusals.
func observeMemory(metrics *metadata.TelemetryBuilder, memory *budget.Ledger) error {
	return errors.Join(
		metrics.RegisterReceiverQoswssMemoryCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(memory.Used())
			return nil
		}),
		metrics.RegisterReceiverQoswssMemoryRefusalsCallback(func(_ context.Context, o metric.Int64Observer) error {
			for level := budget.App; level < budget.NumLevels; level++ {
				o.Observe(memory.Refused(level), metric.WithAttributes(attribute.String("by", level.String())))
			}
			return nil
		}),
	)
}
