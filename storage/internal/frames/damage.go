package frames

import (
	"fmt"
	"strings"

	"github.com/qosrtc/qos/storage"
)

// damagedNames is how many damaged parts an error names.
const damagedNames = 10

// Damage gathers what could not be read while the rest was.
type Damage struct {
	count int
	names []string
}

// Add takes in what is wrong with a part, which err names.
func (d *Damage) Add(err error) {
	if d.count++; d.count <= damagedNames {
		d.names = append(d.names, err.Error())
	}
}

// Err wraps storage.ErrDamaged and names the parts, some if there are many; nil if there
// are none.
func (d *Damage) Err() error {
	if d.count == 0 {
		return nil
	}
	more := ""
	if d.count > len(d.names) {
		more = fmt.Sprintf("; and %d more", d.count-len(d.names))
	}
	return fmt.Errorf("%w: %d parts: %s%s", storage.ErrDamaged, d.count, strings.Join(d.names, "; "), more)
}
