package protocol

import (
	"fmt"
	"unicode/utf8"
)

// Decoder decodes the client frames of one connection, with the fabrics and column sets that were
// announced on it. Not for concurrent use.
type Decoder struct {
	scan           scanner
	fabrics        map[int]*Fabric
	sets           []*Columns // by number; 0 is never announced
	keyed          []*Columns // shapes of recent keyed rows
	unknownColumns int
	words          map[string]string // short strings of earlier rows
	stats          *statsFrame       // memory of the last *Stats
	keep           Keep              // nil: the decoder keeps what the limits allow
}

// maxScratch bounds the scratch memory of an idle decoder.
const maxScratch = 1 << 10

// NewDecoder returns a decoder without announcements.
func NewDecoder() *Decoder { return &Decoder{} }

// Decode parses and validates one message of at most MaxFrameBytes. It refuses a longer one with
// CodeFrameTooLarge, and its Seq if that can be read from the head. It returns *Hello, *Fabric,
// *Columns, *Stats, *Event, *ErrorReport, *SDPPart, *Feedback, *Log, *PreCall, *Skip or *Bye. A
// *Stats and its Records are valid until the next Decode; all other results belong to the caller.
// The decoder does not keep msg.
func (d *Decoder) Decode(msg []byte) (Frame, *Error) {
	if len(msg) > MaxFrameBytes {
		return nil, tooLarge(msg)
	}
	s := &d.scan
	s.reset(msg)
	if !utf8.Valid(msg) {
		s.fail(CodeMalformed, 0, "the message is not UTF-8")
		return nil, finish(s.err, "", msg)
	}
	kind := s.messageType()
	var frame Frame
	if s.err == nil {
		s.reset(msg)
		frame = d.frame(kind)
		s.end()
	}
	err := s.err
	s.reset(nil)
	if cap(s.scratch) > maxScratch {
		s.scratch = nil
	}
	if err != nil {
		return nil, finish(err, kind, msg)
	}
	return d.take(frame)
}

// tooLarge returns the error for a message that is too large.
func tooLarge(msg []byte) *Error {
	return &Error{
		Code: CodeFrameTooLarge, Limit: MaxFrameBytes, Seq: PeekSeq(msg[:MaxFrameBytes]),
		Message: fmt.Sprintf("the message is %d bytes, at most %d are allowed", len(msg), MaxFrameBytes),
	}
}

// finish completes an error: it puts the field before the message, and adds the number of the
// frame if frames of this type have one.
func finish(e *Error, kind Type, msg []byte) *Error {
	if e.Field != "" {
		e.Message = e.Field + " " + e.Message
	}
	switch kind {
	case TypeHello, TypeFabric, TypeColumns, TypeBye:
	case TypeSkip:
		e.Seq, e.From = PeekSeq(msg), peek(msg, "from")
	default:
		e.Seq = PeekSeq(msg)
	}
	return e
}

// messageType returns the type. It is the first member of most messages; then it reads no other.
func (s *scanner) messageType() Type {
	if !s.open('{', "an object") {
		s.err.Code = CodeMalformed
		s.err.Message = "the message is not a JSON object"
		return ""
	}
	for name, ok := s.member(true); ok; name, ok = s.member(false) {
		if string(name) == "type" {
			kind := s.bytes(MaxFrameBytes)
			s.inField("type")
			return knownType(kind)
		}
		s.skip()
	}
	s.end()
	s.missing("type")
	return ""
}

// knownType returns the constant of a frequent type, to avoid an allocation, else the text itself.
func knownType(kind []byte) Type {
	switch Type(kind) {
	case TypeStats:
		return TypeStats
	case TypeEvent:
		return TypeEvent
	}
	return Type(kind)
}

