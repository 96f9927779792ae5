package event

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// Data holds the members of an event's data that the fold needs (docs/protocol.md, section 6).
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
	NetworkType         string   // of the local candidate, where the browser reports it: wifi, ethernet, cellular, vpn, …
	LocalAddress        string   // of the selected pair, cut by the receiver
	LocalAddresses      []string // of all local candidates, cut by the receiver
	Stage               string
	LocalCandidates     Value // of fabricSetupFailed: number of gathered candidates
	Reason              string
	MeasurementFollows  bool   // of fabricTerminated: a last measurement follows, with the same time
	MaxFramerate        Value  // of limitsChange: frames per second
	MaxBitrate          Value  // of limitsChange: bit/s
	Playout             string // of playoutChange: playing, none or refused
	SSRC                int64
	StatsType           string // of streamAdded
	MediaType           string
	TrackState          string // readyState of the sent track: live, ended, or empty
	UserID              string
	Alias               string
	UserIDType          string // of userIDChange: Naming.Of
	UsageLabel          string
	SignalDBm           Value    // of wifiStats
	Devices             Devices  // of activeDeviceList
	DeviceModels        []string // of activeDeviceList, see deviceModels
}

// MaxText bounds the texts in Data, bytes; userIDs may be longer.
const MaxText = 64

// eventsWithData are the events whose data ParseData parses.
var eventsWithData = map[string]bool{
	"fabricAdded": true, "fabricSetup": true, "fabricSetupFailed": true, "fabricTerminated": true,
	"iceDisruptionEnd": true, "selectedCandidatePairChange": true, "streamAdded": true,
	"associateMstWithUserID": true, "userIDChange": true, "wifiStats": true, "activeDeviceList": true,
	"audioMute": true, "audioUnmute": true, "videoPause": true, "videoResume": true,
	"limitsChange": true, "playoutChange": true,
}

// ParseData parses the data of an event with that name. It returns nil if the fold does not need
// them, or if they violate the protocol; then the event still counts.
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
		SetupMs:             durationOf(raw.SetupMs),
		GatheringMs:         durationOf(raw.GatheringMs),
		ConnectivityMs:      durationOf(raw.ConnectivityMs),
		FailureMs:           durationOf(raw.FailureMs),
		DurationMs:          durationOf(raw.DurationMs),
		LocalCandidateType:  Clip(raw.LocalCandidateType, MaxText),
		RemoteCandidateType: Clip(raw.RemoteCandidateType, MaxText),
		RelayProtocol:       Clip(raw.RelayProtocol, MaxText),
		NetworkType:         Clip(raw.NetworkType, MaxText),
		LocalAddresses:      textsOf(raw.LocalAddresses),
		Stage:               Clip(raw.Stage, MaxText),
		LocalCandidates:     durationOf(raw.LocalCandidates),
		Reason:              Clip(raw.Reason, MaxText),
		MeasurementFollows:  raw.MeasurementFollows,
		MaxFramerate:        durationOf(raw.MaxFramerate),
		MaxBitrate:          durationOf(raw.MaxBitrate),
		Playout:             Clip(raw.Playout, MaxText),
		UsageLabel:          Clip(raw.UsageLabel, MaxText),
		StatsType:           Clip(raw.StatsType, MaxText),
		MediaType:           Clip(raw.MediaType, MaxText),
		TrackState:          Clip(raw.TrackState, MaxText),
	}
	if text, ok := raw.LocalAddress.(string); ok {
		d.LocalAddress = Clip(text, MaxText)
	}
	d.SignalDBm, d.Devices, d.DeviceModels = raw.signal(), raw.devices(), raw.deviceModels()
	d.SSRC, _ = raw.SSRC.Int64() // 0, no stream, where it is no number
	named := Names(name, data)
	d.UserIDType, d.UserID, d.Alias = named.Of, named.User.Name, named.User.Alias
	return d
}

