package recommend

import "fmt"

// Bounds of the evidence for relayed paths.
const (
	MinFabrics      = 5    // fewer are no evidence
	MinWithoutShare = 0.5  // least share of the fabrics without a direct path
	MinRelayedShare = 0.25 // least share of those that a relay connected
)

// Paths counts fabrics by their network path.
type Paths struct {
	Direct  int // connected without a relay
	Relayed int // connected through a relay: the direct paths failed
	Failed  int // never connected
}

// Total returns the number of fabrics.
func (p Paths) Total() int { return p.Direct + p.Relayed + p.Failed }

// DirectPathsFail reports whether most fabrics have no direct path while a relay connects them. If relays do not
// connect them either, another fault is more likely.
func (p Paths) DirectPathsFail() bool {
	without := float64(p.Relayed + p.Failed)
	return p.Total() >= MinFabrics && without >= MinWithoutShare*float64(p.Total()) &&
		float64(p.Relayed) >= MinRelayedShare*without
}

// policy recommends relays where direct paths fail, and only with a TURN server, without which no call could connect.
func (c *change) policy(paths Paths) {
	if !paths.DirectPathsFail() || string(c.peerConnection["iceTransportPolicy"]) == `"relay"` {
		return
	}
	servers := ICEServers(c.peerConnection.json())
	for i := range servers {
		if servers[i].relays() {
			c.peerConnection.set("iceTransportPolicy", "relay")
			c.addReason(memberPolicy, CodeDirectPathsFail, fmt.Sprintf(
				"%d of %d recent connections from this site had no direct path", paths.Relayed+paths.Failed, paths.Total()))
			return
		}
	}
}
