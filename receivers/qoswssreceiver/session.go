package qoswssreceiver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/budget"
	"github.com/qosrtc/qos/internal/throttle"
	"github.com/qosrtc/qos/protocol"
)

// Bounds of what waits to go down in one call of the pipeline.
const (
	maxBatchMessages = 64 // for which its frames count (weight)
	maxBatchBytes    = 128 << 10
)

// maxSkipped bounds what one skip adds to the counter of dropped frames: one that lies
// about 2^53 of them would make the counter useless.
const maxSkipped = 1 << 20

// Back-pressure.
const (
	maxRetryAfter  = 15 * time.Second // a slowed client still measures every 20 s (section 4.8)
	failuresToSlow = 3                // refusals in a row, over all connections, after which clients measure less often
	slowIntervalMs = 20_000           // how often they measure then
	burstFrames    = 2 * protocol.WindowFrames
)

// session is the server's side of one connection, without the connection: messages in,
// answers out through send. A WebSocket and a POST to frames both drive one. Time is an
// argument; it is used by one goroutine.
type session struct {
	shared   *shared
	origin   string
	network  throttle.Key // where it comes from; 0: not known
	patient  bool         // keep all frames until the end (a POST is taken whole or not at all)
	send     func(msg []byte)
	decoder  *protocol.Decoder
	identity auth.Identity
	checks   uint64 // revisions.checks when identity was last checked

	translator    *translator // nil until the client was welcomed
	seqs          tracker
	batch         []uint64 // numbers of the frames in translator
	batchBytes    int
	batchMessages int // for which the frames in translator count (weight)
	batchSince    time.Time
	skipped       int64 // numbers that the skips in translator declare as dropped

	account  *budget.Account // of the connection; nil: it holds nothing so far
	stranger *budget.Account // of the connection before its hello; nil: it held nothing
	held     int64           // charged bytes of the frames in translator
	pace     pace

	lastAcked uint64
	owesAck   bool
	refusals  int
	unknown   int // column names counted so far

	failures        int // pipeline refusals in a row
	pausedUntil     time.Time
	framesPerSecond int
	statsInterval   time.Duration // how often the client measures while nothing slows it
	saves           bool          // the client measures less often, since little is left of its app's bytes of the day
	sentIntervalMs  int           // the measurement interval that the client was sent last; 0: none
	ignored         int           // bytes that have arrived since the client was asked to wait
	out             []byte
}

func newSession(d *shared, origin string, send func([]byte)) *session {
	return &session{
		shared: d, origin: origin, send: send, decoder: protocol.NewDecoder(),
		checks: d.watch.checks.Load(), pace: pace{frames: burstFrames, bytes: kib * float64(d.may.bytes.connection.rate.Burst)},
	}
}

// message takes one message that came at now. It returns nil when the connection goes on.
func (s *session) message(msg []byte, now time.Time) *ending {
	frame, refusal := s.decoder.Decode(msg)
	if s.translator == nil {
		return s.greet(frame, refusal, len(msg), now)
	}
	if e := s.counted(); e != nil {
		return e
	}
	if refusal != nil {
		if refusal.Code == protocol.CodeOverloaded {
			return s.end(refusal)
		}
		return s.refuse(refusal)
	}
	switch frame.(type) {
	case *protocol.Fabric:
		return nil
	case *protocol.Columns:
		s.countUnknown()
		return nil
	case *protocol.Hello:
		return s.refuse(&protocol.Error{Code: protocol.CodeTypeUnknown, Field: "type", Message: "hello comes once, as the first message"})
	case *protocol.Bye:
		return &ending{}
	}
	return s.numbered(frame, len(msg), now)
}

// greet answers the first message.
func (s *session) greet(frame protocol.Frame, refusal *protocol.Error, size int, now time.Time) *ending {
	hello, ok := frame.(*protocol.Hello)
	switch {
	case refusal != nil && !needsContext(refusal.Code):
		return s.end(refusal)
	case !ok:
		return s.end(&protocol.Error{Code: protocol.CodeHelloExpected, Message: "the first message must be hello"})
	}
	version := commonVersion(hello.Versions)
	if version == 0 {
		return s.end(&protocol.Error{
			Code: protocol.CodeVersionUnsupported, Field: "versions",
			Message: fmt.Sprintf("the client speaks %v, the server %v", hello.Versions, protocol.SupportedVersions),
		})
	}
	identity, refusal := s.shared.admit(hello, s.origin, now, func(id auth.Identity) *protocol.Error { return s.come(id, now) })
	if refusal != nil {
		return s.end(refusal)
	}
	s.identity = identity
	users := usersOf(s.shared.apps, identity.AppID, s.shared.userDropped)
	s.translator = newTranslator(endpoint{identity.AppID, ownerOf(identity), hello}, s.shared.addresses, users)
	s.seqs, s.lastAcked, s.pace.at = newTracker(hello.Acked), hello.Acked, now
	if refusal := s.own(size); refusal != nil {
		return s.end(refusal)
	}
	s.welcome(version, hello.Acked, now)
	return nil
}

