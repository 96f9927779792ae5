package digest

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields. A number is never used again.
const (
	fieldOutcome      protowire.Number = 1
	fieldLabel        protowire.Number = 2
	fieldCause        protowire.Number = 3
	fieldMOS          protowire.Number = 4 // thousandths
	fieldParticipants protowire.Number = 5
	fieldRatings      protowire.Number = 6
	fieldWorstRating  protowire.Number = 7
	fieldSetupMs      protowire.Number = 8 // packed
	fieldErrors       protowire.Number = 9
	fieldIssues       protowire.Number = 10
	fieldMember       protowire.Number = 11
	fieldOmitted      protowire.Number = 12
	fieldRTTMs        protowire.Number = 13 // microseconds
	fieldLossFraction protowire.Number = 14 // millionths

	countName  protowire.Number = 1
	countCount protowire.Number = 2

	memberSession        protowire.Number = 1 // 16 bytes
	memberSite           protowire.Number = 2
	memberVersion        protowire.Number = 3
	memberBrowser        protowire.Number = 4
	memberBrowserVersion protowire.Number = 5
	memberOS             protowire.Number = 6
	memberDevice         protowire.Number = 7
	memberMOS            protowire.Number = 8 // thousandths
	memberLabel          protowire.Number = 9
	memberCause          protowire.Number = 10
	memberDurationMs     protowire.Number = 11
	memberFabric         protowire.Number = 12

	fabricUsage         protowire.Number = 1
	fabricConnected     protowire.Number = 2
	fabricLocalType     protowire.Number = 3
	fabricRemoteType    protowire.Number = 4
	fabricRelayProtocol protowire.Number = 5
	fabricNetworkType   protowire.Number = 6
	fabricLocalAddress  protowire.Number = 7
	fabricCodecs        protowire.Number = 8
)

// Encode returns the digest in at most MaxBytes. Members beyond that are left out.
func (d *Digest) Encode() []byte {
	var b []byte
	b = appendText(b, fieldOutcome, d.Outcome)
	b = appendText(b, fieldLabel, d.Label)
	b = appendText(b, fieldCause, d.Cause)
	b = appendNumber(b, fieldMOS, thousandths(d.MOS))
	b = appendNumber(b, fieldParticipants, int64(d.Participants))
	b = appendNumber(b, fieldRatings, int64(d.Ratings))
	b = appendNumber(b, fieldWorstRating, int64(d.WorstRating))
	b = appendNumbers(b, fieldSetupMs, d.SetupMs)
	b = appendNumber(b, fieldRTTMs, int64(math.Round(d.RTTMs*1e3)))
	b = appendNumber(b, fieldLossFraction, int64(math.Round(d.LossFraction*1e6)))
	b = appendCounts(b, fieldErrors, d.Errors)
	b = appendCounts(b, fieldIssues, d.Issues)
	omitted, scratch := d.Omitted, []byte(nil)
	for i := range d.Members {
		scratch = d.Members[i].append(scratch[:0])
		if len(b)+len(scratch)+overhead > MaxBytes {
			omitted += len(d.Members) - i
			break
		}
		b = appendBytes(b, fieldMember, scratch)
	}
	return appendNumber(b, fieldOmitted, int64(omitted))
}

// overhead is more than the tag and the length of a member and the count of those left out take.
const overhead = 16

func (m *Member) append(b []byte) []byte {
	if m.Session != [16]byte{} {
		b = appendBytes(b, memberSession, m.Session[:])
	}
	b = appendText(b, memberSite, m.SiteID)
	b = appendText(b, memberVersion, m.ApplicationVersion)
	b = appendText(b, memberBrowser, m.Browser)
	b = appendText(b, memberBrowserVersion, m.BrowserVersion)
	b = appendText(b, memberOS, m.OS)
	for _, device := range m.Devices {
		b = appendText(b, memberDevice, device)
	}
	b = appendNumber(b, memberMOS, thousandths(m.MOS))
	b = appendText(b, memberLabel, m.Label)
	b = appendText(b, memberCause, m.Cause)
	b = appendNumber(b, memberDurationMs, m.DurationMs)
	var scratch []byte
	for i := range m.Fabrics {
		scratch = m.Fabrics[i].append(scratch[:0])
		b = appendBytes(b, memberFabric, scratch)
	}
	return b
}

func (f *Fabric) append(b []byte) []byte {
	b = appendText(b, fabricUsage, f.Usage)
	if f.Connected {
		b = appendNumber(b, fabricConnected, 1)
	}
	b = appendText(b, fabricLocalType, f.LocalCandidateType)
	b = appendText(b, fabricRemoteType, f.RemoteCandidateType)
	b = appendText(b, fabricRelayProtocol, f.RelayProtocol)
	b = appendText(b, fabricNetworkType, f.NetworkType)
	b = appendText(b, fabricLocalAddress, f.LocalAddress)
	return appendText(b, fabricCodecs, f.Codecs)
}

func appendCounts(b []byte, field protowire.Number, counts []Count) []byte {
	for _, c := range counts {
		one := appendNumber(appendText(nil, countName, c.Name), countCount, int64(c.Count))
		b = appendBytes(b, field, one)
	}
	return b
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// appendText leaves out an empty text, as the functions below leave out a zero.
func appendText(b []byte, field protowire.Number, v string) []byte {
	if v == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// appendNumber appends a number that is not negative.
func appendNumber(b []byte, field protowire.Number, v int64) []byte {
	if v <= 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

func thousandths(v float64) int64 { return int64(math.Round(v * 1000)) }

func appendNumbers(b []byte, field protowire.Number, all []int64) []byte {
	if len(all) == 0 {
		return b
	}
	var packed []byte
	for _, v := range all {
		packed = protowire.AppendVarint(packed, uint64(max(0, v)))
	}
	return appendBytes(b, field, packed)
}
