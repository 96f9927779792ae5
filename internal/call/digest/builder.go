package digest

import (
	"bytes"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Builder makes Columns. The zero value is ready; it is not safe for concurrent use. Its memory is used again.
type Builder struct {
	columns  Columns
	texts    map[string]uint32
	facts    [attributes][]uint32 // number of a fact by its text, from 1; 0: none
	browsers map[[2]uint32]uint32 // facts of a family and a major version, both texts
	recent   [attributes][recent]uint32
}

// Columns returns what was added since the call before.
func (b *Builder) Columns() *Columns {
	b.begin()
	c := &b.columns
	out := &Columns{
		texts: slices.Clone(c.texts), facts: slices.Clone(c.facts), rows: slices.Clone(c.rows), counts: slices.Clone(c.counts),
		setup: slices.Clone(c.setup), ends: slices.Clone(c.ends), of: slices.Clone(c.of),
	}
	*c = Columns{facts: c.facts[:0], rows: c.rows[:0], counts: c.counts[:0], setup: c.setup[:0], ends: c.ends[:0], of: c.of[:0]}
	return out
}

// begin prepares for the first conference.
func (b *Builder) begin() {
	if len(b.columns.texts) > 0 {
		return
	}
	if b.texts == nil {
		b.texts, b.browsers = map[string]uint32{}, map[[2]uint32]uint32{}
	}
	clear(b.texts)
	clear(b.browsers)
	for i := range b.facts {
		clear(b.facts[i])
	}
	b.recent = [attributes][recent]uint32{}
	b.columns.texts, b.texts[""] = append(b.columns.texts, ""), 0
}

// Add adds a conference of an app by its encoded digest, which may be used again afterwards. An empty digest, or one that
// cannot be read, is a conference without a summary.
func (b *Builder) Add(appID string, start time.Time, body []byte) {
	b.begin()
	c := &b.columns
	row := Row{Start: start, App: b.text([]byte(appID))}
	counts, setup, ends, of := len(c.counts), len(c.setup), len(c.ends), len(c.of)
	if len(body) > 0 && b.digest(&row, body) == nil {
		row.Failed = Failed(c.texts[row.Outcome])
	} else {
		row = Row{Start: start, App: row.App, Pending: true}
		c.counts, c.setup, c.ends, c.of = c.counts[:counts], c.setup[:setup], c.ends[:ends], c.of[:of]
	}
	c.rows = append(c.rows, row)
}

// digest reads a digest. Errors are before issues, and both of a kind are next to each other, whatever their order.
func (b *Builder) digest(row *Row, body []byte) error {
	c := &b.columns
	row.setup.from, row.members.from = uint32(len(c.setup)), uint32(len(c.ends))
	app := b.fact(App, row.App)
	var issues []NamedCount
	row.errors.from = uint32(len(c.counts))
	for len(body) > 0 {
		field, v, text, n := next(body)
		if n < 0 {
			return ErrMalformed
		}
		body = body[n:]
		var err error
		switch field {
		case fieldOutcome:
			row.Outcome = b.text(text)
		case fieldLabel:
			row.Label = b.text(text)
		case fieldCause:
			row.Cause = b.text(text)
		case fieldMOS:
			row.MOS = v.thousandths()
		case fieldParticipants:
			row.Participants = v.int()
		case fieldRatings:
			row.Ratings = v.int()
		case fieldWorstRating:
			row.WorstRating = v.int()
		case fieldSetupMs:
			err = numbers(text, &c.setup)
		case fieldRTTMs:
			row.RTTMs = v.thousandths()
		case fieldLossFraction:
			row.LossFraction = v.millionths()
		case fieldErrors:
			err = b.count(text, &c.counts)
		case fieldIssues:
			err = b.count(text, &issues)
		case fieldMember:
			err = b.member(app, text)
		}
		if err != nil {
			return err
		}
	}
	row.errors.to = uint32(len(c.counts))
	c.counts = append(c.counts, issues...)
	row.issues = span{row.errors.to, uint32(len(c.counts))}
	row.setup.to, row.members.to = uint32(len(c.setup)), uint32(len(c.ends))
	return nil
}

func (b *Builder) count(body []byte, all *[]NamedCount) error {
	var one NamedCount
	for len(body) > 0 {
		field, v, text, n := next(body)
		if n < 0 {
			return ErrMalformed
		}
		body = body[n:]
		switch field {
		case countName:
			one.Name = b.text(text)
		case countCount:
			one.Count = v.int()
		}
	}
	*all = append(*all, one)
	return nil
}

// memberFacts are the attributes of a member's own texts.
var memberFacts = [...]Attribute{memberSite: Site, memberVersion: ApplicationVersion, memberBrowser: Browser, memberOS: OS, memberDevice: Device}

func (b *Builder) member(app uint32, body []byte) error {
	c := &b.columns
	from := len(c.of)
	if c.texts[c.facts[app].Value] != "" {
		c.of = append(c.of, app)
	}
	var browser, version uint32
	for len(body) > 0 {
		field, _, text, n := next(body)
		if n < 0 {
			return ErrMalformed
		}
		body = body[n:]
		switch field {
		case memberSite, memberVersion, memberOS, memberDevice:
			b.has(from, memberFacts[field], text)
		case memberBrowser:
			browser = b.text(text)
			b.has(from, Browser, text)
		case memberBrowserVersion:
			version = b.text(text)
		case memberSession:
			if len(text) != len(Member{}.Session) {
				return ErrMalformed
			}
		case memberFabric:
			if err := b.fabric(from, text); err != nil {
				return err
			}
		}
	}
	if version != 0 {
		b.put(from, b.browser(browser, version))
	}
	c.ends = append(c.ends, uint32(len(c.of)))
	return nil
}

// recent bounds the facts of one attribute that are found without a map.
const recent = 64

// has adds a fact to the member whose facts begin at from; an empty text is unknown.
func (b *Builder) has(from int, a Attribute, text []byte) {
	n := len(text)
	if n == 0 {
		return
	}
	at := &b.recent[a][(n+int(text[n-1])+5*int(text[n/2]))%recent]
	if id := *at; id == 0 || b.columns.texts[b.columns.facts[id-1].Value] != string(text) {
		*at = b.fact(a, b.text(text)) + 1
	}
	b.put(from, *at-1)
}

func (b *Builder) put(from int, fact uint32) {
	if c := &b.columns; !slices.Contains(c.of[from:], fact) {
		c.of = append(c.of, fact)
	}
}

// browser returns the fact of a family and a major version.
func (b *Builder) browser(family, version uint32) uint32 {
	key := [2]uint32{family, version}
	id, ok := b.browsers[key]
	if !ok {
		texts := b.columns.texts
		id = b.fact(BrowserVersion, b.text([]byte(texts[family]+" "+texts[version])))
		b.browsers[key] = id
	}
	return id
}

// fabricFacts are the attributes of a fabric's texts.
var fabricFacts = [...]Attribute{
	fabricUsage: Usage, fabricLocalType: LocalCandidateType, fabricRemoteType: RemoteCandidateType, fabricRelayProtocol: RelayProtocol,
	fabricNetworkType: NetworkType, fabricLocalAddress: LocalAddress,
}

// fabric adds the facts of a fabric to the member whose facts begin at from.
func (b *Builder) fabric(from int, body []byte) error {
	for len(body) > 0 {
		field, _, text, n := next(body)
		if n < 0 {
			return ErrMalformed
		}
		body = body[n:]
		switch field {
		case fabricUsage, fabricLocalType, fabricRemoteType, fabricRelayProtocol, fabricNetworkType, fabricLocalAddress:
			b.has(from, fabricFacts[field], text)
		case fabricCodecs:
			for codec := range bytes.FieldsSeq(text) {
				b.has(from, Codec, codec)
			}
		}
	}
	return nil
}

// text returns the number of a text.
func (b *Builder) text(text []byte) uint32 {
	id, ok := b.texts[string(text)]
	if !ok {
		id = uint32(len(b.columns.texts))
		b.columns.texts = append(b.columns.texts, string(text))
		b.texts[b.columns.texts[id]] = id
	}
	return id
}

// fact returns the number of a fact.
func (b *Builder) fact(a Attribute, value uint32) uint32 {
	all := &b.facts[a]
	for int(value) >= len(*all) {
		*all = append(*all, 0)
	}
	id := &(*all)[value]
	if *id == 0 {
		b.columns.facts = append(b.columns.facts, Fact{a, value})
		*id = uint32(len(b.columns.facts))
	}
	return *id - 1
}

// next returns the first field of a message: its number or its bytes, and its length, which is negative where it is no
// field.
func next(b []byte) (field protowire.Number, v value64, text []byte, n int) {
	if len(b) > 1 && b[0] < 0x80 && b[0] > 7 && protowire.Type(b[0]&7) == protowire.BytesType { // as nearly all are
		if n = int(b[1]) + 2; b[1] < 0x80 && n <= len(b) {
			return protowire.Number(b[0] >> 3), 0, b[2:n], n
		}
	}
	field, kind, n := protowire.ConsumeTag(b)
	if n < 0 {
		return 0, 0, nil, n
	}
	rest, m := b[n:], 0
	switch kind {
	case protowire.VarintType:
		var number uint64
		number, m = protowire.ConsumeVarint(rest)
		v = value64(number)
	case protowire.BytesType:
		text, m = protowire.ConsumeBytes(rest)
	default:
		m = protowire.ConsumeFieldValue(field, kind, rest)
	}
	if m < 0 {
		return 0, 0, nil, m
	}
	return field, v, text, n + m
}
