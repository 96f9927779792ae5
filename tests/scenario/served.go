package scenario

import (
	"github.com/qosrtc/qos/tests/network"
)

// Small lets a participant send pictures of 180p: three browsers that encode more starve two processors.
func Small(m *Member) { m.Media.Height, m.Media.FPS = 180, 15 }

// Served returns calls of three people through a media server: their labels say what has to be found of them.
func Served(through Topology) []Scenario {
	call := func(name string, s Scenario) Scenario {
		s.Name, s.Users, s.Topology = name, Three, through
		s.Prepare = Each(ForAll(Small), s.Prepare)
		return s
	}
	return []Scenario{
		call("good", Scenario{Label: none("nothing")}),
		call("up-loss", Scenario{
			Label:   label("senderUplink", "15 % loss of what Ada sends", "ada"),
			Prepare: EdgeFor("ada"), Act: Up("ada", network.Harm{Loss: .15}),
		}),
	}
}
