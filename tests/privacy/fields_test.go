package privacy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// frames are the messages of a client, by the names of their Go types.
var frames = map[string]struct {
	kind  protocol.Type
	frame protocol.Frame
}{
	"Hello": {protocol.TypeHello, &protocol.Hello{}}, "Fabric": {protocol.TypeFabric, &protocol.Fabric{}},
	"Columns": {protocol.TypeColumns, &protocol.Columns{}}, "Stats": {protocol.TypeStats, &protocol.Stats{}},
	"Event": {protocol.TypeEvent, &protocol.Event{}}, "ErrorReport": {protocol.TypeError, &protocol.ErrorReport{}},
	"SDPPart": {protocol.TypeSDP, &protocol.SDPPart{}}, "Feedback": {protocol.TypeFeedback, &protocol.Feedback{}},
	"Log": {protocol.TypeLog, &protocol.Log{}}, "PreCall": {protocol.TypePreCall, &protocol.PreCall{}}, "Skip": {protocol.TypeSkip, &protocol.Skip{}}, "Bye": {protocol.TypeBye, &protocol.Bye{}},
}

// identifiers are the application's: the receiver keeps them whole (docs/security.md).
var identifiers = map[string]bool{
	"Hello.SiteID": true, "Hello.AdditionalIDs": true, "Fabric.ConferenceID": true, "Fabric.RemoteUserID": true, "Feedback.UserID": true,
}

// closed are the texts for which the decoder accepts only certain values.
var closed = map[string]bool{
	"Fabric.FabricUsage": true, "Fabric.RemoteEndpointType": true, "Fabric.FabricTransmissionDirection": true,
	"Columns.StatsType": true, "Columns.MediaType": true, "Event.Event": true, "ErrorReport.Function": true, "SDPPart.Field": true,
	"PreCall.Trigger": true, "PreCall.Status": true,
}

// unread are texts that the receiver ignores.
var unread = map[string]bool{"Columns.Names": true, "Bye.Code": true, "Bye.CSError": true, "Bye.Message": true}

// values are those of identifiers, of closed texts, and of members that are no texts. Tokens and sessions
// are those of the login.
var values = map[string]any{
	"Hello.Versions": []int{1}, "Hello.Token": "token", "Hello.Session": "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f", "Hello.At": int64(1), "Hello.SiteID": "site",
	"Hello.AdditionalIDs": map[string]string{"tenant": "one"},
	"Fabric.Fabric":       1, "Fabric.ConferenceID": "call", "Fabric.AddedAt": int64(1), "Fabric.RemoteUserID": "bob", "Fabric.FabricUsage": "multiplex",
	"Fabric.RemoteEndpointType": "peer", "Fabric.FabricTransmissionDirection": "sendrecv",
	"Columns.Set": 1, "Columns.StatsType": "inbound-rtp", "Columns.MediaType": "audio",
	"Stats.Fabric": 1, "Stats.IntervalMs": 10_000, "Event.Event": "customEvent", "ErrorReport.Function": "createOffer",
	"SDPPart.Error": 9, "SDPPart.Field": "localSDP", "SDPPart.Offset": 0, "Feedback.UserID": "ann", "Feedback.Overall": 3, "Skip.From": 1,
	"PreCall.Trigger": "initialize", "PreCall.Status": "failure", "PreCall.Interrupted": false, "PreCall.MediaConnectivity": false, "PreCall.DurationMs": 20,
}

// planted is a text that a field was set to.
type planted struct{ field, text string }

// message returns a frame of a type with a form in each of its texts that has room, as members of JSON.
func message(t *testing.T, name string, f form) (members map[string]any, all []planted) {
	t.Helper()
	members = map[string]any{"type": frames[name].kind, "seq": 1, "at": 1, "fabric": 1, "acked": 0}
	open := map[string]reflect.StructField{}
	for field := range reflect.TypeOf(frames[name].frame).Elem().Fields() {
		path, key := name+"."+field.Name, keyOf(field)
		switch value, given := values[path]; {
		case given:
			members[key] = value
		case hasTexts(field.Type) && !field.Anonymous:
			open[key], members[key] = field, as(field.Type, "x", form{text: "x"})
		}
	}
	for key, field := range open {
		path, harmless := name+"."+field.Name, members[key]
		text := fmt.Sprintf("%s at %s", marker(path), f.text)
		if members[key] = as(field.Type, text, f); fits(t, name, members, text) {
			all = append(all, planted{path, text})
		} else {
			members[key] = harmless
		}
	}
	return members, all
}

// keyOf is the name of a field in JSON.
func keyOf(field reflect.StructField) string {
	switch field.Name {
	case "CSError":
		return "csError"
	case "Records":
		return "keyed"
	}
	return strings.ToLower(field.Name[:1]) + field.Name[1:]
}

