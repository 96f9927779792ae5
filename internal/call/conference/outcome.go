package conference

import "slices"

// evidence holds the inputs of the outcome rules (requirement CONF-05), and sums over all
// participants.
type evidence struct {
	fabrics, connected, described int  // described: had a remote description
	failed                        bool // an ICE failure before a connection
	errors                        int  // reported failures
	setupFailures                 int  // reported failures of setupFunctions
	lost, participants            int  // participants with fabrics; lost: without a reported end
	outOfRange, twoKinds          int  // see Summary
	all                           tallies
}

// setupFunctions are the functions whose reported failure explains the lack of a remote
// description, so that the outcome is a failure and not missed. addIceCandidate is not among them: a
// call may connect without one candidate, and browsers refuse candidates before the description.
var setupFunctions = []string{
	"getUserMedia", "createOffer", "createAnswer", "setLocalDescription", "setRemoteDescription",
	"signalingError", "iceConnectionFailure",
}

// addErrors adds the reported failures, by function.
func (v *evidence) addErrors(byFunction map[string]int) {
	for function, n := range byFunction {
		v.errors += n
		if slices.Contains(setupFunctions, function) {
			v.setupFailures += n
		}
	}
}

// outcome returns the outcome of the first rule that matches.
func (v *evidence) outcome() Outcome {
	switch {
	case v.fabrics > 0 && v.described == 0 && v.setupFailures == 0:
		return OutcomeMissed
	case v.fabrics == 0 && v.errors > 0,
		v.fabrics > 0 && v.connected == 0 && (v.failed || v.errors > 0):
		return OutcomeTotallyFailed
	case v.fabrics > 0 && v.connected == 0:
		return OutcomeAborted
	case v.connected > 0 && v.lost == v.participants:
		return OutcomeDropped
	case v.connected < v.fabrics:
		return OutcomePartiallyFailed
	}
	return OutcomeSuccess
}

func (v *evidence) addFabric(f *fabric) {
	v.fabrics++
	v.connected += btoi(f.connected())
	v.described += btoi(f.hadRemoteDescription())
	v.failed = v.failed || f.iceFailed()
}

// addParticipant counts a participant by the end reason of its last fabric.
func (v *evidence) addParticipant(endReason string) {
	v.participants++
	v.lost += btoi(endReason == EndSilence || endReason == EndICEFailed)
}
