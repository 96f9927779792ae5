package dashboardextension

import (
	"encoding/json"

	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
)

// maxFormer bounds the names of one participant.
const maxFormer = 16

// renamed is what a user is called from an event on: the name only where it may be shown.
type renamed struct{ alias, name string }

// renames takes an event in that calls a user something else from then on.
func (b *builder) renames(session string, r storage.Record) {
	attrs := attributes(r.Attributes)
	if attrs.text(semconv.EventName) != "userIDChange" {
		return
	}
	var event struct {
		UserIDType string
		NewUserID  json.RawMessage
	}
	if json.Unmarshal([]byte(attrs.text(semconv.EventData)), &event) != nil {
		return
	}
	to, ok := b.names.parse(event.NewUserID)
	if !ok {
		return
	}
	if f := b.fabrics[fabricKey{session, r.Fabric}]; event.UserIDType == "remote" && f != nil {
		f.RemoteUser, f.RemoteUserName, f.renamed = to.alias, to.name, true
	}
	if event.UserIDType == "local" && len(b.renamed[session]) < maxFormer {
		b.renamed[session] = append(b.renamed[session], to)
	}
}

// parse reads a userID of the interface: a string is its own alias.
func (n names) parse(raw json.RawMessage) (renamed, bool) {
	var alias string
	if json.Unmarshal(raw, &alias) == nil {
		return renamed{alias: alias}, alias != ""
	}
	var object struct{ UserName, AliasName string }
	if json.Unmarshal(raw, &object) != nil || object.AliasName == "" {
		return renamed{}, false
	}
	return renamed{object.AliasName, n.name(object.UserName, object.AliasName)}, true
}

// rename gives participants the names that they have now.
func (b *builder) rename(people []participant) {
	for i := range people {
		for _, to := range b.renamed[people[i].Session] {
			people[i].Former = append(people[i].Former, people[i].User)
			people[i].User, people[i].UserName = to.alias, to.name
		}
	}
}
