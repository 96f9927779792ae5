package qoswssreceiver

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
)

// Limits of the frames in one call of the pipeline.
const (
	maxBatchMessages = 64 // sum of the frames' weights
	maxBatchBytes    = 128 << 10
)

// maxSkipped bounds what one skip adds to the counter of dropped frames: a false one about 2^53
// frames would make the counter useless.
const maxSkipped = 1 << 20

// Back-pressure.
const (
	maxRetryAfter  = 15 * time.Second // a slowed client still measures every 20 s (section 4.8)
	failuresToSlow = 3                // consecutive refusals, over all connections, after which clients measure less often
	slowIntervalMs = 20_000           // their interval then
	burstFrames    = 2 * protocol.WindowFrames
)

// session is the server's side of one connection, without the transport: messages in, answers out
// through send. A WebSocket and a POST to frames both use one. The time is an argument. Not for
// concurrent use.
type session struct {
	shared   *shared
	origin   string
	network  throttle.Key // of the client; 0: not known
	isPost   bool         // delivers no frame before the end (a POST is accepted as a whole or not at all)
	send     func(msg []byte)
	decoder  *protocol.Decoder
	identity auth.Identity
	checks   uint64 // revisions.checks when identity was last checked

	translator    *translator // nil before the welcome
	seqs          tracker
	batch         []uint64 // numbers of the frames in translator
	batchBytes    int
	batchMessages int // sum of their weights
	batchSince    time.Time
	skipped       int64 // numbers that the skips in translator declare as dropped

	account   *budget.Account // of the connection; nil: nothing is charged so far
	anonymous *budget.Account // of the connection before its hello; nil: nothing was charged
	heldBytes int64           // charged bytes of the frames in translator
	pace      pace

	lastAcked      uint64
	ackDue         bool
	refusals       int
	unknownColumns int // unknown column names counted so far

	failures        int // consecutive refusals of the pipeline
	pausedUntil     time.Time
	framesPerSecond int
	statsInterval   time.Duration // of the client while nothing slows it down
	savesBytes      bool          // the client measures less often, since its app has few bytes left today
	sentIntervalMs  int           // the last measurement interval sent to the client; 0: none
	ignoredBytes    int           // bytes received since the client was asked to wait
	out             []byte
}

func newSession(d *shared, origin string, send func([]byte)) *session {
	return &session{
		shared: d, origin: origin, send: send, decoder: protocol.NewDecoder(),
		checks: d.watch.checks.Load(), pace: pace{frames: burstFrames, bytes: kib * float64(d.throttles.bytes.connection.rate.Burst)},
	}
}

