package conference

import "github.com/qosrtc/qos/internal/event"

// identified reports whether a record's identity is one. A session that is too long to keep
// is none: two could be the same when they are cut.
func identified(e *event.Event) bool {
	return len(e.Session) <= event.MaxText && e.Seq <= maxSeq && e.Index >= 0 && e.Index <= maxIndex
}

// rank orders the records of a session: by number, then by index (maxIndex is 10 bits,
// numbers have 53).
func rank(e *event.Event) uint64 {
	return e.Seq<<indexBits | uint64(e.Index) // 0 to maxIndex
}

// placeMs is the time that finds the record's conference.
func placeMs(e *event.Event) int64 {
	if e.Activity() {
		return e.AtMs
	}
	return e.ConferenceAtMs
}

// devices is a hash of the devices that an activeDeviceList names.
func devices(e *event.Event) uint64 {
	if e.Kind != event.KindEvent || e.Data == nil {
		return 0
	}
	return e.Data.Devices
}
