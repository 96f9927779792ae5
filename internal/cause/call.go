package cause

import "github.com/qosrtc/qos/internal/event"

// Call is what is known of a conference at its end. People may be in any order: the verdict
// does not depend on it. Fabrics and streams are in that of their numbers and keys: of two
// that tell the same, the evidence of the first is told.
type Call struct {
	People []Person
	Errors map[string]int // reported failures that name no participant, by function
}

// Person is one participant: one session.
type Person struct {
	Session  string
	Users    []string // the IDs that the user had
	Bad      bool     // the score is below fair
	Errors   map[string]int
	WeakWiFi float64 // share of the time, of that in which the signal was told
	Measured int     // measurements of the participant's connections
	OffBeat  int     // of these, that came neither a whole second after the one before, nor nearly so
	Fabrics  []Fabric
}

// Fabric is one PeerConnection of a participant.
type Fabric struct {
	Remote    []string // the remote user's IDs
	Server    bool     // a media server is at the other end
	Media     bool     // it is there for sound or picture
	Sends     bool     // as the application said: it is there to send
	Connected bool
	Described bool // had a remote description
	Failed    bool // said so itself before it was connected
	Stage     string
	LifeMs    float64
	Broken    bool        // ended while ICE was disrupted
	BrokenMs  float64     // how long ICE was disrupted, to the end where it did not come back
	SilentMs  float64     // how long before the end nothing came any more
	StepMs    float64     // of its measurements; 0: there were none
	CutAtMs   int64       // since when ICE was disrupted as it ended
	ClosedMs  int64       // when the application closed it; 0: it did not
	Relay     string      // of the local candidate: udp, tcp, tls, or empty
	RTTMs     event.Value // mean
	SlowMs    float64     // time with a round trip over DelayMs
	RTTSeenMs float64     // time in which the round trip was known
	Streams   []Stream
}

// Stream is one direction of one medium. Times are sums of the intervals in which something
// held, ms; what was excused by a mute, a pause or a hold is left out where it says so.
type Stream struct {
	SSRC  int64
	Sends bool
	Media string // audio or video
	User  string // whose it is, behind a server; empty: not known

	TimeMs  float64
	Packets float64
	LostMs  float64     // loss over LossFraction
	SeenMs  float64     // time in which the loss was known
	Loss    event.Value // fraction, over the call
	JitteryMs,
	SlowMs,
	LimitedMs, // little bandwidth, says the sender's encoder
	CPUMs, // too little processor, says the sender's encoder
	LimitSeenMs, // the sender's encoder says whether it is held back
	StuckMs, // frames came and were not shown
	ChoppyMs, // sound was made up though nothing was lost
	BusyMs float64 // coding took WorkShare of the time
	Jitter, RTT, FPS event.Value // means

	NoneMs  float64 // nothing was sent or came, and nothing excused it
	WeakMs  float64 // silence, or hardly a picture a second, and nothing excused it
	QuietMs float64 // either, excused or not
}

// The thresholds of the intervals that are counted; those of the labels "fair" to "poor".
const (
	LossFraction    = 0.03
	JitterMs        = 30 // of pictures
	SoundJitterMs   = 15 // packets of 20 ms that come in bursts measure some 20, however long the bursts are
	DelayMs         = 300
	StuckFraction   = 0.7    // of the frames that came, fewer were shown
	ChoppyFraction  = 0.03   // of the samples, made up
	ChoppyLoss      = 0.01   // with less loss than this
	WorkShare       = 0.75   // of the time there is, spent on coding one stream
	SlowWorkShare   = 0.45   // likewise, where fewer than SmoothFPS pictures come of it
	SmoothFPS       = 15     // what the slowest of usual cameras give
	SilentLevel     = 0.0001 // below it a microphone hears nothing at all
	WeakFPS         = 5
	LittleBandwidth = 300e3 // bit/s, of an encoder that says that it has little
	NoBandwidth     = 60e3  // bit/s, that a picture cannot do with, whatever the encoder says
)

// A page's timer beats in whole seconds, and so does one that a browser slows down because
// nobody looks. A machine without time misses the beat.
const (
	BeatMs    = 1000
	OffBeatMs = 100 // further from the beat than this is off it
)

// MinTimeMs is how long a stream has to have been measured to tell anything.
const MinTimeMs = 6000

// Shares of time.
const (
	badShare  = 0.25 // from it on something is wrong
	goodShare = 0.12 // below it nothing is
)

func share(part, whole float64) float64 {
	v := part / whole
	if !(whole > 0) || v != v { // NaN
		return 0
	}
	return min(1, max(0, v))
}
