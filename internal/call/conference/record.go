package conference

import "github.com/qosrtc/qos/internal/call/event"

// devices returns the devices of an activeDeviceList; none for other events.
func devices(e *event.Event) event.Devices {
	if e.Kind != event.KindEvent || e.Data == nil {
		return event.Devices{}
	}
	return e.Data.Devices
}

// deviceModels returns the models of the devices of an activeDeviceList.
func deviceModels(e *event.Event) []string {
	if e.Kind != event.KindEvent || e.Data == nil {
		return nil
	}
	return e.Data.DeviceModels
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
