package protocol

import (
	"math"
	"strconv"
)

// object writes one JSON object, member by member.
type object []byte

// begin starts a message of a type.
func begin(dst []byte, kind Type) object {
	return append(append(append(dst, `{"type":"`...), kind...), '"')
}

// end closes the object.
func (o object) end() []byte { return append(o, '}') }

func (o object) name(name string) object {
	return append(append(append(o, ',', '"'), name...), '"', ':')
}

func (o object) text(name, v string) object { return appendText(o.name(name), v) }

func (o object) int(name string, v int64) object { return strconv.AppendInt(o.name(name), v, 10) }

func (o object) seq(name string, v uint64) object { return strconv.AppendUint(o.name(name), v, 10) }

func (o object) bool(name string, v bool) object { return strconv.AppendBool(o.name(name), v) }

// optionalText and optionalInt omit zero values.
func (o object) optionalText(name, v string) object {
	if v == "" {
		return o
	}
	return o.text(name, v)
}

func (o object) optionalInt(name string, v int64) object {
	if v == 0 {
		return o
	}
	return o.int(name, v)
}

// shortEscapes maps control characters to the letters of their escapes.
var shortEscapes = [' ']byte{'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

const hexDigits = "0123456789abcdef"

// appendText appends a JSON string. Invalid UTF-8 becomes U+FFFD.
func appendText(dst []byte, v string) []byte {
	dst = append(dst, '"')
	for _, r := range v {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' && shortEscapes[r] != 0:
			dst = append(dst, '\\', shortEscapes[r])
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&0xf])
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}

// appendFloat appends a number. NaN and infinities become null.
func appendFloat(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// AppendWelcome appends a welcome (section 4.1).
func AppendWelcome(dst []byte, w Welcome) []byte {
	o := begin(dst, TypeWelcome).int("version", int64(w.Version)).int("at", w.At).seq("acked", w.Acked).
		int("statsIntervalMs", int64(w.StatsIntervalMs)).int("windowFrames", int64(w.WindowFrames)).
		optionalText("conferenceURL", w.ConferenceURL)
	if len(w.LabelsMOS) > 0 {
		o = append(o.name("labels"), `{"mos":[`...)
		for i, bound := range w.LabelsMOS {
			if i > 0 {
				o = append(o, ',')
			}
			o = appendFloat(o, bound)
		}
		o = append(o, "]}"...)
	}
	return o.end()
}

// AppendAck appends an ack (section 4.7).
func AppendAck(dst []byte, seq uint64, at int64) []byte {
	return begin(dst, TypeAck).seq("seq", seq).int("at", at).end()
}

// refusal writes the members of all refusals.
func (o object) refusal(e *Error) object {
	return o.text("code", string(e.Code)).text("csError", string(e.Code.CSError())).
		optionalText("field", e.Field).optionalInt("limit", int64(e.Limit)).text("message", e.Message)
}

// AppendNack appends a nack (section 4.7).
func AppendNack(dst []byte, e *Error) []byte {
	o := begin(dst, TypeNack)
	if e.Seq != 0 {
		o = o.seq("seq", e.Seq)
	}
	return o.refusal(e).end()
}

// AppendSlowDown appends a slow-down (section 4.8). It omits a statsIntervalMs of 0.
func AppendSlowDown(dst []byte, retryAfterMs int64, statsIntervalMs int) []byte {
	return begin(dst, TypeSlowDown).int("retryAfterMs", retryAfterMs).
		optionalInt("statsIntervalMs", int64(statsIntervalMs)).end()
}

// AppendBye appends a bye (section 4.9). An empty CSError is replaced by that of the code.
func AppendBye(dst []byte, b Bye) []byte {
	if b.CSError == "" {
		b.CSError = b.Code.CSError()
	}
	return begin(dst, TypeBye).optionalText("code", string(b.Code)).optionalText("csError", string(b.CSError)).
		optionalText("message", b.Message).bool("retry", b.Retry).optionalInt("retryAfterMs", b.RetryAfterMs).end()
}

// AppendError appends the body of a refusal over HTTP (section 3.4). It omits a retryAfterMs of 0.
func AppendError(dst []byte, e *Error, retry bool, retryAfterMs int64) []byte {
	return begin(dst, TypeError).refusal(e).bool("retry", retry).optionalInt("retryAfterMs", retryAfterMs).end()
}

// AppendScramReply appends the answer to a ScramFirst (section 3.1).
func AppendScramReply(dst []byte, r ScramReply) []byte {
	return begin(dst, TypeScramFirst).text("scram", r.Scram).text("state", r.State).end()
}

// AppendTokenReply appends the answer that carries a session token (section 3.1).
func AppendTokenReply(dst []byte, r TokenReply) []byte {
	return begin(dst, TypeToken).optionalText("scram", r.Scram).text("token", r.Token).
		text("session", r.Session).int("expiresInMs", r.ExpiresInMs).int("at", r.At).end()
}
