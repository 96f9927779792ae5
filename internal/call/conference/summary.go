package conference

import (
	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
)

// Outcome is the outcome of a conference: exactly one of the constants, the first whose rule
// matches (requirement CONF-05).
type Outcome string

// The outcomes, in the order of their rules.
const (
	OutcomeMissed          Outcome = "missed"          // fabrics, none ever got a remote description, no setup failure was reported
	OutcomeTotallyFailed   Outcome = "totallyFailed"   // none connected and something failed; or errors and no fabric
	OutcomeAborted         Outcome = "aborted"         // none connected, all left while connecting
	OutcomeDropped         Outcome = "dropped"         // some connected, every participant was lost without a reported end
	OutcomePartiallyFailed Outcome = "partiallyFailed" // some connected, some fabric never did
	OutcomeSuccess         Outcome = "success"
)

// Outcomes lists their names, in the order of their rules.
var Outcomes = []string{
	string(OutcomeMissed), string(OutcomeTotallyFailed), string(OutcomeAborted),
	string(OutcomeDropped), string(OutcomePartiallyFailed), string(OutcomeSuccess),
}

// End reasons of participants and fabrics that the fold derives. Those of docs/protocol.md
// section 6 (application, closed, pagehide, replaced, terminated) are copied.
const (
	EndSilence   = "silence"   // no record for 30 s
	EndICEFailed = "iceFailed" // the PeerConnection was closed while ICE was disrupted
)

// Summary is one revision of a conference's summary. Its JSON form is the document that the
// store keeps and the dashboard shows. Times are ms since the Unix epoch on the
// server's clock, durations ms, bit rates kbit/s, losses and shares 0 to 1, scores MOS 1
// to 5. A number that is unknown is null, never absent; a list is never null.
type Summary struct {
	AppID        string  `json:"appID"`        // AppID
	ConferenceID string  `json:"conferenceID"` // conferenceID
	StartMs      int64   `json:"startMs"`      // first activity
	EndMs        int64   `json:"endMs"`        // last activity
	DurationMs   int64   `json:"durationMs"`   // from start to end
	Revision     int     `json:"revision"`     // 1 at the end, more when late data changed it
	Outcome      Outcome `json:"outcome"`      // missed, totallyFailed, aborted, dropped, partiallyFailed or success

	Participants []Participant `json:"participants"` // by start, then session
	Added        int           `json:"-"`            // number of them that are in no earlier revision: the increment of a counter

	Errors           int            `json:"errors"`           // reported errors; application logs are none
	ErrorsByFunction map[string]int `json:"errorsByFunction"` // number of reported errors by the function that failed
	Feedback         Ratings        `json:"feedback"`         // ratings of all participants
	Logs             int            `json:"logs"`             // number of application logs
	SetupMs          []float64      `json:"setupMs"`          // setup delays of the fabrics that connected, ascending

	MOS              *float64          `json:"mos"`              // mean over participants, weighted by their time
	Label            string            `json:"label"`            // excellent, good, fair, poor, bad, or empty
	LikelyCause      cause.Finding     `json:"likelyCause"`      // of the conference's faults
	WorstParticipant *WorstParticipant `json:"worstParticipant"` // the lowest score
	ShareBad         *float64          `json:"shareBad"`         // share of the streams' scored time that was bad

	Statistics *Both `json:"statistics"` // of all streams

	Issues           []Issue        `json:"issues"`           // by kind, worst first within a kind
	IssueCounts      map[string]int `json:"issueCounts"`      // by kind, including those that are not listed
	LostMeasurements int            `json:"lostMeasurements"` // dropped by the clients before sending, and declared
	LostEvents       int            `json:"lostEvents"`       // the same, events
	Truncated        int            `json:"truncated"`        // facts left out because a limit of the collector was reached
	OutOfRange       int            `json:"outOfRange"`       // values of measurements that are out of range and left out; their records name them
	TwoKinds         int            `json:"twoKinds"`         // SSRCs that carried audio and video in turn: each kind is a stream of its own
}

