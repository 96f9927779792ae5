package access

import "github.com/qosrtc/qos/internal/serve/jsonobject"

// Fault is the fault of one member of a request. It repeats no password and no name.
type Fault = jsonobject.Fault
