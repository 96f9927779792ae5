package hours

import (
	"github.com/qosrtc/qos/internal/digest"
	"github.com/qosrtc/qos/internal/overview"
	"github.com/qosrtc/qos/storage"
)

// counter decodes digests and counts them.
type counter struct {
	decoder digest.Decoder
	digest  digest.Digest
}

// add counts a conference. One without a digest, or with one that cannot be read, is one without a summary.
func (c *counter) add(t *overview.Totals, d *storage.Digest) {
	if len(d.Body) == 0 || c.decoder.Decode(d.Body, &c.digest) != nil {
		t.Pending(d.AppID)
		return
	}
	t.Add(d.AppID, &c.digest)
}