// message handles one message received at now. It returns nil if the connection continues.
func (s *session) message(msg []byte, now time.Time) *ending {
	frame, refusal := s.decoder.Decode(msg)
	if s.translator == nil {
		return s.greet(frame, refusal, len(msg), now)
	}
	if e := s.countMessage(); e != nil {
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
	return s.receiveFrame(frame, len(msg), now)
}

// greet handles the first message.
func (s *session) greet(frame protocol.Frame, refusal *protocol.Error, size int, now time.Time) *ending {
	hello, ok := frame.(*protocol.Hello)
	switch {
	case refusal != nil && !needsContext(refusal.Code):
		return s.end(refusal)
	case !ok:
		return s.end(&protocol.Error{Code: protocol.CodeHelloExpected, Message: "the first message must be hello"})
	}
	identity, refusal := s.shared.admit(hello, s.origin, now, func(id auth.Identity) *protocol.Error { return s.admitIdentity(id, now) })
	if refusal != nil {
		return s.end(refusal)
	}
	s.identity = identity
	users := usersOf(s.shared.apps, identity.AppID, s.shared.userDropped)
	s.translator = newTranslator(endpoint{identity.AppID, ownerOf(identity), hello}, s.shared.addresses, users)
	s.seqs, s.lastAcked, s.pace.at = newTracker(hello.Acked), hello.Acked, now
	if refusal := s.openOwn(size); refusal != nil {
		return s.end(refusal)
	}
	s.welcome(protocol.CommonVersion(hello.Versions), hello.Acked, now)
	return nil
}

// needsContext reports whether a refusal is about missing context: the frame itself is valid.
func needsContext(code protocol.Code) bool {
	return code == protocol.CodeFabricUnknown || code == protocol.CodeColumnsUnknown
}

func (s *session) welcome(version int, acked uint64, now time.Time) {
	cfg := s.shared.cfg
	s.statsInterval = s.shared.statsInterval(s.identity.AppID)
	_, s.savesBytes = s.shared.apps.Left(s.identity.AppID, 0, now)
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

// answer sends one message, and reuses its memory.
func (s *session) answer(msg []byte) {
	s.out = msg
	s.send(msg)
}

// close frees everything that the session holds of the receiver. The client sends frames that still
// wait again: after a refused POST, or after a panic.
func (s *session) close() {
	s.countDeferred(len(s.batch))
	for _, account := range [...]*budget.Account{s.account, s.anonymous} {
		if account != nil {
			account.Close()
		}
	}
	if s.translator != nil {
		s.shared.perApp.leave(s.identity.AppID)
	}
}

// receiveFrame handles a frame with a number.
func (s *session) receiveFrame(frame protocol.Frame, size int, now time.Time) *ending {
	from, seq := numbers(frame)
	s.shared.metrics.ReceiverQoswssFramesReceived.Add(context.Background(), 1)
	if now.Before(s.pausedUntil) {
		s.countDeferred(1)
		return nil
	}
	if wait := s.frameWait(now); wait > 0 {
		s.countDeferred(1)
		s.slowDown(now, wait)
		return nil
	}
	if s.seqs.seen(seq) {
		s.ackDue = true
		s.shared.metrics.ReceiverQoswssFramesDuplicate.Add(context.Background(), 1)
		return nil
	}
	if wait := s.dayWait(size, now); wait > 0 {
		s.countDeferred(1)
		s.slowDown(now, wait)
		return nil
	}
	if !s.hold(frameBytes(frame, size), func() { s.flush(now) }) {
		s.countDeferred(1)
		s.slowDown(now, s.shared.timing.retry)
		return nil
	}
	if len(s.batch) == 0 {
		s.batchSince = now
	}
	s.chargeWeight(frame, now)
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

// numbers returns the first and the last number that a frame covers.
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

// full reports whether the batch must be delivered now.
func (s *session) full(now time.Time) bool {
	return !s.isPost && (s.batchMessages >= maxBatchMessages || s.batchBytes >= maxBatchBytes ||
		now.Sub(s.batchSince) >= s.shared.timing.linger)
}

// due reports whether there is something to flush.
func (s *session) due() bool {
	return len(s.batch) > 0 || s.ackDue || s.translator != nil && s.seqs.acked() > s.lastAcked
}

// flush delivers the batch and acknowledges it.
func (s *session) flush(now time.Time) {
	s.settle(now)
	if s.due() {
		s.ack(now)
	}
	s.adjust(now)
}

// adjust sends the measurement interval if it has changed. It does not during a wait, which the message would end, nor
// in a POST: the next welcome has it.
func (s *session) adjust(now time.Time) {
	if s.isPost || now.Before(s.pausedUntil) {
		return
	}
	if changed := s.changedIntervalMs(now); changed > 0 {
		s.answer(protocol.AppendSlowDown(s.out[:0], 0, changed))
	}
}

// changedIntervalMs returns the measurement interval if it differs from the last one sent, else 0.
func (s *session) changedIntervalMs(now time.Time) int {
	interval := s.intervalMs(now)
	if interval == s.sentIntervalMs {
		return 0
	}
	s.sentIntervalMs = interval
	return interval
}

// intervalMs returns the application's interval, or a longer one while the pipeline is slow or bytes are scarce.
func (s *session) intervalMs(now time.Time) int {
	if s.savesBytes || s.shared.pipeline.slows(now) {
		return slowIntervalMs
	}
	return int(s.statsInterval.Milliseconds())
}

// settle delivers the batch and handles the result. It applies to all frames of the batch: after a
// permanent error the contract of pipelines forbids to send them again.
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
		s.nackBatch(err)
	default:
		s.seqs.forget()
		s.countDeferred(len(s.batch))
		s.retryBatch(err, now)
	}
	s.account.Give(s.heldBytes)
	s.batch, s.batchBytes, s.batchMessages, s.skipped, s.heldBytes = s.batch[:0], 0, 0, 0, 0
}

// deliver passes the batch to the pipeline when it has room in its user's share.
func (s *session) deliver(now time.Time) error {
	defer s.enter()()
	return s.shared.deliver(s.translator.take(), now)
}

// enter waits until the batch has room. It does not wait if the address is not known: all users may
// seem to be one.
func (s *session) enter() (leave func()) {
	if s.network == 0 {
		return func() {}
	}
	user := s.shared.throttles.hash.Of(s.identity.AppID, s.identity.User.Name, s.network)
	messages := max(s.batchMessages, s.batchBytes/(maxBatchBytes/maxBatchMessages))
	return s.shared.shares.enter(s.shared.ctx, user, messages)
}

// ack sends the number up to which all frames were accepted, skipped or refused.
func (s *session) ack(now time.Time) {
	s.lastAcked, s.ackDue = s.seqs.acked(), false
	s.shared.metrics.ReceiverQoswssAcks.Add(context.Background(), 1)
	s.answer(protocol.AppendAck(s.out[:0], s.lastAcked, now.UnixMilli()))
}

// nackBatch notifies the client that the pipeline refused the batch permanently.
func (s *session) nackBatch(err error) {
	s.shared.log.Error("pipeline refused frames for good", zap.Error(err),
		zap.String("session", s.translator.session), zap.Uint64s("seqs", s.batch))
	for _, seq := range s.batch {
		count(s.shared.metrics.ReceiverQoswssFramesRefused, "code", protocol.CodeInternal)
		s.answer(protocol.AppendNack(s.out[:0], &protocol.Error{Code: protocol.CodeInternal, Message: "the server cannot take this frame", Seq: seq}))
	}
}

// retryBatch slows the client down after a retryable error of the pipeline.
func (s *session) retryBatch(err error, now time.Time) {
	if s.failures == 0 {
		s.shared.log.Warn("pipeline cannot take frames now; the client will send them again", zap.Error(err))
	}
	s.failures++
	wait := min(s.shared.timing.retry<<min(s.failures-1, 8), maxRetryAfter)
	s.slowDown(now, wait)
}

// slowDown asks the client to wait. Frames that arrive during the wait were sent before the request,
// and are sent again. The server's wait is shorter than the client's: a client with a fast timer would
// not send a frame again that it sent just after its own wait.
func (s *session) slowDown(now time.Time, wait time.Duration) {
	s.pausedUntil, s.ignoredBytes = now.Add(wait-wait/8), 0
	s.answer(protocol.AppendSlowDown(s.out[:0], wait.Milliseconds(), s.changedIntervalMs(now)))
}

func (s *session) countDeferred(n int) {
	s.shared.metrics.ReceiverQoswssFramesDeferred.Add(context.Background(), int64(n))
}

func (s *session) countUnknown() {
	if n := s.decoder.UnknownColumns(); n > s.unknownColumns {
		s.shared.metrics.ReceiverQoswssColumnsUnknown.Add(context.Background(), int64(n-s.unknownColumns))
		s.unknownColumns = n
	}
}

// refuse refuses one message permanently. It returns nil if the connection continues.
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

// checkExpiry ends a connection whose token has expired; the client authenticates again.
func (s *session) checkExpiry(now time.Time) *ending {
	if s.translator == nil || s.identity.ExpiresAt.IsZero() || now.Before(s.identity.ExpiresAt) {
		return nil
	}
	return s.end(&protocol.Error{Code: protocol.CodeTokenExpired, Message: "the session token is over, authenticate again"})
}

// rest frees the memory that is needed for a frame only.
func (s *session) rest() {
	s.decoder.Release()
	s.out = nil
	if s.translator != nil {
		s.translator.rest()
	}
}

// needsRecheck reports whether the applications have changed since the last recheck.
func (s *session) needsRecheck() bool { return s.checks != s.shared.watch.checks.Load() }

// recheck ends a connection that is no longer permitted since the applications changed, or whose records now need
// other user IDs. It sends the client a changed measurement interval.
func (s *session) recheck(now time.Time) *ending {
	if s.translator == nil || !s.needsRecheck() {
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

// end counts an error that ends the connection, and returns its bye.
func (s *session) end(e *protocol.Error) *ending {
	count(s.shared.metrics.ReceiverQoswssConnectionsClosed, "code", e.Code)
	r := s.shared.newRefusal(e, s.translator != nil)
	return &ending{bye: &protocol.Bye{
		Code:         e.Code,
		CSError:      e.Code.CSError(),
		Message:      e.Message,
		Retry:        r.retry,
		RetryAfterMs: r.after.Milliseconds(),
	}}
}