// Participant is one session in one conference.
type Participant struct {
	Session    string   `json:"session"`    // ID of the session
	UserID     string   `json:"userID"`     // real name, for support roles; the newest after a userIDChange
	Alias      string   `json:"alias"`      // alias, for engineering roles
	UserIDs    []string `json:"userIDs"`    // the first and the newest 16 IDs in the order of their use, when there was more than one
	StartMs    int64    `json:"startMs"`    // first activity, in ms since the Unix epoch
	EndMs      int64    `json:"endMs"`      // last activity, in ms since the Unix epoch
	DurationMs int64    `json:"durationMs"` // from start to end
	EndReason  string   `json:"endReason"`  // of the fabric that ended last; empty without fabrics
	Connected  bool     `json:"connected"`  // some fabric was connected

	Fabrics  []Fabric         `json:"fabrics"`  // by number
	Mutes    []Interval       `json:"mutes"`    // kind audio or video
	Holds    []Interval       `json:"holds"`    // kind hold
	Screen   []Interval       `json:"screen"`   // kind screen: screen sharing
	Errors   int              `json:"errors"`   // errors that the application reported for it
	Feedback []event.Feedback `json:"feedback"` // ratings by this participant

	MOS         *float64 `json:"mos"`         // the worse of mosIn and mosOut
	Label       string   `json:"label"`       // excellent, good, fair, poor, bad, or empty
	MOSIn       *float64 `json:"mosIn"`       // audio and video received, pooled
	MOSOut      *float64 `json:"mosOut"`      // audio and video sent, pooled
	AudioMOSIn  *float64 `json:"audioMOSIn"`  // audio received, MOS 1 to 5
	VideoMOSIn  *float64 `json:"videoMOSIn"`  // video received, MOS 1 to 5
	AudioMOSOut *float64 `json:"audioMOSOut"` // audio sent, MOS 1 to 5
	VideoMOSOut *float64 `json:"videoMOSOut"` // video sent, MOS 1 to 5

	LikelyCause cause.Finding `json:"likelyCause"` // of faults of the sent or received streams
	Statistics  *Both         `json:"statistics"`  // of all streams of the participant

	LostMeasurements int `json:"lostMeasurements"` // dropped by its client before sending, and declared
	LostEvents       int `json:"lostEvents"`       // the same, events

	Client  Client  `json:"-"`
	Machine Machine `json:"-"`
	New     bool    `json:"-"` // in no earlier revision

	connecting bool // may still connect; only in a live conference
}

// The states of a fabric in a summary.
const (
	StateNeverConnected = "neverConnected"
	StateConnected      = "connected" // connected at least once
	StateUnused         = "unused"    // no description was ever set, and another fabric of the participant connected
)

