package event

import "github.com/qosrtc/qos/protocol"

// Loss is what one interval says of the packets of a stream. Nobody may have counted them.
type Loss struct {
	Lost     Value   // packets; negative where late ones came (RFC 3550)
	Expected float64 // packets that were to come, or were sent
	Fraction Value   // 0 to 1; unknown as well where nothing was expected, or nobody counted the packets
}

// Loss returns what was lost on the way here, or by the reports of the remote end. To add up
// there is the count first; for the interval alone, the fraction: the library works it out
// between the remote end's reports, which come every few seconds, so a short interval holds the
// losses of none or of more than itself.
func (m *Measurement) Loss() Loss {
	packets := m.Get(protocol.Packets)
	lost, fraction := m.Value(protocol.PacketsLost), Value{}
	if m.Outbound() {
		fraction = m.Value(protocol.RemoteLossFraction)
		lost = m.Value(protocol.RemotePacketsLost).Or(Value{fraction.V * packets, fraction.Known})
	}
	loss := LossOf(m.StatsType, lost, packets)
	switch {
	case fraction.Known:
		loss.Fraction = fraction
	case !m.Known(protocol.Packets):
		loss.Fraction = Value{}
	}
	return loss
}

// LossOf returns what became of packets: of an inbound stream those that came, of an outbound
// stream those that were sent.
func LossOf(statsType string, lost Value, packets float64) Loss {
	l := Loss{Lost: lost, Expected: packets}
	gone := max(0, lost.V)
	if statsType == protocol.InboundRTP {
		l.Expected += gone
	}
	if lost.Known && l.Expected > 0 {
		l.Fraction = Known(min(1, gone/l.Expected))
	}
	return l
}
