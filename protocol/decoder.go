package protocol

// Decoder decodes the client frames of one connection and keeps its context: the
// fabrics and column sets announced so far. Not for concurrent use.
type Decoder struct{ unknownColumns int }

// NewDecoder returns a decoder without context.
func NewDecoder() *Decoder { return &Decoder{} }

// Decode parses and validates one message of at most MaxFrameBytes (a longer one is
// refused with CodeFrameTooLarge, with its Seq if that can be read from the head). It
// returns *Hello, *Fabric, *Columns, *Stats, *Event, *ErrorReport, *Feedback, *Log,
// *Skip or *Bye. A *Stats and its Records are reused by the next Decode; everything
// else is the caller's. msg is not kept.
func (d *Decoder) Decode(msg []byte) (Frame, *Error) {
	return nil, &Error{Code: CodeMalformed, Seq: PeekSeq(msg)}
}

// Release gives the memory of the last *Stats back to a common pool, for connections
// that are idle between frames. It is optional; that *Stats must not be used after it.
func (d *Decoder) Release() {}

// UnknownColumns tells how many column names were announced and ignored so far.
func (d *Decoder) UnknownColumns() int { return d.unknownColumns }

// PeekSeq reads the seq from the head of a message that cannot be decoded whole; 0 when
// there is none.
func PeekSeq(head []byte) uint64 { return 0 }

// DecodeAuth parses and validates the body of a POST to auth.
func DecodeAuth(body []byte) (AuthRequest, *Error) { return nil, &Error{Code: CodeMalformed} }
