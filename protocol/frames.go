package protocol

import (
	"encoding/json"
	"slices"
)

// The tables here and in scoped.go follow docs/protocol.md, section 4.

func typeMember[T any]() member[T] { return skipMember[T]("type") }

var helloMembers = []member[Hello]{
	typeMember[Hello](),
	skipMember[Hello]("versions"), // read by readHello
	idMember("token", MaxTokenBytes, func(h *Hello) *string { return &h.Token }),
	{"session", true, func(s *scanner, h *Hello) { h.Session = s.session() }},
	{"acked", true, func(s *scanner, h *Hello) { h.Acked = uint64(s.int(0, MaxSeq)) }},
	{"at", true, func(s *scanner, h *Hello) { h.At = s.time() }},
	textMember("library", MaxLibraryBytes, func(h *Hello) *string { return &h.Library }),
	textMember("userAgent", MaxUserAgentBytes, func(h *Hello) *string { return &h.UserAgent }),
	{"applicationVersion", false, func(s *scanner, h *Hello) { h.ApplicationVersion = s.chars(MaxAppVersionChars) }},
	textMember("siteID", MaxSiteIDBytes, func(h *Hello) *string { return &h.SiteID }),
	{"additionalIDs", false, func(s *scanner, h *Hello) {
		h.AdditionalIDs = make(map[string]string)
		readObject(s, additionalMembers, &h.AdditionalIDs)
	}},
}

var versionMembers = []member[Hello]{
	{"versions", true, func(s *scanner, h *Hello) {
		s.array(MaxVersions, func() { h.Versions = append(h.Versions, int(s.int(1, MaxFabric))) })
	}},
}

var additionalMembers = func() []member[map[string]string] {
	members := make([]member[map[string]string], len(AdditionalIDKeys))
	for i, key := range AdditionalIDKeys {
		members[i] = member[map[string]string]{key, false, func(s *scanner, m *map[string]string) {
			(*m)[key] = s.str(MaxAdditionalBytes)
		}}
	}
	return members
}()

// readHello checks the versions first: the other members of an unsupported version may have any
// form.
func readHello(s *scanner) *Hello {
	h := &Hello{}
	readObject(s, versionMembers, h)
	if s.err == nil && CommonVersion(h.Versions) == 0 {
		s.fail(CodeVersionUnsupported, 0, "of the client are %v, the server speaks %v", h.Versions, SupportedVersions)
		s.inField("versions")
	}
	if s.err != nil {
		return h
	}
	s.reset(s.buf)
	return readFrame(s, helloMembers, h)
}

// CommonVersion returns the client's best version that this server supports, 0 if there is none.
func CommonVersion(client []int) int {
	for _, v := range client {
		if slices.Contains(SupportedVersions, v) {
			return v
		}
	}
	return 0
}

// session reads a UUID version 7 in lower case.
func (s *scanner) session() string {
	id := s.str(MaxIDBytes)
	if s.err == nil && !ValidSession(id) {
		s.fail(CodeFieldValue, 0, "must be a UUID version 7 in lower case")
	}
	return id
}