type rawData struct {
	AlreadyConnected    bool        `json:"alreadyConnected"`
	SetupMs             *float64    `json:"setupMs"`
	GatheringMs         *float64    `json:"gatheringMs"`
	ConnectivityMs      *float64    `json:"connectivityMs"`
	FailureMs           *float64    `json:"failureMs"`
	DurationMs          *float64    `json:"durationMs"`
	LocalCandidateType  string      `json:"localCandidateType"`
	RemoteCandidateType string      `json:"remoteCandidateType"`
	RelayProtocol       string      `json:"relayProtocol"`
	NetworkType         string      `json:"networkType"`
	LocalAddress        any         `json:"localAddress"`
	LocalAddresses      any         `json:"localAddresses"`
	Stage               string      `json:"stage"`
	MaxFramerate        *float64    `json:"maxFramerate"`
	MaxBitrate          *float64    `json:"maxBitrate"`
	LocalCandidates     *float64    `json:"localCandidates"`
	Reason              string      `json:"reason"`
	MeasurementFollows  bool        `json:"measurementFollows"`
	SSRC                json.Number `json:"ssrc"` // a number or a decimal string
	Playout             string      `json:"playout"`
	StatsType           string      `json:"statsType"`
	MediaType           string      `json:"mediaType"`
	TrackState          string      `json:"trackState"`
	UsageLabel          string      `json:"usageLabel"`
	RSSI                json.Number `json:"rssi"`
	Signal              json.Number `json:"signal"`
	DeviceList          []device    `json:"deviceList"`
}

type device struct {
	ID    string `json:"deviceId"`
	Kind  string `json:"kind"`
	Label string `json:"label"`
}

// minDBm is below the sensitivity of any radio; a value of 0 or more is not in dBm.
const minDBm = -200

// signal returns the Wi-Fi signal in dBm: the first of its two members that is in range.
func (r *rawData) signal() Value {
	for _, n := range [...]json.Number{r.RSSI, r.Signal} {
		if v, err := n.Float64(); err == nil && v < 0 && v >= minDBm {
			return Known(v)
		}
	}
	return Value{}
}

// Devices holds a hash of the devices of each kind, which does not depend on their order; 0 where a kind has none. The first
// element is for unknown kinds, the others are for deviceKinds.
type Devices [4]uint64

// deviceKinds are the other kinds of Devices (W3C mediacapture-streams, MediaDeviceKind).
var deviceKinds = [...]string{"audioinput", "audiooutput", "videoinput"}

// Replaces reports whether a kind that had devices in before has others in d, or none. A first device replaces none.
func (d Devices) Replaces(before Devices) bool {
	for i, sum := range before {
		if sum != 0 && sum != d[i] {
			return true
		}
	}
	return false
}

func (r *rawData) devices() (all Devices) {
	for _, d := range r.DeviceList {
		h := fnv.New64a()
		_, _ = h.Write([]byte(d.Kind + "\x00" + cmp.Or(d.ID, d.Label))) // cannot fail
		all[1+slices.Index(deviceKinds[:], d.Kind)] += h.Sum64()
	}
	return all
}

// usbID is the vendor and product that Chromium appends to the label of a USB device.
var usbID = regexp.MustCompile(`^(?:Default - |Communications - )?(.{1,100}) (\([0-9a-f]{4}:[0-9a-f]{4}\))$`)

// deviceModels returns the models of devices, each once. It omits labels without a USB ID, which may be a name that a
// user chose ("Headset of Ada").
func (r *rawData) deviceModels() (out []string) {
	for _, d := range r.DeviceList {
		if m := usbID.FindStringSubmatch(d.Label); m != nil && len(out) < maxTexts {
			if model := m[1] + " " + m[2]; !slices.Contains(out, model) {
				out = append(out, model)
			}
		}
	}
	return out
}

// maxTexts bounds a list of texts.
const maxTexts = 16

// textsOf returns at most maxTexts strings of a list.
func textsOf(list any) (out []string) {
	all, _ := list.([]any)
	for _, one := range all {
		if text, ok := one.(string); ok && len(out) < maxTexts {
			out = append(out, Clip(text, MaxText))
		}
	}
	return out
}

// maxDurationMs bounds the duration that a client reports: a day.
const maxDurationMs = 86_400_000

func durationOf(v *float64) Value {
	if v == nil || *v < 0 || *v > maxDurationMs {
		return Value{}
	}
	return Known(*v)
}

// Clip returns a copy of s, truncated to n bytes at a rune's boundary. The copy keeps no larger
// buffer in memory.
func Clip(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return strings.Clone(s)
}
