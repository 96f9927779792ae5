package protocol

// Estimates of the memory of an announcement in a decoder and its user beside its texts: the structure, its entries
// in the maps of both, and its identifiers.
const (
	fabricBytes  = 512
	columnsBytes = 160
	nameBytes    = 24 // for each column: the header of its text, and its measure
	wordBytes    = 64 // for each remembered word
)

// Keep is called before a decoder keeps n more bytes, and with a negative n after it freed -n bytes. Its error refuses
// the announcement.
type Keep func(n int) *Error

// SetKeep sets the function that is called before the decoder keeps bytes. Without it a decoder keeps what the limits
// allow.
func (d *Decoder) SetKeep(keep Keep) { d.keep = keep }

// mayKeep calls the function of SetKeep.
func (d *Decoder) mayKeep(n int) *Error {
	if d.keep == nil {
		return nil
	}
	return d.keep(n)
}

// bytes estimates the memory of a fabric.
func (f *Fabric) bytes() int {
	return fabricBytes + len(f.ConferenceID) + len(f.RemoteUserID.Name) + len(f.RemoteUserID.Alias)
}

// bytes estimates the memory of a column set.
func (c *Columns) bytes() int {
	n := columnsBytes + nameBytes*len(c.Names)
	for i, name := range c.Names {
		if c.Measures[i] == UnknownMeasure {
			n += len(name)
		}
	}
	return n
}