// ValidSession reports whether id is a UUID version 7 in lower case (section 2).
func ValidSession(id string) bool {
	if len(id) != 36 || id[14] != '7' || id[19] != '8' && id[19] != '9' && id[19] != 'a' && id[19] != 'b' {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isDigit(c) && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

var fabricMembers = []member[Fabric]{
	typeMember[Fabric](),
	{"fabric", true, func(s *scanner, f *Fabric) { f.Fabric = int(s.int(1, MaxFabric)) }},
	idMember("conferenceID", MaxIDBytes, func(f *Fabric) *string { return &f.ConferenceID }),
	{"addedAt", true, func(s *scanner, f *Fabric) { f.AddedAt = s.time() }},
	{"remoteUserID", true, func(s *scanner, f *Fabric) { f.RemoteUserID = s.userID() }},
	{"fabricUsage", true, func(s *scanner, f *Fabric) {
		f.FabricUsage = s.enum(FabricUsages)
	}},
	{"remoteEndpointType", false, func(s *scanner, f *Fabric) { f.RemoteEndpointType = s.enum(EndpointTypes) }},
	{"fabricTransmissionDirection", false, func(s *scanner, f *Fabric) {
		f.FabricTransmissionDirection = s.enum(TransmissionDirections)
	}},
}

var byeMembers = []member[Bye]{
	typeMember[Bye](),
	{"code", false, func(s *scanner, b *Bye) { b.Code = Code(s.str(MaxCodeBytes)) }},
	{"csError", false, func(s *scanner, b *Bye) { b.CSError = CSError(s.str(MaxCodeBytes)) }},
	textMember("message", MaxReasonBytes, func(b *Bye) *string { return &b.Message }),
	{"retry", false, func(s *scanner, b *Bye) { b.Retry = s.bool() }},
	{"retryAfterMs", false, func(s *scanner, b *Bye) { b.RetryAfterMs = s.int(0, MaxSeq) }},
}

func (s *scanner) statsType() string { return s.enum(StatsTypes) }
func (s *scanner) mediaType() string { return s.enum(MediaTypes) }

var columnsMembers = []member[Columns]{
	typeMember[Columns](),
	{"set", true, func(s *scanner, c *Columns) { c.Set = int(s.int(1, MaxColumnSets)) }},
	{"statsType", true, func(s *scanner, c *Columns) { c.StatsType = s.statsType() }},
	{"mediaType", false, func(s *scanner, c *Columns) { c.MediaType = s.mediaType() }},
	{"names", true, func(s *scanner, c *Columns) { c.readNames(s) }},
}

func readColumns(s *scanner) *Columns {
	c := &Columns{}
	readObject(s, columnsMembers, c)
	s.checkMediaType(c.StatsType, c.MediaType)
	return c
}

// checkMediaType checks that streams have a media type, and candidate pairs have none.
func (s *scanner) checkMediaType(statsType, mediaType string) {
	switch {
	case s.err != nil:
	case statsType != CandidatePair && mediaType == "":
		s.missing("mediaType")
	case statsType == CandidatePair && mediaType != "":
		s.fail(CodeFieldValue, 0, "must be absent for candidate-pair")
		s.inField("mediaType")
	}
}

func (c *Columns) readNames(s *scanner) {
	s.array(MaxColumns, func() {
		name := s.id(MaxValueBytes)
		if slices.Contains(c.Names, name) {
			s.fail(CodeFieldValue, 0, "stands twice")
		}
		measure := MeasureNamed(name)
		if measure != UnknownMeasure {
			name = measure.String() // one string for all
		}
		c.Names = append(c.Names, name)
		c.Measures = append(c.Measures, measure)
	})
	if len(c.Names) == 0 {
		s.fail(CodeFieldValue, 0, "must not be empty")
	}
}

// equal reports whether both have the same types and names.
func (c *Columns) equal(o *Columns) bool {
	return c.StatsType == o.StatsType && c.MediaType == o.MediaType && slices.Equal(c.Names, o.Names)
}

// eventName reads the name of an event: [A-Za-z][A-Za-z0-9]{0,63}.
func (s *scanner) eventName() string {
	name := s.str(MaxEventNameBytes)
	if s.err != nil {
		return ""
	}
	for i := range len(name) {
		letter := name[i]|0x20 >= 'a' && name[i]|0x20 <= 'z'
		if !letter && (i == 0 || !isDigit(name[i])) {
			s.fail(CodeFieldValue, 0, "must be letters and digits, a letter first")
			return ""
		}
	}
	if name == "" {
		s.fail(CodeFieldValue, 0, "must not be empty")
	}
	return name
}

// score reads a rating from 1 to 5.
func (s *scanner) score() int { return int(s.int(1, 5)) }

// object reads any object of at most limit bytes.
func (s *scanner) object(limit int) json.RawMessage { return s.raw(limit) }
