package harness

import "fmt"

// Ledger is the account of one session, or of many, in frame numbers.
type Ledger struct {
	Made    uint64 // numbers given
	Sent    uint64 // of these on a wire at least once, as a frame or in a skip
	Acked   uint64 // covered by an ack
	Open    uint64 // not covered
	Taken   uint64 // of the acknowledged: frames that must be stored
	Refused uint64 // of the acknowledged: frames that were refused for good
	Skipped uint64 // of the acknowledged: numbers that a skip declared as dropped
	Sends   uint64 // frames put on a wire, each time
	Records uint64 // that the acknowledged frames come to, skips included
	Nowhere uint64 // of these: records that belong to no conference
}

// Ledger is the account of this client.
func (c *Client) Ledger() Ledger {
	l := Ledger{Made: c.last}
	for _, f := range c.frames {
		l.count(f)
	}
	return l
}

func (l *Ledger) count(f *Frame) {
	numbers := f.Seq - f.From + 1
	l.Sends += uint64(f.Sent)
	if f.Sent > 0 {
		l.Sent += numbers
	}
	if !f.Acked {
		l.Open += numbers
		return
	}
	l.Acked += numbers
	switch {
	case f.Refused != "":
		l.Refused++
		return
	case f.Skip():
		l.Skipped += numbers
	default:
		l.Taken++
	}
	for _, r := range f.Records {
		l.Records++
		if r.None {
			l.Nowhere++
		}
	}
}

// Add adds another account.
func (l *Ledger) Add(o Ledger) {
	l.Made += o.Made
	l.Sent += o.Sent
	l.Acked += o.Acked
	l.Open += o.Open
	l.Taken += o.Taken
	l.Refused += o.Refused
	l.Skipped += o.Skipped
	l.Sends += o.Sends
	l.Records += o.Records
	l.Nowhere += o.Nowhere
}

func (l Ledger) String() string {
	return fmt.Sprintf("made %d = acked %d + open %d; acked = taken %d + refused %d + skipped %d; %d sends; %d records, %d of no conference",
		l.Made, l.Acked, l.Open, l.Taken, l.Refused, l.Skipped, l.Sends, l.Records, l.Nowhere)
}
