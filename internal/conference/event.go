package conference

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"strings"

	"github.com/qosrtc/qos/internal/userid"
)

// Kind is the kind of a record on a conference's time-line.
type Kind uint8

// The kinds of records.
const (
	KindStats Kind = iota + 1
	KindEvent
	KindError
	KindFeedback
	KindLog
	KindSkip
)

// Value is a number that may be unknown.
type Value struct {
	V     float64
	Known bool
}

// Known returns a known value.
func Known(v float64) Value { return Value{v, true} }

// Event is one record on a time-line, independent of how it was carried. Its identity is
// (Session, Seq, Index); the same identity always has the same content.
type Event struct {
	AppID        string
	ConferenceID string
	Session      string
	UserID       string
	Alias        string
	Seq          uint64
	Index        int

	AtMs           int64 // when it happened, ms since the epoch
	ConferenceAtMs int64 // a time inside the conference; of a fabric, when it was added

	Fabric      int // 0: the record belongs to no fabric
	Usage       string
	RemoteUser  string
	RemoteAlias string
	RemoteType  string // peer, server
	Direction   string // fabricTransmissionDirection

	Kind     Kind
	Stats    *Stats    // KindStats; nil when the frame had no rows
	Name     string    // KindEvent
	Data     *Data     // KindEvent, what ParseData found; may be nil
	Function string    // KindError
	Feedback *Feedback // KindFeedback
	Lost     Lost      // KindSkip
}

// Lost counts what a client dropped before sending.
type Lost struct{ Stats, Events int }

// Activity reports whether the record keeps its conference alive (docs/protocol.md,
// section 10): what a fabric does is activity, what is said about a conference is not.
func (e *Event) Activity() bool {
	return e.Fabric != 0 && (e.Kind == KindStats || e.Kind == KindEvent || e.Kind == KindSkip)
}

// identified reports whether the record's identity is one. A session that is too long to
// keep is none: two could be the same when they are cut.
func (e *Event) identified() bool {
	return len(e.Session) <= maxText && e.Seq <= maxSeq && e.Index >= 0 && e.Index <= maxIndex
}

// rank orders the records of a session: by number, then by index (maxIndex is 10 bits,
// numbers have 53).
func (e *Event) rank() uint64 {
	return e.Seq<<indexBits | uint64(e.Index) // 0 to maxIndex
}

// placeMs is the time that finds the record's conference.
func (e *Event) placeMs() int64 {
	if e.Activity() {
		return e.AtMs
	}
	return e.ConferenceAtMs
}

// Stats is one row of a measurement. Counters are increases over the interval.
type Stats struct {
	StatsType  string // inbound-rtp, outbound-rtp, candidate-pair
	MediaType  string
	SSRC       int64
	Codec      string
	IntervalMs float64

	Bytes, Packets, PacketsLost, Discarded, Retransmitted float64
	Samples, ConcealedSamples, SilentConcealed            float64
	Freezes, FreezeMs, BytesReceived                      float64
	RemoteLost, RemoteLossFraction, RemoteJitterMs, RTTMs Value
	JitterMs, FPS, MOS                                    Value
	Label                                                 string // of MOS, as it was stamped
	LossUntold                                            bool   // nobody counted PacketsLost: 0 is not none

	// What detectors and causes look at beside it.
	PacketsSeen, ConcealmentEvents, AudioLevel, JitterBufferMs Value // PacketsSeen is Packets where it was told
	Frames, FramesDecoded, FramesDropped, Width, Height, QP    Value
	PLIs, FIRs, NACKs, PauseMs, EncodeMs, DecodeMs             Value
	CPULimitedMs, BandwidthLimitedMs                           Value
	TargetBitrateBps, AvailableOutgoingBps                     Value
	Limitation                                                 string // none, cpu, bandwidth, other
	Rid                                                        string // of a simulcast layer

	LeftOut int // values that Unlikely cleared
}

// Data is what the fold needs of an event's data (docs/protocol.md, section 6).
type Data struct {
	AlreadyConnected    bool
	SetupMs             Value
	GatheringMs         Value
	ConnectivityMs      Value
	FailureMs           Value
	DurationMs          Value
	LocalCandidateType  string
	RemoteCandidateType string
	RelayProtocol       string
	LocalAddress        string   // of the selected pair, cut by the receiver
	LocalAddresses      []string // of all local candidates, cut by the receiver
	Stage               string
	Reason              string
	MeasurementFollows  bool // after a fabricTerminated, with its time
	SSRC                int64
	UserID              string
	Alias               string
	UserIDType          string
	UsageLabel          string
	SignalDBm           Value  // of wifiStats
	Devices             uint64 // of activeDeviceList: a hash of which, whatever their order; 0: none told
}

// maxText bounds every text of an event's data that is kept; userIDs may be longer.
const (
	maxText   = 64
	maxUserID = userid.MaxBytes
)

// eventsWithData are those whose data ParseData reads.
var eventsWithData = map[string]bool{
	"fabricAdded": true, "fabricSetup": true, "fabricSetupFailed": true, "fabricTerminated": true,
	"iceDisruptionEnd": true, "selectedCandidatePairChange": true,
	"associateMstWithUserID": true, "userIDChange": true, "wifiStats": true, "activeDeviceList": true,
}

