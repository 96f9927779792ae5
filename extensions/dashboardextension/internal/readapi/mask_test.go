package readapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/mask"
)

// Text that is no JSON but may have a real name is withheld.
func TestBrokenDocuments(t *testing.T) {
	broken := `{"userID":{"userName":"Ann Re`
	require.Equal(t, mask.Withheld, newNames(false, false).document(broken, hiddenInEvents))
	require.Equal(t, broken, newNames(true, true).document(broken, hiddenInEvents))
	require.Equal(t, "{x", newNames(false, false).document("{x", hiddenInEvents))
}

// fill writes a text into every text of a value that JSON has, and notes the fields that are not masked.
func fill(v reflect.Value, text string, open map[string]bool) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{text: []any{text, 1.5}}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, open)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text, open)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		element := reflect.New(v.Type().Elem()).Elem()
		fill(element, text, open)
		v.SetMapIndex(reflect.ValueOf("qos.app.version").Convert(v.Type().Key()), element)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			switch {
			case field.Tag.Get("mask") == notMasked:
				open[v.Type().Name()+"."+field.Name] = true
			case field.IsExported() || field.Anonymous:
				fill(v.Field(i), text, open)
			}
		}
	default:
	}
}

// Every text of an answer is masked, but for words of closed sets and IDs: also one that a later version adds. Masking
// changes nothing of the store.
//
// spec: DASH-03
func TestAnswersAreMaskedWhole(t *testing.T) {
	open := map[string]bool{}
	for _, answer := range []any{&detail{}, &tail{}, &unattached{}, &preCallRow{}, &conferenceRow{}} {
		fill(reflect.ValueOf(answer).Elem(), "Ann Real", open)
		before, err := json.Marshal(answer)
		require.NoError(t, err)
		require.Contains(t, string(before), "Ann Real")
		m := newMasks()
		m.Add("Ann Real", "a-1")
		m.answer(answer)
		after, err := json.Marshal(answer)
		require.NoError(t, err)
		require.JSONEq(t, strings.ReplaceAll(string(before), "Ann Real", "a-1"), string(after))
	}
	require.Equal(t, map[string]bool{
		"detail.Measures": true, "tail.Measures": true,
		"conferenceRow.App": true, "conferenceRow.ID": true, "conferenceRow.State": true, "conferenceRow.Outcome": true, "conferenceRow.Label": true,
		"conferenceRow.Cause": true, "conferenceRow.Matched": true,
		"participant.Session": true, "entry.Session": true, "entry.Kind": true, "entry.Function": true,
		"fabric.Session": true, "fabric.Usage": true, "fabric.Direction": true, "fabric.RemoteEndpointType": true,
		"streamHead.Session": true, "streamHead.StatsType": true, "streamHead.MediaType": true, "streamHead.Label": true, "streamHead.NoScore": true,
		"streamHead.Lowest": true, "customStat.Session": true, "preliminary.Missing": true, "preCallRow.App": true, "unattached.App": true, "unattached.ID": true,
	}, open)
}

// The members of a summary and its words are the collector's, also where a user has such a name.
//
// spec: DASH-03
func TestUsersWithNamesOfMembers(t *testing.T) {
	var document any
	text := `{"participants":[{"userID":"USER","alias":"a-1","mediaType":"audio","endReason":"failed","networkType":"USER","errorsByFunction":{"USER":2},"feedback":[{"comment":"USER was here"}]}]}`
	for _, user := range []string{"participants", "audio", "failed", "Ann Real"} {
		require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(text, "USER", user)), &document))
		m := newMasks()
		m.Add(user, "a-1")
		answer := detail{Summary: document}
		m.answer(&answer)
		after, err := json.Marshal(answer.Summary)
		require.NoError(t, err)
		require.JSONEq(t, strings.ReplaceAll(text, "USER", "a-1"), string(after), user)
	}
}

// What is given as an alias is replaced where it is a known real name, in any form, and only as a whole.
//
// spec: DASH-03
func TestAliasThatIsARealName(t *testing.T) {
	m := newMasks()
	m.Add("Ann Real", "a-1")
	m.Add("Zoë Berg", "zoë.berg")
	for given, shown := range map[string]string{"ann real": "a-1", "ANN_REAL": "a-1", "Ann%20Real": "Ann%20Real", "zoë.berg": "zoë.berg", "ZOE\u0308 BERG": "zoë.berg", "x": "x", "-": "-", "": ""} {
		one := participant{User: given}
		m.answer(&one)
		require.Equal(t, shown, one.User)
	}
	people := []participant{{User: "Ann Real"}, {User: "friend of Ann Real", Details: map[string]string{"site": "of ann_real"}}}
	stored := people[1].Details
	m.answer(&people)
	require.Equal(t, []participant{{User: "a-1"}, {User: "friend of Ann Real", Details: map[string]string{"site": "of a-1"}}}, people)
	require.Equal(t, map[string]string{"site": "of ann_real"}, stored)
}
