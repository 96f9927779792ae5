package event

import "github.com/qosrtc/qos/protocol"

// Loss is the packet loss of a stream in one interval.
type Loss struct {
	Lost     Value   // packets; negative where late ones arrived (RFC 3550)
	Expected float64 // packets that were expected, or were sent
	Fraction Value   // 0 to 1; unknown also where no packet was expected, or the number of packets is unknown
}

// Loss returns the loss on the path to this end, or for an outbound stream that of the remote
// end's reports. A report arrives every few seconds, so a short interval has the losses of no
// report, or those of a longer time: Lost is correct as a sum over intervals, and the Fraction,
// which the library computes between two reports, for a single interval.
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

// LossOf returns the loss of a stream. packets is the number of received packets of an inbound stream,
// of sent packets of an outbound one.
func LossOf(statsType string, lost Value, packets float64) Loss {
	l := Loss{Lost: lost, Expected: packets}
	count := max(0, lost.V)
	if statsType == protocol.InboundRTP {
		l.Expected += count
	}
	if lost.Known && l.Expected > 0 {
		l.Fraction = Known(min(1, count/l.Expected))
	}
	return l
}
