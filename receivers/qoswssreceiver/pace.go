package qoswssreceiver

import (
	"math"
	"time"

	"github.com/qosrtc/qos/internal/throttle"
	"github.com/qosrtc/qos/protocol"
)

// Debts after which a connection ends. They are more than a client can have that heeds slow-downs: what was under
// way when it got one, and its announcements.
const (
	maxFrameDebt = 2 * protocol.MaxFabrics
	maxByteDebt  = protocol.WindowFrames * protocol.MaxFrameBytes
	// maxIgnoredBytes are those after a request to wait: more than a client has unacknowledged (protocol.MaxUnackedBytes).
	maxIgnoredBytes = protocol.MaxUnackedBytes + protocol.MaxFrameBytes
)

const (
	// messageBytes is charged for each message beside its bytes: a short one costs the collector more than those.
	messageBytes = 512
	// chargedBytes are charged at once if no frame is accepted: before the hello, or of a client that does not wait.
	chargedBytes = 64 << 10
)

// pace is how much a connection may send: credit in messages and in bytes, negative while it is in debt. Every
// message counts, also announcements, repetitions, refused ones and pings, and every byte from the network.
type pace struct {
	frames, bytes float64
	at            time.Time
	unpaid        int // bytes that were not charged to the user, the address and the application so far
}

// refill adds what the time since the last call is worth.
func (p *pace) refill(framesPerSecond float64, bytes throttle.Rate, now time.Time) {
	if !p.at.IsZero() {
		seconds := now.Sub(p.at).Seconds()
		p.frames = math.Min(burstFrames, p.frames+framesPerSecond*seconds)
		p.bytes = math.Min(kib*float64(bytes.Burst), p.bytes+kib*seconds/bytes.Interval.Seconds())
	}
	p.at = now
}

// kib are the bytes of one token of the byte limits.
const kib = 1 << 10

// arrived counts bytes from the network. It ends a connection that is too far in debt, or that does not wait.
func (s *session) arrived(n int, now time.Time) *ending {
	s.pace.bytes -= float64(n)
	s.pace.unpaid += n
	if s.pace.unpaid >= chargedBytes {
		s.pay(now)
	}
	if wait := s.pausedUntil.Sub(now); wait > 0 {
		if s.ignored += n; s.ignored > maxIgnoredBytes {
			return s.inDebt("bytes", wait)
		}
	}
	if s.pace.bytes >= -maxByteDebt {
		return nil
	}
	return s.inDebt("bytes", time.Duration(-s.pace.bytes/kib)*s.shared.may.bytes.connection.rate.Interval)
}

// counted counts one message, or a ping. It ends a connection that is too far in debt.
func (s *session) counted() *ending {
	s.pace.frames--
	if !s.patient {
		s.pace.unpaid += messageBytes
	}
	if s.patient || s.pace.frames >= -maxFrameDebt {
		return nil
	}
	return s.inDebt("messages", time.Duration(-s.pace.frames/float64(max(s.framesPerSecond, 1))*float64(time.Second)))
}

// inDebt ends a connection that ignored all requests to slow down.
func (s *session) inDebt(what string, wait time.Duration) *ending {
	return s.end(&protocol.Error{
		Code: protocol.CodeThrottled, Message: "too many " + what + " on this connection",
		RetryAfter: wholeMs(min(max(wait, s.shared.timing.retry), throttle.MaxWait) + spread(s.shared.timing.retry)),
	})
}

// mayCome returns how long the client has to be silent before another frame is accepted; 0: the next one is.
func (s *session) mayCome(now time.Time) time.Duration {
	t := s.shared.may
	s.pace.refill(float64(s.framesPerSecond), t.bytes.connection.rate, now)
	if !s.patient { // a POST is counted by its limits, and has at most one frame's size
		if t.frames.count(s.pace.frames < 0) {
			return s.pause(time.Duration(-s.pace.frames / float64(max(s.framesPerSecond, 1)) * float64(time.Second)))
		}
		if t.bytes.connection.count(s.pace.bytes < 0) {
			return s.pause(time.Duration(-s.pace.bytes/kib) * t.bytes.connection.rate.Interval)
		}
	}
	if wait := charge(s.payers(), s.pace.take(), now); wait > 0 {
		return s.pause(wait)
	}
	return 0
}

// today returns how long the client has to be silent because the application has no bytes left for a frame today. It
// makes the client measure less often while few are left.
func (s *session) today(size int, now time.Time) time.Duration {
	wait, scarce := s.shared.apps.Left(s.identity.AppID, s.batchBytes+size+messageBytes*(len(s.batch)+1), now)
	s.shared.may.day.count(wait > 0)
	if scarce != s.saves {
		s.saves = scarce
		s.adjust(now)
	}
	if wait > 0 {
		return s.pause(wait)
	}
	return 0
}

// take returns the whole tokens of the bytes that were not charged so far.
func (p *pace) take() (tokens int) {
	tokens = p.unpaid / kib
	p.unpaid -= tokens * kib
	return tokens
}

// pause bounds a wait by what a client can follow.
func (s *session) pause(wait time.Duration) time.Duration {
	return min(max(wait, s.shared.timing.retry), maxRetryAfter)
}

// party is whose connection this is.
func (s *session) party() party {
	return party{s.identity.AppID, s.identity.User.Name, s.network}
}

// pay charges the bytes that were not charged so far.
func (s *session) pay(now time.Time) { bill(s.payers(), s.pace.take(), now) }

// payers are the limits of bytes that count what the session sends: before the hello that of the address alone. The
// address of a POST has paid for the body.
func (s *session) payers() []counted {
	t := s.shared.may
	var payers []counted
	if s.translator != nil {
		payers = t.proved(t.bytes.endpointLimits, s.party())
	}
	if !s.patient {
		payers = append(payers, t.byteLimitsOf(s.network)...)
	}
	return payers
}

// byteLimits are the limits of bytes, in tokens of 1 KiB.
type byteLimits struct {
	endpointLimits
	connection *limit
}

// charge charges tokens to limits. It returns how long the sender has to wait because of limits that were in debt
// before. The charge holds nevertheless, because the bytes have been received.
func charge(limits []counted, tokens int, now time.Time) (longest time.Duration) {
	for _, l := range limits {
		wait := l.table.Check(l.key, l.rate, now)
		l.count(wait > 0)
		longest = max(longest, wait)
	}
	bill(limits, tokens, now)
	return longest
}

// bill charges tokens that need no answer.
func bill(limits []counted, tokens int, now time.Time) {
	if tokens == 0 {
		return
	}
	for _, l := range limits {
		l.table.ChargeMany(l.key, l.rate, tokens, now)
	}
}
