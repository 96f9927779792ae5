package dashboardextension

import (
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
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
func (b *builder) renameRemote(session string, r storage.Record) {
	attrs := attributes(r.Attributes)
	f := b.fabrics[fabricKey{session, r.Fabric}]
	if f == nil {
		return
	}
	change := event.Names(attrs.text(semconv.EventName), []byte(attrs.text(semconv.EventData)))
	at := order{r.Seq, r.Index}
	if change.Of != "remote" || change.User.Alias == "" || f.renamed && at.before(f.renamedBy) {
		return
	}
	f.RemoteUser, f.RemoteUserName = change.User.Alias, b.names.name(change.User.Name, change.User.Alias)
	f.renamed, f.renamedBy = true, at
}
