package cause

import "github.com/qosrtc/qos/internal/event"

// Call is the measurements of a conference, summed up at its end. People may be in any order: the
// verdict does not depend on it. Fabrics and streams are in the order of their numbers and keys:
// of two with the same evidence the verdict has that of the first.
type Call struct {
	People []Person
	Errors map[string]int // reported failures that name no participant, by function

	Good bool // no issue, and every participant's score is good or better: no cause follows from what the media were like
}

// Person is one participant: one session.
type Person struct {
	Session  string
	Users    []string // the IDs that the user had
	Bad      bool     // the score is below fair, or media were faulty
	Errors   map[string]int
	WeakWiFi float64 // share of the time in which the signal was reported
	Measured int     // measurements of the participant's connections
	OffBeat  int     // of these, whose interval is further than OffBeatMs from whole seconds
	Fabrics  []Fabric
}

// Fabric is one PeerConnection of a participant.
type Fabric struct {
	Remote       []string // the remote user's IDs
	Server       bool     // a media server is at the other end
	Media        bool     // it carries audio or video, or was added to do so
	Sends        bool     // its direction includes sending
	Connected    bool
	Described    bool // had a remote description
	Failed       bool // reported a failure before it was connected
	Stage        string
	Candidates   event.Value // local ones, of a set-up that failed
	LifeMs       float64
	Broken       bool               // ended while ICE was disrupted
	BrokenMs     float64            // how long ICE was disrupted and media were missing; to the end where it did not recover
	FlowedMs     float64            // how long ICE was disrupted while media were received, until it recovered
	SilentMs     float64            // from the last received packet to the end
	CutAtMs      int64              // when the disruption began that lasted to the end
	ClosedMs     int64              // when its end was reported; 0: it was not
	Relay        string             // of the local candidate: udp, tcp, tls, or empty
	RTTMs        event.Value        // mean
	SlowMs       float64            // time with a round trip over DelayMs
	RTTSeenMs    float64            // time in which the round trip was known
	EndedTrackMs map[string]float64 // by media type: time in which nothing was sent because the track had ended before, without a mute, pause or hold
	Streams      []Stream
}

// Stream is one direction of one medium. Times are sums of the intervals in which a condition
// held, in ms. Fields that say so leave out the time of a mute, a pause or a hold.
type Stream struct {
	SSRC  int64
	Sends bool
	Media string // audio or video
	User  string // the user who sends it, behind a server; empty: unknown

	TimeMs  float64
	Packets float64
	LostMs  float64     // loss over LossFraction
	SeenMs  float64     // time in which the loss was known
	GapMs   float64     // of received audio: a part was missing that the sender sent, and no packet counted as lost
	Loss    event.Value // fraction, over the call
	JitteryMs,
	WaitingMs, // the jitter buffer of audio held more than BufferMs
	GrownMs, // more than GrownBufferMs
	HeldMs, // more than CalmBufferMs
	WaitingWarmUpMs, // of WaitingMs and LimitedMs: over when the stream had warmed up
	LimitedWarmUpMs,
	SlowMs,
	LimitedMs, // qualityLimitationReason bandwidth
	CPUMs, // qualityLimitationReason cpu
	LimitSeenMs, // there was a qualityLimitationReason
	StuckMs, // frames were received and not decoded
	ChoppyMs, // samples were concealed without packet loss
	ConcealedMs, // samples were concealed, with or without
	BusyMs float64 // coding took WorkShare of the time
	Jitter, RTT, FPS event.Value // means

	RefusedMs float64 // of received audio: all elements of the page with its track were paused, and not muted
	NoneMs    float64 // no packet was sent or received, without a mute, pause or hold
	UnseenMs  float64 // of received pictures: NoneMs in which they had a place on the page
	WeakMs    float64 // silence, or less than WeakFPS, without a mute, pause or hold
	QuietMs   float64 // either, also during a mute, pause or hold
	FrozenMs  float64 // a picture that had changed did not change to the end, or was blank in turns with others, without a pause or hold
}

// The thresholds of the intervals that are counted; those of the labels "fair" to "poor".
const (
	LossFraction    = 0.03
	JitterMs        = 30  // of pictures
	SoundJitterMs   = 15  // packets of 20 ms that arrive in bursts measure some 20, however long the bursts are
	BufferMs        = 200 // mean time in the jitter buffer of audio
	GrownBufferMs   = 120 // the same, beside a calm one
	CalmBufferMs    = 60
	DelayMs         = 300
	StuckFraction   = 0.7    // of the received frames, fewer were decoded
	ChoppyFraction  = 0.03   // of the samples, concealed
	ChoppyLoss      = 0.01   // with less loss than this
	WorkShare       = 0.75   // of the time, spent on coding one stream
	SlowWorkShare   = 0.45   // likewise, with fewer than SmoothFPS frames/s
	SmoothFPS       = 15     // of the slowest usual cameras
	SilentLevel     = 0.0001 // audioLevel of a microphone without any sound
	WeakFPS         = 5
	LittleBandwidth = 300e3 // bit/s, of an encoder that reports little bandwidth
	NoBandwidth     = 60e3  // bit/s, too little for any video
)

// A page measures at whole seconds, and so does a page in the background, whose timers the browser
// slows down. On a machine without processor time the timers are late.
const (
	BeatMs    = 1000
	OffBeatMs = 100 // how far from whole seconds an interval may be
)

// MinTimeMs is how long a stream must have been measured to be evidence.
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
