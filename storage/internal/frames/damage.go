package frames

import (
	"fmt"
	"strings"

	"github.com/qosrtc/qos/storage"
)

// damagedNames is the number of damaged parts that an error names.
const damagedNames = 10

// Damage collects the parts that could not be read.
type Damage struct {
	count int
	names []string
}

// Add adds a damaged part, which err names.
func (d *Damage) Add(err error) {
	if d.count++; d.count <= damagedNames {
		d.names = append(d.names, err.Error())
	}
}

// Err returns an error that wraps storage.ErrDamaged and names up to damagedNames parts; nil without
// any.
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