// needsContext tells refusals of frames that are good in themselves.
func needsContext(code protocol.Code) bool {
	return code == protocol.CodeFabricUnknown || code == protocol.CodeColumnsUnknown
}

// commonVersion is the client's best version that the server speaks, 0 when there is none.
func commonVersion(client []int) int {
	for _, version := range client {
		if slices.Contains(protocol.SupportedVersions, version) {
			return version
		}
	}
	return 0
}

func (s *session) welcome(version int, acked uint64, now time.Time) {
	cfg := s.shared.cfg
	s.statsInterval = s.shared.statsInterval(s.identity.AppID)
	_, s.saves = s.shared.apps.Left(s.identity.AppID, 0, now)
	s.sentIntervalMs = s.intervalMs(now)
	s.answer(protocol.AppendWelcome(s.out[:0], protocol.Welcome{
		Version:         version,
		At:              now.UnixMilli(),
		Acked:           acked,
		StatsIntervalMs: s.sentIntervalMs,
		WindowFrames:    protocol.WindowFrames,
		ConferenceURL:   cfg.conferenceURL(),
		LabelsMOS:       s.shared.labels[:],
	}))
}

// answer sends one message; its memory serves again.
func (s *session) answer(msg []byte) {
	s.out = msg
	s.send(msg)
}

// close gives back what the session holds of the receiver. What still waits, because a
// POST is taken whole or not at all or because of a fault, the client sends again.
func (s *session) close() {
	s.deferred(len(s.batch))
	for _, account := range [...]*budget.Account{s.account, s.stranger} {
		if account != nil {
			account.Close()
		}
	}
	if s.translator != nil {
		s.shared.perApp.leave(s.identity.AppID)
	}
}

// numbered takes a frame that has a number.
func (s *session) numbered(frame protocol.Frame, size int, now time.Time) *ending {
	from, seq := numbers(frame)
	s.shared.metrics.ReceiverQoswssFramesReceived.Add(context.Background(), 1)
	if now.Before(s.pausedUntil) {
		s.deferred(1)
		return nil
	}
	if wait := s.mayCome(now); wait > 0 {
		s.deferred(1)
		s.slowDown(now, wait)
		return nil
	}
	if s.seqs.seen(seq) {
		s.owesAck = true
		s.shared.metrics.ReceiverQoswssFramesDuplicate.Add(context.Background(), 1)
		return nil
	}
	if wait := s.today(size, now); wait > 0 {
		s.deferred(1)
		s.slowDown(now, wait)
		return nil
	}
	if !s.hold(frameBytes(frame, size), func() { s.flush(now) }) {
		s.deferred(1)
		s.slowDown(now, s.shared.timing.retry)
		return nil
	}
	if len(s.batch) == 0 {
		s.batchSince = now
	}
	s.weighed(frame, now)
	s.translator.add(frame, now)
	s.seqs.pending.add(from, seq)
	s.batch = append(s.batch, seq)
	s.batchBytes += size
	if _, isSkip := frame.(*protocol.Skip); isSkip {
		s.skipped += int64(min(seq-from+1, maxSkipped))
	}
	if s.seqs.gaps() > protocol.MaxSeqGaps {
		return s.end(&protocol.Error{Code: protocol.CodeTooMany, Field: "seq", Limit: protocol.MaxSeqGaps, Message: "too many numbers are missing"})
	}
	if s.full(now) {
		s.flush(now)
	}
	return nil
}