// Fabric is one monitored PeerConnection of a participant.
type Fabric struct {
	Fabric        int      `json:"fabric"`        // its number in the session
	Usage         string   `json:"usage"`         // multiplex, audio, video, screen, data or unbundled, as the application says
	RemoteUserID  string   `json:"remoteUserID"`  // real name of the remote end, for support roles
	RemoteAlias   string   `json:"remoteAlias"`   // alias of the remote end
	RemoteUserIDs []string `json:"remoteUserIDs"` // as Participant.UserIDs, for the remote end
	State         string   `json:"state"`         // neverConnected, connected or unused
	AddedAtMs     int64    `json:"addedAtMs"`     // when it was added, in ms since the Unix epoch
	EndMs         int64    `json:"endMs"`         // its end, in ms since the Unix epoch
	EndReason     string   `json:"endReason"`     // silence, iceFailed, application, closed, pagehide, replaced, terminated

	RemoteDescription bool     `json:"remoteDescription"` // a remote description was in force
	AlreadyConnected  bool     `json:"alreadyConnected"`  // connected before it was added: no setup delay
	SetupMs           *float64 `json:"setupMs"`           // setup delay: from its addition until it was connected; null: it never was, or it was before
	GatheringMs       *float64 `json:"gatheringMs"`       // duration of ICE gathering; null: unknown
	ConnectivityMs    *float64 `json:"connectivityMs"`    // duration of ICE checks until it was connected; null: unknown
	FailureMs         *float64 `json:"failureMs"`         // of the setup
	FailureStage      string   `json:"failureStage"`      // noRemoteDescription, gathering, connectivity or dtls; empty: the setup did not fail
	FailureReason     string   `json:"failureReason"`     // failed, terminated, closed or pagehide; empty: the setup did not fail

	LocalCandidateType  string `json:"localCandidateType"`  // of the selected pair: host, srflx, prflx or relay; empty: unknown
	RemoteCandidateType string `json:"remoteCandidateType"` // of the selected pair: host, srflx, prflx or relay; empty: unknown
	RelayProtocol       string `json:"relayProtocol"`       // to the TURN server: udp, tcp or tls; empty without a relay
	NetworkType         string `json:"networkType"`         // of the local candidate: wifi, ethernet, cellular, vpn, …; empty: unknown

	LocalAddress   string   `json:"localAddress"`   // of the selected pair, cut to /24 or /48 unless it is kept
	LocalAddresses []string `json:"localAddresses"` // of all local candidates, cut alike
	PairChanges    int      `json:"pairChanges"`    // changes of the selected candidate pair

	ICEDisruptions  int     `json:"iceDisruptions"`  // times that an established connection was lost
	ICEDisruptionMs float64 `json:"iceDisruptionMs"` // of those that ended
	ICERestarts     int     `json:"iceRestarts"`     // ICE restarts

	CandidatePair *Stream  `json:"candidatePair"` // statistics of the selected pair, null when none were measured
	Streams       []Stream `json:"streams"`       // by statsType, mediaType, ssrc
	Statistics    *Both    `json:"statistics"`    // of all streams: of this participant and this remote end

	LostMeasurements int `json:"lostMeasurements"` // of this fabric, dropped by the client before sending
	LostEvents       int `json:"lostEvents"`       // of this fabric, dropped by the client before sending
}

// Stream is the statistics of one stream over the fabric's life.
type Stream struct {
	SSRC       int64  `json:"ssrc"`       // of RTP; 0: the candidate pair
	StatsType  string `json:"statsType"`  // inbound-rtp, outbound-rtp; candidate-pair
	MediaType  string `json:"mediaType"`  // audio, video; empty for candidate-pair
	Codec      string `json:"codec"`      // the newest
	UserID     string `json:"userID"`     // of associateMstWithUserID, else empty
	UsageLabel string `json:"usageLabel"` // of associateMstWithUserID, else empty

	Intervals  int   `json:"intervals"`  // number of measurements
	DurationMs int64 `json:"durationMs"` // sum of the intervals

	Bytes         int64    `json:"bytes"`         // bytes received or sent
	Packets       int64    `json:"packets"`       // packets received or sent
	PacketsLost   int64    `json:"packetsLost"`   // inbound: not received here; outbound: as the remote end reports
	LossFraction  *float64 `json:"lossFraction"`  // lost over expected, over the whole call
	Discarded     int64    `json:"discarded"`     // packets too late or too early to be played
	Retransmitted int64    `json:"retransmitted"` // retransmitted packets

	BitrateKbps *Distribution `json:"bitrateKbps"` // bit rate of the intervals, kbit/s
	JitterMs    *Distribution `json:"jitterMs"`    // outbound: at the remote end
	RTTMs       *Distribution `json:"rttMs"`       // round-trip time of the intervals
	FPS         *Distribution `json:"fps"`         // frames per second of the intervals
	MOS         *Distribution `json:"mos"`         // scores of the intervals, MOS 1 to 5

	Freezes        int64    `json:"freezes"`        // number of freezes of the picture
	FreezeMs       float64  `json:"freezeMs"`       // total time that the picture was frozen
	ConcealedShare *float64 `json:"concealedShare"` // audible concealment over all samples

	QualityShare map[string]float64 `json:"qualityShare"` // share of the scored time by label
	Labels       []LabelSpan        `json:"labels"`       // the label over time, with hysteresis; the first 64 spans
	LabelChanges int                `json:"labelChanges"` // number of changes of the label
}

