package cause

// Cause is one of a closed list.
type Cause string

// The causes. Where a cause lies is in Finding.Session (and Finding.Peer).
const (
	SenderUplink         Cause = "senderUplink"         // the network between a sender and all others
	ReceiverDownlink     Cause = "receiverDownlink"     // the network between all others and a receiver
	PathOrTURN           Cause = "pathOrTurn"           // the network or the relay between two, neither's access alone for all that is known
	MediaServer          Cause = "mediaServer"          // the server in the middle, or its network
	SendingMachineCPU    Cause = "sendingMachineCpu"    // too little processor to encode
	SendingCapture       Cause = "sendingCapture"       // camera or microphone give too little, or nothing
	ReceivingMachine     Cause = "receivingMachine"     // too little processor to decode and play
	Application          Cause = "application"          // it did not send what it should, or failed before the network was asked
	PermissionsOrDevices Cause = "permissionsOrDevices" // no permission, or no device
	Signalling           Cause = "signalling"           // offer and answer did not meet
	ICEConnectivity      Cause = "iceConnectivity"      // no way between the two, or it went away
	None                 Cause = "none"                 // nothing was wrong
	Unknown              Cause = "unknown"              // something was, and nothing here tells what
)

// Causes lists them in the order in which equal evidence is preferred: what was reported
// comes before what was measured, and what explains other symptoms before those.
var Causes = []Cause{
	PermissionsOrDevices, Application, Signalling, ICEConnectivity, SendingMachineCPU, ReceivingMachine,
	SendingCapture, MediaServer, SenderUplink, ReceiverDownlink, PathOrTURN, Unknown, None,
}

// sure is the confidence below which a finding is no answer.
const sure = 0.5

// Evidence is one thing that was seen. Text holds no names: sessions say who.
type Evidence struct {
	Metric       string  `json:"metric"`
	Session      string  `json:"session"`      // who measured it; empty: the conference as a whole
	MediaType    string  `json:"mediaType"`    // audio, video, or empty
	Value        float64 `json:"value"`        // in the unit that the metric's name ends with; shares and fractions 0 to 1
	ComparedWith float64 `json:"comparedWith"` // the threshold, or what was seen elsewhere
	Text         string  `json:"text"`
}

// Other is a cause that was weighed and found less likely.
type Other struct {
	Cause      Cause   `json:"cause"`
	Session    string  `json:"session"`
	Confidence float64 `json:"confidence"`
}

// Finding is a cause with where it lies and what speaks for it.
type Finding struct {
	Cause      Cause      `json:"cause"`
	Session    string     `json:"session"` // the participant at whose end it lies; the sender's of a path; empty: nobody's
	Peer       string     `json:"peer"`    // the other end of a path, else empty
	MediaType  string     `json:"mediaType"`
	Confidence float64    `json:"confidence"` // 0 to 1
	Evidence   []Evidence `json:"evidence"`
	Others     []Other    `json:"others"`

	affects []string // sessions that have to do with it
	legs    int      // how much it explains
}

// Verdict is the likely cause of a call, and of each participant by session.
type Verdict struct {
	Call   Finding
	People map[string]Finding
}
