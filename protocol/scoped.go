package protocol

// scoped is a frame while it is read: what all frames of section 4.4 and 4.5 share, and
// the frame itself.
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

// readScoped reads such a frame and resolves what it belongs to.
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

// resolve finds the fabric, or makes sure that the conference is named.
func (d *Decoder) resolve(fabric int, scope *Scope) {
	s := &d.scan
	named := scope.ConferenceID != "" || scope.ConferenceAt != 0
	switch {
	case fabric != 0 && named:
		s.fail(CodeFieldValue, 0, "excludes conferenceID and conferenceAt")
		s.in("fabric")
	case fabric != 0:
		scope.Fabric = d.fabricNumbered(fabric)
		s.in("fabric")
	case !named:
		s.missing("fabric")
	case scope.ConferenceID == "":
		s.missing("conferenceID")
	case scope.ConferenceAt == 0:
		s.missing("conferenceAt")
	}
}

// fabricNumbered finds a fabric that was announced.
func (d *Decoder) fabricNumbered(n int) *Fabric {
	f := d.fabrics[n]
	if f == nil {
		d.scan.fail(CodeFabricUnknown, 0, "was not announced on this connection")
	}
	return f
}

// scopedMembers puts the shared members before those of one type.
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

// seq takes the number of a frame.
func (s *scanner) seq() uint64 { return uint64(s.int(1, MaxSeq)) }

// own describes a member of one type.
func own[T any](name string, required bool, read func(*scanner, *T)) member[scoped[T]] {
	return member[scoped[T]]{name, required, func(s *scanner, v *scoped[T]) { read(s, v.frame) }}
}

var eventMembers = scopedMembers(
	own("event", true, func(s *scanner, e *Event) { e.Event = s.eventName() }),
	own("data", false, func(s *scanner, e *Event) { e.Data = s.object(MaxEventDataBytes) }),
)

var errorMembers = scopedMembers(
	own("function", true, func(s *scanner, e *ErrorReport) {
		e.Function = s.enum(Functions)
	}),
	own("name", false, func(s *scanner, e *ErrorReport) { e.Name = s.str(MaxErrorNameBytes) }),
	own("message", false, func(s *scanner, e *ErrorReport) { e.Message = s.str(MaxErrorTextBytes) }),
	own("code", false, func(s *scanner, e *ErrorReport) { e.Code = s.str(MaxErrorWordBytes) }),
	own("constraintName", false, func(s *scanner, e *ErrorReport) { e.ConstraintName = s.str(MaxErrorWordBytes) }),
	own("stack", false, func(s *scanner, e *ErrorReport) { e.Stack = s.str(MaxStackBytes) }),
	own("details", false, func(s *scanner, e *ErrorReport) { e.Details = s.str(MaxDetailsBytes) }),
	own("localSDP", false, func(s *scanner, e *ErrorReport) { e.LocalSDP = s.str(MaxSDPBytes) }),
	own("remoteSDP", false, func(s *scanner, e *ErrorReport) { e.RemoteSDP = s.str(MaxSDPBytes) }),
	own("localSDPBytes", false, func(s *scanner, e *ErrorReport) { e.LocalSDPBytes = int(s.int(1, MaxWholeSDPBytes)) }),
	own("remoteSDPBytes", false, func(s *scanner, e *ErrorReport) { e.RemoteSDPBytes = int(s.int(1, MaxWholeSDPBytes)) }),
)

var sdpMembers = scopedMembers(
	own("error", true, func(s *scanner, p *SDPPart) { p.Error = s.seq() }),
	own("field", true, func(s *scanner, p *SDPPart) { p.Field = s.enum(SDPFields) }),
	own("offset", true, func(s *scanner, p *SDPPart) { p.Offset = int(s.int(0, MaxWholeSDPBytes-1)) }),
	own("text", true, func(s *scanner, p *SDPPart) { p.Text = s.id(MaxWholeSDPBytes) }),
)

// readSDPPart reads a part of an SDP: it lies within what an SDP may be, so that nothing need
// be remembered of its error.
func (d *Decoder) readSDPPart() Frame {
	p := &SDPPart{}
	frame := readScoped(d, sdpMembers, p)
	if s := &d.scan; s.err == nil && p.Offset+len(p.Text) > MaxWholeSDPBytes {
		s.fail(CodeFieldTooLong, MaxWholeSDPBytes, "ends at byte %d of an SDP, at most %d are allowed", p.Offset+len(p.Text), MaxWholeSDPBytes)
		s.in("text")
	}
	return frame
}

var feedbackMembers = scopedMembers(
	own("userID", true, func(s *scanner, f *Feedback) { f.UserID = s.userID() }),
	own("overall", true, func(s *scanner, f *Feedback) { f.Overall = s.score() }),
	own("audio", false, func(s *scanner, f *Feedback) { f.Audio = s.score() }),
	own("video", false, func(s *scanner, f *Feedback) { f.Video = s.score() }),
	own("screen", false, func(s *scanner, f *Feedback) { f.Screen = s.score() }),
	own("comment", false, func(s *scanner, f *Feedback) { f.Comment = s.str(MaxCommentBytes) }),
)

var logMembers = scopedMembers(
	own("text", true, func(s *scanner, l *Log) { l.Text = s.str(MaxLogTextBytes) }),
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
		s.in("from")
	}
	return v.Skip
}

func (d *Decoder) readLost() Lost {
	var l lostEntry
	readObject(&d.scan, lostMembers, &l)
	if d.scan.err == nil && l.fabric != 0 {
		l.Fabric = d.fabricNumbered(l.fabric)
		d.scan.in("fabric")
	}
	return l.Lost
}
