package cause

import "github.com/qosrtc/qos/internal/call/event"

// Call holds the measurements of a conference, summed up at its end. The order of People does not
// change the verdict. Fabrics and streams MUST be in the order of their numbers and keys: of two
// with the same evidence the verdict lists the first.
type Call struct {
	People []Person
	Errors map[string]int // reported failures that name no participant, by function

	Good bool // no issue, and every participant's score is good or better: no cause is inferred from the media
}

// Person is one participant: one session.
type Person struct {
	Session  string
	Users    []string // the IDs that the user had
	Bad      bool     // the score is below fair, or media were faulty
	Errors   map[string]int
	WeakWiFi float64 // share of the time in which the signal was reported
	Measured int     // measurements of the participant's connections
	OffBeat  int     // those whose interval differs by more than OffBeatMs from whole seconds
	Fabrics  []Fabric
}

// Fabric is one PeerConnection of a participant.
type Fabric struct {
	Remote       []string // the remote user's IDs
	Server       bool     // a media server is at the other end
	Media        bool     // it carries audio or video, or was added for it
	Sends        bool     // its direction includes sending
	Connected    bool
	Described    bool // had a remote description
	Failed       bool // reported a failure before it was connected
	Stage        string
	Candidates   event.Value // number of local candidates, of a set-up that failed
	LifeMs       float64
	Broken       bool               // ended while ICE was disrupted
	BrokenMs     float64            // time in which ICE was disrupted and media were missing; to the end where it did not recover
	FlowedMs     float64            // time in which ICE was disrupted while media were received, until it recovered
	SilentMs     float64            // from the last received packet to the end
	CutAtMs      int64              // beginning of the disruption that lasted to the end
	ClosedMs     int64              // when its end was reported; 0: it was not reported
	Relay        string             // of the local candidate: udp, tcp, tls, or empty
	RTTMs        event.Value        // mean
	SlowMs       float64            // time with a round trip over DelayMs
	RTTSeenMs    float64            // time in which the round trip was known
	EndedTrackMs map[string]float64 // by media type: time in which an ended track sent nothing, without a mute, pause or hold
	Streams      []Stream
}

// Stream is one direction of one medium. Times are sums of the intervals in which a condition
// held, ms. They include a mute, pause or hold unless the comment of the field excludes them.
type Stream struct {
	SSRC  int64
	Sends bool
	Media string // audio or video
	User  string // the sender, behind a server; empty: unknown

	TimeMs  float64
	Packets float64
	LostMs  float64     // loss over LossFraction
	SeenMs  float64     // time in which the loss was known
	GapMs   float64     // of received audio: sent packets were missing and not counted as lost
	Loss    event.Value // fraction, over the call
	JitteryMs,
	WaitingMs, // the jitter buffer of audio held more than BufferMs
	GrownMs, // more than GrownBufferMs
	HeldMs, // more than CalmBufferMs
	WaitingWarmUpMs, // the part of WaitingMs within the warm-up of the stream
	LimitedWarmUpMs, // the part of LimitedMs within the warm-up of the stream
	SlowMs,
	LimitedMs, // qualityLimitationReason bandwidth
	CPUMs, // qualityLimitationReason cpu
	LimitSeenMs, // the qualityLimitationReason was known
	StuckMs, // frames were received and not decoded
	ChoppyMs, // samples were concealed without packet loss
	ConcealedMs, // samples were concealed, with or without packet loss
	BusyMs float64 // coding took WorkShare of the time
	Jitter, RTT, FPS event.Value // means

	RefusedMs float64 // of received audio: all elements of the page with its track were paused, and not muted
	NoneMs    float64 // no packet was sent or received, without a mute, pause or hold
	UnseenMs  float64 // of received video: NoneMs in which the page showed an element for it
	WeakMs    float64 // silence, or less than WeakFPS, without a mute, pause or hold
	QuietMs   float64 // either, also during a mute, pause or hold
	FrozenMs  float64 // a moving picture froze to the end, or alternated with blank ones, without a pause or hold
}

// The thresholds of the conditions in Stream and Fabric: those between the labels "fair" and "poor".
const (
	LossFraction    = 0.03
	JitterMs        = 30  // of video
	SoundJitterMs   = 15  // of audio: packets of 20 ms in bursts have some 20 ms of jitter, whatever the length of the bursts
	BufferMs        = 200 // mean time in the jitter buffer of audio
	GrownBufferMs   = 120 // the same, where another buffer holds less than CalmBufferMs
	CalmBufferMs    = 60
	DelayMs         = 300
	StuckFraction   = 0.7    // decoded frames as a share of the received ones
	ChoppyFraction  = 0.03   // concealed samples as a share of all
	ChoppyLoss      = 0.01   // loss fraction below which concealment is choppy
	WorkShare       = 0.75   // share of the time that is spent on coding one stream
	SlowWorkShare   = 0.45   // the same, with fewer than SmoothFPS frames/s
	SmoothFPS       = 15     // of the slowest usual cameras
	SilentLevel     = 0.0001 // audioLevel of a microphone without any sound
	WeakFPS         = 5
	LittleBandwidth = 300e3 // bit/s, of an encoder that reports little bandwidth
	NoBandwidth     = 60e3  // bit/s, too little for any video
)

// A page measures at whole seconds, in the background too, where the browser slows timers down.
// On a machine without processor time the timers are late.
const (
	BeatMs    = 1000
	OffBeatMs = 100 // largest difference of an even interval from whole seconds
)

// MinTimeMs is the least measured time of a stream that is evidence.
const MinTimeMs = 6000

// Shares of time.
const (
	badShare  = 0.25 // at least: a fault
	goodShare = 0.12 // at most: no fault
)

func share(part, whole float64) float64 {
	v := part / whole
	if !(whole > 0) || v != v { // NaN
		return 0
	}
	return min(1, max(0, v))
}
