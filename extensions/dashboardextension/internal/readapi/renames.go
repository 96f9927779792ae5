package readapi

import (
	"github.com/qosrtc/qos/internal/call/event"
)

// order is a record's position among those of its session.
type order struct {
	seq   uint64
	index int
}

func (o order) before(other order) bool {
	return o.seq < other.seq || o.seq == other.seq && o.index < other.index
}

// renameRemote takes an event in that calls the remote end of its fabric something else from
// then on. Records are in order of time, which clients correct; their numbers say which is newer.
func (b *builder) renameRemote(e *event.Event) {
	f := b.fabrics[fabricKey{e.Session, e.Fabric}]
	if f == nil || e.Name != "userIDChange" || e.Data == nil {
		return
	}
	at := order{e.Seq, e.Index}
	if e.Data.UserIDType != "remote" || e.Data.Alias == "" || f.renamed && at.before(f.renamedBy) {
		return
	}
	f.RemoteUser, f.RemoteUserName = e.Data.Alias, b.names.name(e.Data.UserID, e.Data.Alias)
	f.renamed, f.renamedBy = true, at
}