// numbers returns the first and the last number that a frame stands for.
func numbers(frame protocol.Frame) (from, seq uint64) {
	switch f := frame.(type) {
	case *protocol.Stats:
		seq = f.Seq
	case *protocol.Event:
		seq = f.Seq
	case *protocol.ErrorReport:
		seq = f.Seq
	case *protocol.SDPPart:
		seq = f.Seq
	case *protocol.Feedback:
		seq = f.Seq
	case *protocol.Log:
		seq = f.Seq
	case *protocol.PreCall:
		seq = f.Seq
	case *protocol.Skip:
		return f.From, f.Seq
	}
	return seq, seq
}

// full reports whether the batch must go down now.
func (s *session) full(now time.Time) bool {
	return !s.patient && (s.batchMessages >= maxBatchMessages || s.batchBytes >= maxBatchBytes ||
		now.Sub(s.batchSince) >= s.shared.timing.linger)
}

// due reports whether flush has something to do.
func (s *session) due() bool {
	return len(s.batch) > 0 || s.owesAck || s.translator != nil && s.seqs.acked() > s.lastAcked
}

// flush sends what was collected down the pipeline and answers for it.
func (s *session) flush(now time.Time) {
	s.settle(now)
	if s.due() {
		s.ack(now)
	}
	s.adjust(now)
}

// adjust sends the measurement interval if it has changed. During a wait it would end the wait, and to a POST the next
// welcome has it.
func (s *session) adjust(now time.Time) {
	if s.patient || now.Before(s.pausedUntil) {
		return
	}
	if changed := s.changedIntervalMs(now); changed > 0 {
		s.answer(protocol.AppendSlowDown(s.out[:0], 0, changed))
	}
}

// changedIntervalMs returns the measurement interval if the client has to be sent another one, else 0.
func (s *session) changedIntervalMs(now time.Time) int {
	interval := s.intervalMs(now)
	if interval == s.sentIntervalMs {
		return 0
	}
	s.sentIntervalMs = interval
	return interval
}

// intervalMs is the interval of the application, or a longer one while the pipeline is slow or bytes are saved.
func (s *session) intervalMs(now time.Time) int {
	if s.saves || s.shared.pipeline.slows(now) {
		return slowIntervalMs
	}
	return int(s.statsInterval.Milliseconds())
}

// settle sends the batch down the pipeline. Its frames share its fate: the pipeline's
// contract forbids to send again what it refused for good.
func (s *session) settle(now time.Time) {
	if len(s.batch) == 0 {
		return
	}
	err := s.deliver(now)
	switch {
	case err == nil:
		s.seqs.settle()
		s.failures = 0
		s.shared.apps.Stored(s.identity.AppID, s.batchBytes+len(s.batch)*messageBytes, now)
		s.shared.metrics.ReceiverQoswssFramesAccepted.Add(context.Background(), int64(len(s.batch)))
		s.shared.metrics.ReceiverQoswssFramesSkipped.Add(context.Background(), s.skipped)
	case consumererror.IsPermanent(err):
		s.seqs.settle()
		s.lost(err)
	default:
		s.seqs.forget()
		s.deferred(len(s.batch))
		s.refused(err, now)
	}
	s.account.Give(s.held)
	s.batch, s.batchBytes, s.batchMessages, s.skipped, s.held = s.batch[:0], 0, 0, 0, 0
}

// deliver hands the batch to the pipeline when it has room in the share of its user.
func (s *session) deliver(now time.Time) error {
	defer s.enter()()
	return s.shared.deliver(s.translator.take(), now)
}

// enter waits until the batch has room. Where the address is not known, all users may
// seem to be one, and nobody waits.
func (s *session) enter() (leave func()) {
	if s.network == 0 {
		return func() {}
	}
	user := s.shared.may.hash.Of(s.identity.AppID, s.identity.User.Name, s.network)
	messages := max(s.batchMessages, s.batchBytes/(maxBatchBytes/maxBatchMessages))
	return s.shared.shares.enter(s.shared.ctx, user, messages)
}

// ack tells up to which number everything is taken, skipped or refused.
func (s *session) ack(now time.Time) {
	s.lastAcked, s.owesAck = s.seqs.acked(), false
	s.shared.metrics.ReceiverQoswssAcks.Add(context.Background(), 1)
	s.answer(protocol.AppendAck(s.out[:0], s.lastAcked, now.UnixMilli()))
}

// lost tells the client that the pipeline refused the batch for good.
func (s *session) lost(err error) {
	s.shared.log.Error("pipeline refused frames for good", zap.Error(err),
		zap.String("session", s.translator.session), zap.Uint64s("seqs", s.batch))
	for _, seq := range s.batch {
		count(s.shared.metrics.ReceiverQoswssFramesRefused, "code", protocol.CodeInternal)
		s.answer(protocol.AppendNack(s.out[:0], &protocol.Error{Code: protocol.CodeInternal, Message: "the server cannot take this frame", Seq: seq}))
	}
}