// marker names a field in few characters.
func marker(path string) string {
	kind, field, _ := strings.Cut(path, ".")
	return kind[:1] + field[:2] + field[len(field)-2:]
}

// hasTexts reports whether a type has a text in it.
func hasTexts(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return true
	case reflect.Slice, reflect.Map, reflect.Pointer:
		return t == reflect.TypeFor[json.RawMessage]() || hasTexts(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if hasTexts(field.Type) {
				return true
			}
		}
	}
	return false
}

// as returns a value of a type with the text in it.
func as(t reflect.Type, text string, f form) any {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return data(text, f)
	case t == reflect.TypeFor[[]protocol.Record]() && f.text == text:
		return []any{}
	case t == reflect.TypeFor[[]protocol.Record]():
		return []any{map[string]any{"statsType": "inbound-rtp", "mediaType": "audio", "ssrc": 7, "codec": text, "rid": text, text: 1}}
	case t == reflect.TypeFor[[]protocol.PreCallProvider]():
		return []any{map[string]any{"provider": "eu", "acceptable": false, "transports": []any{map[string]any{"relayProtocol": "tls", "connected": false, "error": text}}}}
	case t == reflect.TypeFor[[]protocol.Lost]():
		return []any{}
	case t.Kind() == reflect.Slice:
		return []string{"ssrc", "packets", text}
	}
	return text
}

// data is the data of an event with a text and an address wherever an object can have them.
func data(text string, f form) json.RawMessage {
	user := cmp.Or(f.user, "bob")
	object, err := json.Marshal(map[string]any{
		"stage": "connectivity", "failureMs": 20, "reason": "failed", "ssrc": 7, "userIDType": "remote", "newUserID": user, "userID": user,
		"text": text, text: 1, "list": []string{text}, "deep": []any{map[string]any{"x": []any{text}}},
		"localAddress": f.text, "relatedAddress": f.text, "localAddresses": []string{f.text}, "addresses": []string{f.text, text},
		"deviceList": []any{map[string]any{"label": text, "deviceId": text, "kind": "audioinput"}}, "usageLabel": text,
		"escaped": "ESC" + f.text, "turn": relay,
	})
	if err != nil {
		panic(err)
	}
	hidden := fmt.Sprintf(`at \u%04x%s`, f.text[0], f.text[1:])
	return json.RawMessage(strings.Replace(string(object), "ESC"+f.text, hidden, 1))
}

// fits reports whether the decoder accepts a message, and reads the text in it.
func fits(t *testing.T, name string, members map[string]any, text string) bool {
	t.Helper()
	d := protocol.NewDecoder()
	if name != "Fabric" && name != "Hello" {
		_, refusal := d.Decode([]byte(`{"type":"fabric","fabric":1,"conferenceID":"c","addedAt":1,"remoteUserID":"b","fabricUsage":"multiplex"}`))
		require.Nil(t, refusal)
	}
	frame, refusal := d.Decode(line(t, members))
	if refusal != nil {
		return false
	}
	read, err := json.Marshal(frame)
	require.NoError(t, err)
	return strings.Contains(string(read), text)
}

func line(t *testing.T, members map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(members)
	require.NoError(t, err)
	return text
}

// Every frame of the protocol is here, and every text of one is either set to addresses, or an identifier of
// the application, or closed: so a field that is added to the protocol is covered.
//
// spec: PRIV-01
func TestEveryText(t *testing.T) {
	source, err := parser.ParseFile(token.NewFileSet(), "../../protocol/messages.go", nil, 0)
	require.NoError(t, err)
	found := 0
	for _, declared := range source.Decls {
		if f, ok := declared.(*ast.FuncDecl); ok && f.Name.Name == "frame" {
			found++
			require.Contains(t, frames, f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
		}
	}
	require.Len(t, frames, found)
	times, markers := map[string]int{}, map[string]string{}
	for name := range frames {
		for _, f := range forms {
			_, all := message(t, name, f)
			for _, p := range all {
				times[p.field]++
				require.Equal(t, p.field, either(markers, marker(p.field), p.field), "one marker for two fields")
			}
		}
		for field := range reflect.TypeOf(frames[name].frame).Elem().Fields() {
			path := name + "." + field.Name
			switch {
			case field.Anonymous || !hasTexts(field.Type) || identifiers[path] || path == "Hello.Token" || path == "Hello.Session" || path == "Stats.Fabric":
			case closed[path]:
				members, _ := message(t, name, forms[0])
				members[keyOf(field)] = forms[0].text
				require.False(t, fits(t, name, members, ""), "%s accepts any text", path)
			case path == "Skip.Lost":
			default:
				require.GreaterOrEqual(t, times[path], 4, "%s is not covered", path)
			}
		}
	}
	t.Log(times)
}

// either returns the value of a key, which is set if it was not.
func either(m map[string]string, key, value string) string {
	if old, ok := m[key]; ok {
		return old
	}
	m[key] = value
	return value
}
