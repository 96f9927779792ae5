package protocol

// scoped is a frame of section 4.4 or 4.5 while it is read: its common part, and the frame itself.
type scoped[T any] struct {
	header *Header
	scope  *Scope
	fabric int
	frame  *T
}

// scopedFrame is a frame that belongs to a fabric or to a conference.
type scopedFrame[T any] interface {
	*T
	Frame
	parts() (*Header, *Scope)
}

func (e *Event) parts() (*Header, *Scope)       { return &e.Header, &e.Scope }
func (e *ErrorReport) parts() (*Header, *Scope) { return &e.Header, &e.Scope }
func (p *SDPPart) parts() (*Header, *Scope)     { return &p.Header, &p.Scope }
func (f *Feedback) parts() (*Header, *Scope)    { return &f.Header, &f.Scope }
func (l *Log) parts() (*Header, *Scope)         { return &l.Header, &l.Scope }

// readScoped reads such a frame and resolves its fabric.
func readScoped[T any, P scopedFrame[T]](d *Decoder, members []member[scoped[T]], frame P) Frame {
	s := &d.scan
	header, scope := frame.parts()
	v := scoped[T]{header: header, scope: scope, frame: frame}
	readObject(s, members, &v)
	if s.err == nil {
		d.resolve(v.fabric, scope)
	}
	return frame
}

// resolve sets the fabric, or checks that the frame has a conference.
func (d *Decoder) resolve(fabric int, scope *Scope) {
	s := &d.scan
	named := scope.ConferenceID != "" || scope.ConferenceAt != 0
	switch {
	case fabric != 0 && named:
		s.fail(CodeFieldValue, 0, "excludes conferenceID and conferenceAt")
		s.inField("fabric")
	case fabric != 0:
		scope.Fabric = d.fabricNumbered(fabric)
		s.inField("fabric")
	case !named:
		s.missing("fabric")
	case scope.ConferenceID == "":
		s.missing("conferenceID")
	case scope.ConferenceAt == 0:
		s.missing("conferenceAt")
	}
}

// fabricNumbered returns an announced fabric.
func (d *Decoder) fabricNumbered(n int) *Fabric {
	f := d.fabrics[n]
	if f == nil {
		d.scan.fail(CodeFabricUnknown, 0, "was not announced on this connection")
	}
	return f
}

// scopedMembers returns the common members and those of one type.
func scopedMembers[T any](own ...member[scoped[T]]) []member[scoped[T]] {
	return append([]member[scoped[T]]{
		typeMember[scoped[T]](),
		{"seq", true, func(s *scanner, v *scoped[T]) { v.header.Seq = s.seq() }},
		{"at", true, func(s *scanner, v *scoped[T]) { v.header.At = s.time() }},
		{"fabric", false, func(s *scanner, v *scoped[T]) { v.fabric = int(s.int(1, MaxFabric)) }},
		{"conferenceID", false, func(s *scanner, v *scoped[T]) { v.scope.ConferenceID = s.id(MaxIDBytes) }},
		{"conferenceAt", false, func(s *scanner, v *scoped[T]) { v.scope.ConferenceAt = s.time() }},
	}, own...)
}

// seq reads the number of a frame.
func (s *scanner) seq() uint64 { return uint64(s.int(1, MaxSeq)) }

// ownMember returns a member of one type.
func ownMember[T any](name string, required bool, read func(*scanner, *T)) member[scoped[T]] {
	return member[scoped[T]]{name, required, func(s *scanner, v *scoped[T]) { read(s, v.frame) }}
}

var eventMembers = scopedMembers(
	ownMember("event", true, func(s *scanner, e *Event) { e.Event = s.eventName() }),
	ownMember("data", false, func(s *scanner, e *Event) { e.Data = s.object(MaxEventDataBytes) }),
)

var errorMembers = scopedMembers(
	ownMember("function", true, func(s *scanner, e *ErrorReport) {
		e.Function = s.enum(Functions)
	}),
	ownMember("name", false, func(s *scanner, e *ErrorReport) { e.Name = s.str(MaxErrorNameBytes) }),
	ownMember("message", false, func(s *scanner, e *ErrorReport) { e.Message = s.str(MaxErrorTextBytes) }),
	ownMember("code", false, func(s *scanner, e *ErrorReport) { e.Code = s.str(MaxErrorWordBytes) }),
	ownMember("constraintName", false, func(s *scanner, e *ErrorReport) { e.ConstraintName = s.str(MaxErrorWordBytes) }),
	ownMember("stack", false, func(s *scanner, e *ErrorReport) { e.Stack = s.str(MaxStackBytes) }),
	ownMember("details", false, func(s *scanner, e *ErrorReport) { e.Details = s.str(MaxDetailsBytes) }),
	ownMember("localSDP", false, func(s *scanner, e *ErrorReport) { e.LocalSDP = s.str(MaxSDPBytes) }),
	ownMember("remoteSDP", false, func(s *scanner, e *ErrorReport) { e.RemoteSDP = s.str(MaxSDPBytes) }),
	ownMember("localSDPBytes", false, func(s *scanner, e *ErrorReport) { e.LocalSDPBytes = int(s.int(1, MaxWholeSDPBytes)) }),
	ownMember("remoteSDPBytes", false, func(s *scanner, e *ErrorReport) { e.RemoteSDPBytes = int(s.int(1, MaxWholeSDPBytes)) }),
)

