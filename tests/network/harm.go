package network

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// Harm is what a link does to the packets that it carries. The zero value does nothing. Durations of 0 do not
// apply unless a field says otherwise.
type Harm struct {
	Loss    float64       // fraction of the media packets
	Delay   time.Duration // of every packet
	Jitter  time.Duration // at most, beside Delay; packets stay in order
	RateBps float64       // limit; 0: none
	Queue   time.Duration // for which a packet waits for a full link; 0: defaultQueue
	Cut     bool          // no packet passes, media or not

	Stall, Period time.Duration // at the beginning of each period packets wait for Stall, as in a busy radio network
	Burst         float64       // fraction of the time in which all media packets are lost, in runs of burstRun
	Largest       int           // media packets of more bytes are lost, as on a path with a smaller MTU; 0: none
	SSRC          uint32        // Loss applies only to this stream; 0: to all
	UpTo          int           // Loss applies only to packets of at most so many bytes, as sound has; 0: to all

	Swapped float64       // fraction of the media packets that arrive after others that were sent later
	Behind  time.Duration // by which they arrive later
	Twice   float64       // fraction of all packets that arrive twice
	Corrupt float64       // fraction of the media packets that arrive with a wrong bit

	Every, Lasts time.Duration // the harm lasts for Lasts at the beginning of each period Every; 0: always
	Grows        time.Duration // in which the harm rises from none after Set; 0: at once
	Falls        time.Duration // in which loss, jitter and limit fall to none after Set; 0: they stay
	Ends         time.Duration // after Set, when the harm is over; 0: it stays
}

// spares reports whether Loss does not apply to a packet.
func (h Harm) spares(p []byte) bool {
	const ssrcAt, headerBytes = 8, 12 // of RTP (RFC 3550, section 5.1)
	return h.UpTo > 0 && len(p) > h.UpTo || h.SSRC > 0 && (len(p) < headerBytes || binary.BigEndian.Uint32(p[ssrcAt:]) != h.SSRC)
}

// now returns the harm at a time, as Every and Lasts say.
func (h Harm) now(at time.Time) Harm {
	if h.Every > 0 && time.Duration(at.UnixNano())%h.Every >= h.Lasts {
		return Harm{}
	}
	return h
}

// grown returns the harm at a time after Set, as Grows, Falls and Ends say.
func (h Harm) grown(since time.Duration) Harm {
	if h.Ends > 0 && since >= h.Ends {
		return Harm{}
	}
	if h.Falls > 0 {
		rest := max(0.001, 1-since.Seconds()/h.Falls.Seconds())
		h.Loss *= rest
		h.Jitter = time.Duration(rest * float64(h.Jitter))
		h.RateBps /= rest
	}
	if h.Grows == 0 || since >= h.Grows {
		return h
	}
	part := max(0.001, since.Seconds()/h.Grows.Seconds())
	h.Loss *= part
	h.Delay = time.Duration(part * float64(h.Delay))
	h.Jitter = time.Duration(part * float64(h.Jitter))
	h.RateBps /= part
	return h
}

// String describes the harm in words, "nothing" if there is none.
func (h Harm) String() string {
	var parts []string
	add := func(is bool, format string, values ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, values...))
		}
	}
	add(h.Cut, "no packet passes")
	add(h.Loss == 1, "no media pass")
	small := ""
	if h.UpTo > 0 {
		small = fmt.Sprintf(" of packets of at most %d bytes", h.UpTo)
	}
	add(h.Loss > 0 && h.Loss < 1, "%.*f %% loss%s", decimals(h.Loss), 100*h.Loss, small)
	add(h.Burst > 0, "%.0f %% loss in bursts", 100*h.Burst)
	add(h.Largest > 0, "loss of packets of more than %d bytes", h.Largest)
	add(h.Delay > 0, "%v of delay", h.Delay)
	add(h.Jitter > 0, "up to %v of jitter", h.Jitter)
	add(h.RateBps > 0, "a cap of %.0f kbit/s", h.RateBps/1000)
	add(h.Queue > 0, "a queue of %v", h.Queue)
	add(h.Stall > 0, "stalls of %v every %v", h.Stall, h.Period)
	add(h.Swapped > 0, "%.0f %% of the packets %v after their turn", 100*h.Swapped, h.Behind)
	add(h.Twice > 0, "%.0f %% of the packets twice", 100*h.Twice)
	add(h.Corrupt > 0, "a wrong bit in %.0f %% of the packets", 100*h.Corrupt)
	if len(parts) == 0 {
		return "nothing"
	}
	text := strings.Join(parts, ", ")
	parts = []string{text}
	add(h.Every > 0, "for %v of every %v", h.Lasts, h.Every)
	add(h.Grows > 0, "growing for %v", h.Grows)
	add(h.Falls > 0, "falling for %v", h.Falls)
	add(h.Ends > 0, "for the first %v", h.Ends)
	return strings.Join(parts, " ")
}

// decimals is how many digits a percentage needs: below 10 % one.
func decimals(share float64) int {
	if share < .1 {
		return 1
	}
	return 0
}