// ParseData reads the data of an event of that name. It returns nil when the fold needs
// nothing of it, or when it is not what the protocol says: then the event still counts.
func ParseData(name string, data []byte) *Data {
	if !eventsWithData[name] || len(data) == 0 {
		return nil
	}
	var raw rawData
	if json.Unmarshal(data, &raw) != nil {
		return nil
	}
	d := &Data{
		AlreadyConnected:    raw.AlreadyConnected,
		SetupMs:             duration(raw.SetupMs),
		GatheringMs:         duration(raw.GatheringMs),
		ConnectivityMs:      duration(raw.ConnectivityMs),
		FailureMs:           duration(raw.FailureMs),
		DurationMs:          duration(raw.DurationMs),
		LocalCandidateType:  clip(raw.LocalCandidateType, maxText),
		RemoteCandidateType: clip(raw.RemoteCandidateType, maxText),
		RelayProtocol:       clip(raw.RelayProtocol, maxText),
		LocalAddresses:      texts(raw.LocalAddresses),
		Stage:               clip(raw.Stage, maxText),
		Reason:              clip(raw.Reason, maxText),
		MeasurementFollows:  raw.MeasurementFollows,
		UserIDType:          clip(raw.UserIDType, maxText),
		UsageLabel:          clip(raw.UsageLabel, maxText),
	}
	if text, ok := raw.LocalAddress.(string); ok {
		d.LocalAddress = clip(text, maxText)
	}
	d.SignalDBm, d.Devices = raw.signal(), raw.devices()
	d.SSRC, _ = raw.SSRC.Int64() // 0 where it is no number: then it names no stream
	user := raw.UserID
	if name == "userIDChange" {
		user = raw.NewUserID
	}
	named, _ := userid.Parse(user)
	d.UserID, d.Alias = named.Name, named.Alias
	return d
}

type rawData struct {
	AlreadyConnected    bool            `json:"alreadyConnected"`
	SetupMs             *float64        `json:"setupMs"`
	GatheringMs         *float64        `json:"gatheringMs"`
	ConnectivityMs      *float64        `json:"connectivityMs"`
	FailureMs           *float64        `json:"failureMs"`
	DurationMs          *float64        `json:"durationMs"`
	LocalCandidateType  string          `json:"localCandidateType"`
	RemoteCandidateType string          `json:"remoteCandidateType"`
	RelayProtocol       string          `json:"relayProtocol"`
	LocalAddress        any             `json:"localAddress"`
	LocalAddresses      any             `json:"localAddresses"`
	Stage               string          `json:"stage"`
	Reason              string          `json:"reason"`
	MeasurementFollows  bool            `json:"measurementFollows"`
	SSRC                json.Number     `json:"ssrc"` // a number or a decimal string
	UserID              json.RawMessage `json:"userID"`
	NewUserID           json.RawMessage `json:"newUserID"`
	UserIDType          string          `json:"userIDType"`
	UsageLabel          string          `json:"usageLabel"`
	RSSI                json.Number     `json:"rssi"`
	Signal              json.Number     `json:"signal"`
	DeviceList          []device        `json:"deviceList"`
}

type device struct {
	ID    string `json:"deviceId"`
	Kind  string `json:"kind"`
	Label string `json:"label"`
}

// minDBm is below what any radio hears; a signal of 0 or more is none in dBm.
const minDBm = -200

// signal is the Wi-Fi signal in dBm, from whichever of its two members can be one.
func (r *rawData) signal() Value {
	for _, n := range [...]json.Number{r.RSSI, r.Signal} {
		if v, err := n.Float64(); err == nil && v < 0 && v >= minDBm {
			return Known(v)
		}
	}
	return Value{}
}

func (r *rawData) devices() (sum uint64) {
	for _, d := range r.DeviceList {
		h := fnv.New64a()
		_, _ = h.Write([]byte(d.Kind + "\x00" + cmp.Or(d.ID, d.Label))) // cannot fail
		sum += h.Sum64()
	}
	return sum
}

// devices tells which devices an activeDeviceList names.
func (e *Event) devices() uint64 {
	if e.Kind != KindEvent || e.Data == nil {
		return 0
	}
	return e.Data.Devices
}

// maxTexts bounds a list of texts.
const maxTexts = 16

// texts returns the texts of a list.
func texts(list any) (out []string) {
	all, _ := list.([]any)
	for _, one := range all {
		if text, ok := one.(string); ok && len(out) < maxTexts {
			out = append(out, clip(text, maxText))
		}
	}
	return out
}

// maxDurationMs bounds a duration that a client claims: a day.
const maxDurationMs = 86_400_000

func duration(v *float64) Value {
	if v == nil || *v < 0 || *v > maxDurationMs {
		return Value{}
	}
	return Known(*v)
}

// clip returns a copy of s, cut to n bytes at a rune's edge, that keeps no larger buffer
// alive.
func clip(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return strings.Clone(s)
}
