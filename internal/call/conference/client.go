package conference

import (
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
)

// Client describes the end of a participant's session. Empty texts are unknown.
type Client struct {
	SiteID             string
	ApplicationVersion string
	Browser            string // one of event.Browsers
	BrowserVersion     string // major
}

// maxClientText bounds a siteID and an applicationVersion, above the limits of the protocol. A
// longer one counts as unknown, since a truncated one would be a different ID.
const maxClientText = 256

// boundedText returns a copy of text; empty if it is too long.
func boundedText(text string) string {
	if len(text) > maxClientText {
		return ""
	}
	return strings.Clone(text)
}

func clientOf(e *event.Event) Client {
	if e.Client == nil {
		return Client{}
	}
	family, major := event.Browser(e.Client.UserAgent)
	return Client{
		SiteID: boundedText(e.Client.SiteID), ApplicationVersion: boundedText(e.Client.ApplicationVersion),
		Browser: family, BrowserVersion: strings.Clone(major),
	}
}

// Machine describes the machine of a participant's browser. Empty values are unknown.
type Machine struct {
	OS      string   // one of event.OperatingSystems
	Devices []string // models in events activeDeviceList, ascending
}

// maxModels bounds the Devices of a Machine.
const maxModels = 16

func machineOf(e *event.Event) Machine {
	if e.Client == nil {
		return Machine{}
	}
	return Machine{OS: event.OperatingSystem(e.Client.UserAgent)}
}

// addModels adds models of devices, each once.
func (m *Machine) addModels(models []string) {
	for _, model := range models {
		at, found := slices.BinarySearch(m.Devices, model)
		if !found && len(m.Devices) < maxModels {
			m.Devices = slices.Insert(m.Devices, at, model)
		}
	}
}
