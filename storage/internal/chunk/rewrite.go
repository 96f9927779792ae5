package chunk

import "github.com/qosrtc/qos/storage/internal/frames"

// Rewrite applies change to the records of a chunk's body. It returns the new body and the number of records
// that changed. If none has, it returns the old body. The positions of the records are unchanged.
func Rewrite(body []byte, change func(session [16]byte, name string, attributes map[string]any) bool) ([]byte, int, error) {
	decoded, err := Decode(body)
	if err != nil {
		return body, 0, err
	}
	records, changed := make([]frames.Record, 0, decoded.Len()), 0
	for i := range decoded.Len() {
		r := decoded.Record(i)
		if change(r.Session, r.Name, r.Attributes) {
			changed++
		}
		records = append(records, r)
	}
	if changed == 0 {
		return body, 0, nil
	}
	out, err := seal(encode(records))
	return out, changed, err
}
