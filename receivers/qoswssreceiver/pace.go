package qoswssreceiver

import (
	"math"
	"time"

	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
)

// Debts after which a connection ends. They are larger than those of a client that heeds slow-downs: frames that were
// sent before it received one, and its announcements.
const (
	maxFrameDebt = 2 * protocol.MaxFabrics
	maxByteDebt  = protocol.WindowFrames * protocol.MaxFrameBytes
	// maxIgnoredBytes are allowed after a request to wait: a client has fewer unacknowledged (protocol.MaxUnackedBytes).
	maxIgnoredBytes = protocol.MaxUnackedBytes + protocol.MaxFrameBytes
)

const (
	// messageBytes is charged for each message beside its bytes: a short one costs the collector more than its bytes.
	messageBytes = 512
	// chargedBytes is the step of charges while no frame is accepted: before the hello, or if the client does not wait.
	chargedBytes = 64 << 10
)

// pace is what a connection may send: credit in messages and in bytes, negative in debt. Every message counts, also
// announcements, repetitions, refused messages and pings, and every byte from the network.
type pace struct {
	frames, bytes float64
	at            time.Time
	unpaid        int // bytes that are not charged to the user, the address and the application yet
}

// refill adds the credit for the time since the last call.
func (p *pace) refill(framesPerSecond float64, bytes throttle.Rate, now time.Time) {
	if !p.at.IsZero() {
		seconds := now.Sub(p.at).Seconds()
		p.frames = math.Min(burstFrames, p.frames+framesPerSecond*seconds)
		p.bytes = math.Min(kib*float64(bytes.Burst), p.bytes+kib*seconds/bytes.Interval.Seconds())
	}
	p.at = now
}

// kib is the number of bytes of one token of the byte limits.
const kib = 1 << 10

// receiveBytes counts bytes from the network. It ends a connection that is too far in debt, or that does not wait.
func (s *session) receiveBytes(n int, now time.Time) *ending {
	s.pace.bytes -= float64(n)
	s.pace.unpaid += n
	if s.pace.unpaid >= chargedBytes {
		s.pay(now)
	}
	if wait := s.pausedUntil.Sub(now); wait > 0 {
		if s.ignoredBytes += n; s.ignoredBytes > maxIgnoredBytes {
			return s.endInDebt("bytes", wait)
		}
	}
	if s.pace.bytes >= -maxByteDebt {
		return nil
	}
	return s.endInDebt("bytes", time.Duration(-s.pace.bytes/kib)*s.shared.throttles.bytes.connection.rate.Interval)
}

// countMessage counts one message, or a ping. It ends a connection that is too far in debt.
func (s *session) countMessage() *ending {
	s.pace.frames--
	if !s.isPost {
		s.pace.unpaid += messageBytes
	}
	if s.isPost || s.pace.frames >= -maxFrameDebt {
		return nil
	}
	return s.endInDebt("messages", time.Duration(-s.pace.frames/float64(max(s.framesPerSecond, 1))*float64(time.Second)))
}

// endInDebt ends a connection that ignored all requests to slow down.
func (s *session) endInDebt(what string, wait time.Duration) *ending {
	return s.end(&protocol.Error{
		Code: protocol.CodeThrottled, Message: "too many " + what + " on this connection",
		RetryAfter: wholeMs(min(max(wait, s.shared.timing.retry), throttle.MaxWait) + spread(s.shared.timing.retry)),
	})
}

// frameWait returns how long the client has to wait before another frame is accepted; 0: it need not wait.
func (s *session) frameWait(now time.Time) time.Duration {
	t := s.shared.throttles
	s.pace.refill(float64(s.framesPerSecond), t.bytes.connection.rate, now)
	if !s.isPost { // the limits of POSTs count them, and a body has at most one frame's size
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

// dayWait returns how long the client has to wait because the application has no bytes left for a frame today. It
// makes the client measure less often while few bytes are left.
func (s *session) dayWait(size int, now time.Time) time.Duration {
	wait, scarce := s.shared.apps.Left(s.identity.AppID, s.batchBytes+size+messageBytes*(len(s.batch)+1), now)
	s.shared.throttles.day.count(wait > 0)
	if scarce != s.savesBytes {
		s.savesBytes = scarce
		s.adjust(now)
	}
	if wait > 0 {
		return s.pause(wait)
	}
	return 0
}

// take returns the whole tokens of the unpaid bytes, and subtracts them.
func (p *pace) take() (tokens int) {
	tokens = p.unpaid / kib
	p.unpaid -= tokens * kib
	return tokens
}

// pause limits a wait to the range that a client can follow.
func (s *session) pause(wait time.Duration) time.Duration {
	return min(max(wait, s.shared.timing.retry), maxRetryAfter)
}

// party returns the parties to which the connection is charged.
func (s *session) party() party {
	return party{s.identity.AppID, s.identity.User.Name, s.network}
}

// pay charges the unpaid bytes.
func (s *session) pay(now time.Time) { bill(s.payers(), s.pace.take(), now) }

// payers returns the byte limits that count the session's bytes: before the hello that of the address alone. The body
// of a POST is charged to its address by readBody.
func (s *session) payers() []bucket {
	t := s.shared.throttles
	var payers []bucket
	if s.translator != nil {
		payers = t.identityBuckets(t.bytes.endpointLimits, s.party())
	}
	if !s.isPost {
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
// before. It charges in any case, because the bytes have been received.
func charge(limits []bucket, tokens int, now time.Time) (longest time.Duration) {
	for _, l := range limits {
		wait := l.table.Check(l.key, l.rate, now)
		l.count(wait > 0)
		longest = max(longest, wait)
	}
	bill(limits, tokens, now)
	return longest
}

// bill charges tokens without a decision.
func bill(limits []bucket, tokens int, now time.Time) {
	if tokens == 0 {
		return
	}
	for _, l := range limits {
		l.table.ChargeMany(l.key, l.rate, tokens, now)
	}
}