var sdpMembers = scopedMembers(
	ownMember("error", true, func(s *scanner, p *SDPPart) { p.Error = s.seq() }),
	ownMember("field", true, func(s *scanner, p *SDPPart) { p.Field = s.enum(SDPFields) }),
	ownMember("offset", true, func(s *scanner, p *SDPPart) { p.Offset = int(s.int(0, MaxWholeSDPBytes-1)) }),
	ownMember("text", true, func(s *scanner, p *SDPPart) { p.Text = s.id(MaxWholeSDPBytes) }),
)

// readSDPPart reads a part of an SDP, and checks that it is within the largest SDP, so that the
// decoder need not remember the error frame.
func (d *Decoder) readSDPPart() Frame {
	p := &SDPPart{}
	frame := readScoped(d, sdpMembers, p)
	if s := &d.scan; s.err == nil && p.Offset+len(p.Text) > MaxWholeSDPBytes {
		s.fail(CodeFieldTooLong, MaxWholeSDPBytes, "ends at byte %d of an SDP, at most %d are allowed", p.Offset+len(p.Text), MaxWholeSDPBytes)
		s.inField("text")
	}
	return frame
}

var feedbackMembers = scopedMembers(
	ownMember("userID", true, func(s *scanner, f *Feedback) { f.UserID = s.userID() }),
	ownMember("overall", true, func(s *scanner, f *Feedback) { f.Overall = s.score() }),
	ownMember("audio", false, func(s *scanner, f *Feedback) { f.Audio = s.score() }),
	ownMember("video", false, func(s *scanner, f *Feedback) { f.Video = s.score() }),
	ownMember("screen", false, func(s *scanner, f *Feedback) { f.Screen = s.score() }),
	ownMember("comment", false, func(s *scanner, f *Feedback) { f.Comment = s.str(MaxCommentBytes) }),
)

var logMembers = scopedMembers(
	ownMember("text", true, func(s *scanner, l *Log) { l.Text = s.str(MaxLogTextBytes) }),
)

// skipFrame is a Skip while it is read.
type skipFrame struct {
	d *Decoder
	*Skip
}

// lostEntry is an element of lost while it is read.
type lostEntry struct {
	Lost
	fabric int
}

var skipMembers = []member[skipFrame]{
	typeMember[skipFrame](),
	{"seq", true, func(s *scanner, v *skipFrame) { v.Seq = s.seq() }},
	{"at", true, func(s *scanner, v *skipFrame) { v.At = s.time() }},
	{"from", true, func(s *scanner, v *skipFrame) { v.From = s.seq() }},
	{"lost", false, func(s *scanner, v *skipFrame) {
		s.array(MaxFabrics+1, func() { v.Lost = append(v.Lost, v.d.readLost()) })
	}},
}

var lostMembers = []member[lostEntry]{
	{"fabric", true, func(s *scanner, l *lostEntry) { l.fabric = int(s.int(0, MaxFabric)) }},
	{"stats", false, func(s *scanner, l *lostEntry) { l.Stats = int(s.int(0, MaxSeq)) }},
	{"events", false, func(s *scanner, l *lostEntry) { l.Events = int(s.int(0, MaxSeq)) }},
}

func (d *Decoder) readSkip() *Skip {
	s := &d.scan
	v := skipFrame{d: d, Skip: &Skip{}}
	readObject(s, skipMembers, &v)
	if s.err == nil && v.From > v.Seq {
		s.fail(CodeFieldValue, 0, "must not be after seq")
		s.inField("from")
	}
	return v.Skip
}

func (d *Decoder) readLost() Lost {
	var l lostEntry
	readObject(&d.scan, lostMembers, &l)
	if d.scan.err == nil && l.fabric != 0 {
		l.Fabric = d.fabricNumbered(l.fabric)
		d.scan.inField("fabric")
	}
	return l.Lost
}