// refused slows the client down after the pipeline could not take the batch now.
func (s *session) refused(err error, now time.Time) {
	if s.failures == 0 {
		s.shared.log.Warn("pipeline cannot take frames now; the client will send them again", zap.Error(err))
	}
	s.failures++
	wait := min(s.shared.timing.retry<<min(s.failures-1, 8), maxRetryAfter)
	s.slowDown(now, wait)
}

// slowDown asks for silence. What comes in spite of it was under way already, and comes
// again afterwards. The server's own wait is shorter: what a client with a fast timer
// sends at its end was not under way, and would never come again.
func (s *session) slowDown(now time.Time, wait time.Duration) {
	s.pausedUntil, s.ignored = now.Add(wait-wait/8), 0
	s.answer(protocol.AppendSlowDown(s.out[:0], wait.Milliseconds(), s.changedIntervalMs(now)))
}

func (s *session) deferred(n int) {
	s.shared.metrics.ReceiverQoswssFramesDeferred.Add(context.Background(), int64(n))
}

func (s *session) countUnknown() {
	if n := s.decoder.UnknownColumns(); n > s.unknown {
		s.shared.metrics.ReceiverQoswssColumnsUnknown.Add(context.Background(), int64(n-s.unknown))
		s.unknown = n
	}
}

// refuse turns one message away for good; everything else goes on.
func (s *session) refuse(e *protocol.Error) *ending {
	if s.translator == nil {
		return s.end(e)
	}
	s.shared.metrics.ReceiverQoswssFramesReceived.Add(context.Background(), 1)
	count(s.shared.metrics.ReceiverQoswssFramesRefused, "code", e.Code)
	s.seqs.refuse(e.From, e.Seq)
	s.answer(protocol.AppendNack(s.out[:0], e))
	if s.refusals++; s.refusals < protocol.MaxRefusals && s.seqs.gaps() <= protocol.MaxSeqGaps {
		return nil
	}
	return s.end(&protocol.Error{Code: protocol.CodeMalformed, Limit: protocol.MaxRefusals, Message: "too many messages were refused"})
}

// expired ends a connection whose token is over; the client authenticates again.
func (s *session) expired(now time.Time) *ending {
	if s.translator == nil || s.identity.ExpiresAt.IsZero() || now.Before(s.identity.ExpiresAt) {
		return nil
	}
	return s.end(&protocol.Error{Code: protocol.CodeTokenExpired, Message: "the session token is over, authenticate again"})
}

// rest gives back the memory that serves a frame.
func (s *session) rest() {
	s.decoder.Release()
	s.out = nil
	if s.translator != nil {
		s.translator.rest()
	}
}

// rechecks reports whether the applications have changed since the last recheck.
func (s *session) rechecks() bool { return s.checks != s.shared.watch.checks.Load() }

// recheck ends a connection whose user may not speak any more since the applications changed, or whose records
// have to name users in another way, and gives a client the interval that its application has now.
func (s *session) recheck(now time.Time) *ending {
	if s.translator == nil || !s.rechecks() {
		return nil
	}
	s.checks = s.shared.watch.checks.Load()
	if refusal := s.shared.auth.Recheck(s.identity, now); refusal != nil {
		return s.end(refusal)
	}
	if app, _ := s.shared.apps.App(s.identity.AppID); !s.translator.users.recordedAs(app) {
		return s.end(&protocol.Error{Code: protocol.CodeGoingAway, Message: "the application has changed, connect again"})
	}
	if interval := s.shared.statsInterval(s.identity.AppID); interval != s.statsInterval {
		s.statsInterval = interval
		s.adjust(now)
	}
	return nil
}

// end makes the bye of a refusal that ends the connection.
func (s *session) end(e *protocol.Error) *ending {
	count(s.shared.metrics.ReceiverQoswssConnectionsClosed, "code", e.Code)
	r := s.shared.refusal(e, s.translator != nil)
	return &ending{bye: &protocol.Bye{
		Code:         e.Code,
		CSError:      e.Code.CSError(),
		Message:      e.Message,
		Retry:        r.retry,
		RetryAfterMs: r.after.Milliseconds(),
	}}
}
