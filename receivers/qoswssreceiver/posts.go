package qoswssreceiver

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
)

// serveAuth is the handshake (docs/protocol.md, section 3).
func (d *shared) serveAuth(w http.ResponseWriter, r *http.Request) {
	answer, refusal := d.authenticate(r)
	if refusal != nil {
		count(d.metrics.ReceiverQoswssAuthRequests, "result", refusal.Code)
		d.refuse(w, refusal)
		return
	}
	writeAnswer(w, "application/json", answer)
}

func (d *shared) authenticate(r *http.Request) ([]byte, *protocol.Error) {
	network := d.throttles.network(r)
	body, refusal := d.readBody(r, network)
	if refusal != nil {
		return nil, refusal
	}
	defer body.close()
	return d.handshake(r.Context(), body.text, originOf(r), network, time.Now())
}

// handshake answers one message of the handshake, if the throttles admit it.
func (d *shared) handshake(ctx context.Context, body []byte, origin string, network throttle.Key, now time.Time) ([]byte, *protocol.Error) {
	req, refusal := protocol.DecodeAuth(body)
	if refusal != nil {
		return nil, refusal
	}
	a := d.attempt(req, network)
	if refusal := d.throttles.begin(ctx, a, now); refusal != nil {
		return nil, refusal
	}
	defer func() { d.throttles.end(a, refusal, now) }()
	body, refusal = d.prove(req, a, origin, now)
	return body, refusal
}

// prove verifies one message of the handshake, and returns the answer.
func (d *shared) prove(req any, a attempt, origin string, now time.Time) ([]byte, *protocol.Error) {
	var reply protocol.TokenReply
	var refusal *protocol.Error
	own := func(auth.Identity) *protocol.Error { return d.throttles.takeGranted(a, now) }
	switch req := req.(type) {
	case *protocol.ScramFirst:
		challenge, refusal := d.auth.ScramFirst(req, origin, now)
		if refusal != nil {
			return nil, refusal
		}
		count(d.metrics.ReceiverQoswssAuthRequests, "result", resultChallenged)
		return protocol.AppendScramReply(nil, challenge), nil
	case *protocol.ScramFinal:
		reply, _, refusal = d.auth.ScramFinal(req, origin, now, own)
	case *protocol.JWTRequest:
		reply, _, refusal = d.auth.JWT(req, origin, now, own)
	}
	if refusal != nil {
		return nil, refusal
	}
	count(d.metrics.ReceiverQoswssAuthRequests, "result", resultGranted)
	return protocol.AppendTokenReply(nil, reply), nil
}

// serveFrames serves the lines of a POST like a short connection (docs/protocol.md, section 8):
// all of them are accepted, or none.
func (d *shared) serveFrames(w http.ResponseWriter, r *http.Request) {
	network := d.throttles.network(r)
	if e := take(d.throttles.addressBuckets(d.throttles.posts, party{network: network}), time.Now()); e != nil {
		d.refuse(w, e)
		return
	}
	body, refused := d.readBody(r, network)
	if refused != nil { // retryable: a smaller body fits, and its frames are valid
		d.writeRefusal(w, refused.Code.HTTPStatus(), d.newRefusal(refused, true))
		return
	}
	defer body.close()
	d.metrics.ReceiverQoswssReceivedBytes.Add(context.Background(), int64(len(body.text)))
	p := post{}
	p.session = newSession(d, originOf(r), p.add)
	p.session.isPost, p.session.network = true, network
	p.session.pace.unpaid = len(body.text)
	defer p.session.close()
	bye := p.take(body, time.Now())
	p.session.pay(time.Now())
	if bye != nil {
		d.writeRefusal(w, bye.Code.HTTPStatus(), refusal{
			&protocol.Error{Code: bye.Code, Message: bye.Message}, bye.Retry, time.Duration(bye.RetryAfterMs) * time.Millisecond,
		})
		return
	}
	writeAnswer(w, "text/plain; charset=utf-8", p.answer.Bytes())
}

// post is one POST to frames.
type post struct {
	session *session
	answer  bytes.Buffer
}

func (p *post) add(msg []byte) {
	p.answer.Write(msg)
	p.answer.WriteByte('\n')
}

// take passes all lines to the session, then their frames to the pipeline. A bye means that no
// frame was accepted.
func (p *post) take(body *postBody, now time.Time) *protocol.Bye {
	if bye := p.readLines(body.text, now); bye != nil {
		return bye
	}
	body.close() // in the pipeline the frames are charged to their user
	return p.settle(now)
}

// readLines passes all lines to the session.
func (p *post) readLines(text []byte, now time.Time) *protocol.Bye {
	s := p.session
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		if len(line) == 0 {
			continue
		}
		e := s.message(line, now)
		if e != nil && s.translator == nil {
			return e.bye
		}
		if e != nil { // the client sent bye, or too much was refused: the rest is for another POST
			break
		}
	}
	if s.translator == nil {
		return s.end(&protocol.Error{Code: protocol.CodeHelloExpected, Message: "the first line must be hello"}).bye
	}
	return nil
}

// settle passes the frames of the lines to the pipeline.
func (p *post) settle(now time.Time) *protocol.Bye {
	s := p.session
	s.ackDue = true
	s.flush(now)
	if s.failures > 0 || now.Before(s.pausedUntil) {
		return s.end(&protocol.Error{Code: protocol.CodeOverloaded, Message: "the server cannot take frames now"}).bye
	}
	return nil
}
