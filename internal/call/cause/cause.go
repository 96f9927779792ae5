package cause

// Cause names the cause of a bad call, from a closed list.
type Cause string

// The causes. Finding.Session (and Finding.Peer) identifies the participant at fault.
const (
	SenderUplink         Cause = "senderUplink"         // the network between a sender and all others
	ReceiverDownlink     Cause = "receiverDownlink"     // the network between all others and a receiver
	PathOrTURN           Cause = "pathOrTurn"           // the network or the relay between two participants, or between one and the server
	MediaServer          Cause = "mediaServer"          // the media server, or its network
	SendingMachineCPU    Cause = "sendingMachineCpu"    // too little processor time to encode
	SendingCapture       Cause = "sendingCapture"       // camera or microphone deliver too little, or nothing
	ReceivingMachine     Cause = "receivingMachine"     // too little processor time to decode and play
	Application          Cause = "application"          // it did not send the expected media, or failed before it used the network
	PermissionsOrDevices Cause = "permissionsOrDevices" // no permission, or no device
	Signalling           Cause = "signalling"           // offer and answer were not exchanged
	ICEConnectivity      Cause = "iceConnectivity"      // no candidate pair worked, or it was lost
	None                 Cause = "none"                 // nothing was wrong
	Unknown              Cause = "unknown"              // something was wrong, without evidence for a cause
)

// Causes lists the causes in the order of findings with equal confidence: reported causes before
// measured ones, and a cause before its symptoms.
var Causes = []Cause{
	PermissionsOrDevices, Application, Signalling, ICEConnectivity, SendingMachineCPU, ReceivingMachine,
	SendingCapture, MediaServer, SenderUplink, ReceiverDownlink, PathOrTURN, Unknown, None,
}

// sure is the least confidence of an answer.
const sure = 0.5

// Evidence is one measured value. Text has no names of users: Session identifies the participant.
type Evidence struct {
	Metric       string  `json:"metric"`       // name of the metric, which ends with its unit
	Session      string  `json:"session"`      // who measured it; empty: the conference as a whole
	MediaType    string  `json:"mediaType"`    // audio, video, or empty
	Value        float64 `json:"value"`        // in the unit that the metric's name ends with; shares and fractions 0 to 1
	ComparedWith float64 `json:"comparedWith"` // the threshold, or the value elsewhere
	Text         string  `json:"text"`         // the evidence in a sentence
}

// Other is a less likely cause.
type Other struct {
	Cause      Cause   `json:"cause"`      // a further cause
	Session    string  `json:"session"`    // the participant at whose end it is
	Confidence float64 `json:"confidence"` // 0 to 1
}

// Finding is a cause, the participants at fault, and the evidence for it.
type Finding struct {
	Cause      Cause      `json:"cause"`      // senderUplink, receiverDownlink and so on; none: nothing was wrong; unknown: without evidence for a cause
	Session    string     `json:"session"`    // the participant at whose end the cause is; of a path, the sender; empty: nobody
	Peer       string     `json:"peer"`       // the other end of a path, else empty
	Server     bool       `json:"server"`     // of a path: its other end is the media server, and peer is empty
	MediaType  string     `json:"mediaType"`  // audio, video, or empty for both
	Confidence float64    `json:"confidence"` // 0 to 1
	Evidence   []Evidence `json:"evidence"`   // measurements that support it
	Others     []Other    `json:"others"`     // further causes that fit, with less confidence

	affects []string // sessions of the participants it affects
	legs    int      // number of media paths that it explains
}

// Verdict is the likely cause of a call, and of each participant by session.
type Verdict struct {
	Call   Finding
	People map[string]Finding
}

// withinPart is the factor of the confidence of a cause that explains only a part of the call.
const withinPart = 0.9

// Within returns the verdict with the causes of part where the whole call has none. part is the verdict
// over the measurements from fromMs to toMs, ms since the Unix epoch.
func (v Verdict) Within(part Verdict, fromMs, toMs int64) Verdict {
	merged := Verdict{Call: v.Call.within(part.Call, fromMs, toMs), People: make(map[string]Finding, len(v.People))}
	for session, f := range v.People {
		merged.People[session] = f.within(part.People[session], fromMs, toMs)
	}
	return merged
}

func (f Finding) within(part Finding, fromMs, toMs int64) Finding {
	known := part.Cause != "" && part.Cause != None && part.Cause != Unknown
	if f.Cause != Unknown || !known || part.Confidence*withinPart < sure {
		return f
	}
	part.Confidence = round(part.Confidence * withinPart)
	part.Evidence = append([]Evidence{{
		Metric: "faultMs", Session: part.Session, Value: round(float64(toMs - fromMs)),
		Text: "the fault lasted for a part of the call; shares of time are of that part",
	}}, part.Evidence[:min(len(part.Evidence), maxEvidence-1)]...)
	return part
}