// Distribution sums up the values of a measure over intervals. The mean is weighted by
// the intervals' length; P5, P50 and P95 are within 1 % of a true value, Min and Max exact.
type Distribution struct {
	Mean float64 `json:"mean"` // weighted by the length of the intervals
	Min  float64 `json:"min"`  // lowest value
	P5   float64 `json:"p5"`   // 5th percentile
	P50  float64 `json:"p50"`  // median
	P95  float64 `json:"p95"`  // 95th percentile
	Max  float64 `json:"max"`  // highest value
}

// Interval is the time of a mute, a hold or a screen share. It ends with the fabric at the
// latest.
type Interval struct {
	Kind    string `json:"kind"`    // audio, video, hold, screen
	Fabric  int    `json:"fabric"`  // number of the fabric
	StartMs int64  `json:"startMs"` // in ms since the Unix epoch
	EndMs   int64  `json:"endMs"`   // in ms since the Unix epoch
}

// Ratings sums up the feedback of a conference.
type Ratings struct {
	Count   int      `json:"count"`   // number of ratings
	Overall *float64 `json:"overall"` // mean
	Worst   *int     `json:"worst"`   // lowest overall
}

// WorstParticipant names the participant with the lowest score.
type WorstParticipant struct {
	Session string  `json:"session"` // ID of the session
	UserID  string  `json:"userID"`  // real name, for support roles
	Alias   string  `json:"alias"`   // alias
	MOS     float64 `json:"mos"`     // its score, MOS 1 to 5
}

// Kinds of issues; detect.Kinds lists all.
const (
	IssueHighPacketLoss    = string(detect.HighPacketLoss)
	IssueHighRoundTripTime = string(detect.HighRoundTripTime)
	IssueHighJitter        = string(detect.HighJitter)
	IssueFrozenVideo       = string(detect.FrozenVideo)
	IssueLowQuality        = string(detect.LowQuality)
)

// Directions of a stream in an issue, relative to its participant.
const (
	DirectionInbound  = "inbound"
	DirectionOutbound = "outbound"
)

// Issue is one fault of one stream, fabric or participant, with its evidence and its times
// (docs/quality.md).
type Issue struct {
	Kind      string `json:"kind"`      // what is wrong, such as highPacketLoss
	Session   string `json:"session"`   // session of the participant
	UserID    string `json:"userID"`    // real name of the participant, for support roles
	Alias     string `json:"alias"`     // alias of the participant
	Fabric    int    `json:"fabric"`    // 0 for an issue of the participant
	SSRC      int64  `json:"ssrc"`      // 0 for an issue of no stream
	MediaType string `json:"mediaType"` // audio, video, or empty
	Direction string `json:"direction"` // inbound, outbound, or empty

	Metric    string  `json:"metric"`    // name of the metric, with its unit
	Value     float64 `json:"value"`     // mean of the values past the threshold; of durations and counts the sum
	Worst     float64 `json:"worst"`     // worst value
	Threshold float64 `json:"threshold"` // threshold that the value passed

	Confidence string `json:"confidence"` // high, medium or low: how reliably the metric shows this kind

	Count   int         `json:"count"`   // number of spans
	SinceMs int64       `json:"sinceMs"` // start of the first span
	UntilMs int64       `json:"untilMs"` // end of the last span
	TotalMs int64       `json:"totalMs"` // sum of the spans' lengths
	Open    bool        `json:"open"`    // the last span had not ended
	Spans   []IssueSpan `json:"spans"`   // ascending; the first 20

	SiteID string `json:"-"` // of the participant

	times, points bool // the metric is the duration of the spans, or their number
}

// IssueSpan is one span of an issue. An event has StartMs equal to EndMs.
type IssueSpan struct {
	StartMs int64 `json:"startMs"` // in ms since the Unix epoch
	EndMs   int64 `json:"endMs"`   // in ms since the Unix epoch
}