// frame reads a message of a type.
func (d *Decoder) frame(kind Type) Frame {
	s := &d.scan
	switch kind {
	case TypeStats:
		return d.readStats()
	case TypeHello:
		return readHello(s)
	case TypeFabric:
		return readFrame(s, fabricMembers, &Fabric{RemoteEndpointType: "peer", FabricTransmissionDirection: "sendrecv"})
	case TypeColumns:
		return readColumns(s)
	case TypeEvent:
		return readScoped(d, eventMembers, &Event{})
	case TypeError:
		return readScoped(d, errorMembers, &ErrorReport{})
	case TypeSDP:
		return d.readSDPPart()
	case TypeFeedback:
		return readScoped(d, feedbackMembers, &Feedback{})
	case TypeLog:
		return readScoped(d, logMembers, &Log{})
	case TypePreCall:
		return readFrame(s, precallMembers, &PreCall{})
	case TypeSkip:
		return d.readSkip()
	case TypeBye:
		return readFrame(s, byeMembers, &Bye{})
	case TypeScramFirst, TypeScramFinal, TypeJWT, TypeToken, TypeConfiguration, TypeWelcome, TypeAck, TypeNack, TypeSlowDown:
		s.fail(CodeTypeUnknown, 0, "is not allowed here")
	default:
		s.fail(CodeTypeUnknown, 0, "is not a message type of version %d", Version)
	}
	s.inField("type")
	return nil
}

// readFrame reads a message that has no members beside those of the table.
func readFrame[T any](s *scanner, members []member[T], v *T) *T {
	readObject(s, members, v)
	return v
}

// take adds an announcement to the decoder.
func (d *Decoder) take(frame Frame) (Frame, *Error) {
	var err *Error
	switch f := frame.(type) {
	case *Fabric:
		frame, err = d.takeFabric(f)
	case *Columns:
		frame, err = d.takeColumns(f)
	}
	if err != nil {
		err.Message = err.Field + " " + err.Message
		return nil, err
	}
	return frame, nil
}

func (d *Decoder) takeFabric(f *Fabric) (Frame, *Error) {
	if have := d.fabrics[f.Fabric]; have != nil {
		if *have != *f {
			return nil, &Error{Code: CodeFieldValue, Field: "fabric", Message: "was announced before with another content"}
		}
		return have, nil
	}
	if len(d.fabrics) == MaxFabrics {
		return nil, &Error{
			Code: CodeTooMany, Field: "fabric", Limit: MaxFabrics,
			Message: fmt.Sprintf("is one more than the %d that one connection may announce", MaxFabrics),
		}
	}
	if err := d.mayKeep(f.bytes()); err != nil {
		err.Field = "fabric"
		return nil, err
	}
	if d.fabrics == nil {
		d.fabrics = make(map[int]*Fabric)
	}
	d.fabrics[f.Fabric] = f
	return f, nil
}

func (d *Decoder) takeColumns(c *Columns) (Frame, *Error) {
	if have := d.set(c.Set); have != nil {
		if !have.equal(c) {
			return nil, &Error{Code: CodeFieldValue, Field: "set", Message: "was announced before with another content"}
		}
		return have, nil
	}
	if err := d.mayKeep(c.bytes()); err != nil {
		err.Field = "set"
		return nil, err
	}
	for _, m := range c.Measures {
		if m == UnknownMeasure {
			d.unknownColumns++
		}
	}
	if missing := c.Set + 1 - len(d.sets); missing > 0 {
		d.sets = append(d.sets, make([]*Columns, missing)...)
	}
	c = sharedColumns.intern(c)
	d.sets[c.Set] = c
	return c, nil
}

// set returns an announced set, nil if there is none with that number.
func (d *Decoder) set(number int) *Columns {
	if number >= len(d.sets) {
		return nil
	}
	return d.sets[number]
}

// UnknownColumns returns the number of column names that were announced and ignored so far; a name
// in a keyed row counts each time.
func (d *Decoder) UnknownColumns() int { return d.unknownColumns }

// PeekSeq reads the seq from the head of a message that cannot be decoded as a whole. It returns 0
// if there is none.
func PeekSeq(head []byte) uint64 { return peek(head, "seq") }

// peek reads a frame number from the head of a message.
func peek(head []byte, member string) uint64 {
	var s scanner
	s.reset(head)
	s.open('{', "")
	for name, ok := s.member(true); ok; name, ok = s.member(false) {
		if string(name) != member {
			s.skip()
			continue
		}
		n := s.int(1, MaxSeq)
		// A number at the end of the head may be incomplete.
		if s.err != nil || s.pos == len(head) {
			return 0
		}
		return uint64(n)
	}
	return 0
}
