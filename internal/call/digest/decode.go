package digest

import (
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrMalformed is the error of bytes that are no digest.
var ErrMalformed = errors.New("malformed digest")

// maxTexts bounds the texts that a Decoder shares between digests.
const maxTexts = 1 << 16

// Decoder decodes digests. Equal texts share memory. The zero value is ready; it is not safe for concurrent use.
type Decoder struct {
	texts map[string]string
}

// Decode replaces d by the digest in b, which may be used again afterwards. Slices of d are reused: a caller that keeps members
// takes a new Digest.
func (r *Decoder) Decode(b []byte, d *Digest) error {
	*d = Digest{SetupMs: d.SetupMs[:0], Errors: d.Errors[:0], Issues: d.Issues[:0], Members: d.Members[:0]}
	return fields(b, func(field protowire.Number, v value64, text []byte) error {
		switch field {
		case fieldOutcome:
			d.Outcome = r.text(text)
		case fieldLabel:
			d.Label = r.text(text)
		case fieldCause:
			d.Cause = r.text(text)
		case fieldMOS:
			d.MOS = v.thousandths()
		case fieldParticipants:
			d.Participants = v.int()
		case fieldRatings:
			d.Ratings = v.int()
		case fieldWorstRating:
			d.WorstRating = v.int()
		case fieldSetupMs:
			return numbers(text, &d.SetupMs)
		case fieldRTTMs:
			d.RTTMs = v.thousandths()
		case fieldLossFraction:
			d.LossFraction = v.millionths()
		case fieldErrors:
			return r.count(text, &d.Errors)
		case fieldIssues:
			return r.count(text, &d.Issues)
		case fieldMember:
			return r.member(text, grow(&d.Members))
		case fieldOmitted:
			d.Omitted = v.int()
		}
		return nil
	})
}

func (r *Decoder) count(b []byte, all *[]Count) error {
	c := grow(all)
	*c = Count{}
	return fields(b, func(field protowire.Number, v value64, text []byte) error {
		switch field {
		case countName:
			c.Name = r.text(text)
		case countCount:
			c.Count = v.int()
		}
		return nil
	})
}

func (r *Decoder) member(b []byte, m *Member) error {
	*m = Member{Devices: m.Devices[:0], Fabrics: m.Fabrics[:0]}
	return fields(b, func(field protowire.Number, v value64, text []byte) error {
		switch field {
		case memberSession:
			if len(text) != len(m.Session) {
				return ErrMalformed
			}
			m.Session = [16]byte(text)
		case memberSite:
			m.SiteID = r.text(text)
		case memberVersion:
			m.ApplicationVersion = r.text(text)
		case memberBrowser:
			m.Browser = r.text(text)
		case memberBrowserVersion:
			m.BrowserVersion = r.text(text)
		case memberOS:
			m.OS = r.text(text)
		case memberDevice:
			m.Devices = append(m.Devices, r.text(text))
		case memberMOS:
			m.MOS = v.thousandths()
		case memberLabel:
			m.Label = r.text(text)
		case memberCause:
			m.Cause = r.text(text)
		case memberDurationMs:
			m.DurationMs = int64(v)
		case memberFabric:
			return r.fabric(text, grow(&m.Fabrics))
		}
		return nil
	})
}

func (r *Decoder) fabric(b []byte, f *Fabric) error {
	*f = Fabric{}
	return fields(b, func(field protowire.Number, v value64, text []byte) error {
		switch field {
		case fabricUsage:
			f.Usage = r.text(text)
		case fabricConnected:
			f.Connected = v != 0
		case fabricLocalType:
			f.LocalCandidateType = r.text(text)
		case fabricRemoteType:
			f.RemoteCandidateType = r.text(text)
		case fabricRelayProtocol:
			f.RelayProtocol = r.text(text)
		case fabricNetworkType:
			f.NetworkType = r.text(text)
		case fabricLocalAddress:
			f.LocalAddress = r.text(text)
		case fabricCodecs:
			f.Codecs = r.text(text)
		}
		return nil
	})
}

// text returns a text that digests share.
func (r *Decoder) text(b []byte) string {
	if s, ok := r.texts[string(b)]; ok {
		return s
	}
	if r.texts == nil || len(r.texts) >= maxTexts {
		r.texts = make(map[string]string, 64)
	}
	s := string(b)
	r.texts[s] = s
	return s
}

// grow appends an element, of which slices may be left from an earlier use, and returns it.
func grow[T any](all *[]T) *T {
	if n := len(*all); n < cap(*all) {
		*all = (*all)[:n+1]
	} else {
		var zero T
		*all = append(*all, zero)
	}
	return &(*all)[len(*all)-1]
}

// value64 is a number as it is encoded.
type value64 uint64

func (v value64) thousandths() float64 { return float64(v.int()) / 1000 }

func (v value64) millionths() float64 { return float64(v.int()) / 1e6 }

func (v value64) int() int { return int(min(v, math.MaxInt32)) }

// fields calls yield for each field of a message: with its number, or with its bytes.
func fields(b []byte, yield func(field protowire.Number, v value64, text []byte) error) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return ErrMalformed
		}
		b = b[n:]
		var v uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
		}
		if n < 0 {
			return ErrMalformed
		}
		if err := yield(field, value64(v), text); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func numbers(b []byte, all *[]int64) error {
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return ErrMalformed
		}
		*all = append(*all, int64(min(v, math.MaxInt32)))
		b = b[n:]
	}
	return nil
}

// Rewrite returns the digest after change of each of its members.
func Rewrite(b []byte, change func(*Member)) ([]byte, error) {
	var d Digest
	if err := new(Decoder).Decode(b, &d); err != nil {
		return nil, err
	}
	for i := range d.Members {
		change(&d.Members[i])
	}
	return d.Encode(), nil
}
