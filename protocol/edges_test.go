package protocol

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// removals calls with each text that lacks one member of the object, nested ones too, and the
// member's path, without indexes.
func removals(object map[string]any, path string, render func() []byte, call func(path string, text []byte)) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := object[name]
		delete(object, name)
		call(path+name, render())
		object[name] = value
		switch value := value.(type) {
		case map[string]any:
			removals(value, path+name+".", render, call)
		case []any:
			for _, one := range value {
				if inner, ok := one.(map[string]any); ok {
					removals(inner, path+name+".", render, call)
				}
			}
		}
	}
}

// requiredMembers are the members without which a frame is refused (docs/protocol.md,
// section 4). All others may be left out.
var requiredMembers = map[string]string{
	"bye":      "type",
	"columns":  "mediaType names set statsType type",                    // mediaType of streams
	"error":    "at conferenceAt conferenceID fabric function seq type", // the fabric, or the conference's two
	"event":    "at conferenceAt conferenceID event fabric seq type",
	"fabric":   "addedAt conferenceID fabric fabricUsage remoteUserID remoteUserID.aliasName type",
	"feedback": "at conferenceAt conferenceID fabric overall seq type userID userID.aliasName",
	"hello":    "acked at session token type versions",
	"log":      "at fabric seq text type",
	"precall":  "at durationMs interrupted mediaConnectivity providers.acceptable providers.provider providers.transports.connected providers.transports.relayProtocol seq status trigger type",
	"sdp":      "at conferenceAt conferenceID error fabric field offset seq text type",
	"skip":     "at from lost.fabric seq type",
	"stats":    "at fabric intervalMs keyed keyed.mediaType keyed.statsType rows seq type", // rows or keyed
}

// TestEachMemberLeftOut: a frame without a required member is refused with its name; without
// any other it is taken.
//
// spec: SRV-02
func TestEachMemberLeftOut(t *testing.T) {
	missing, present := map[string]map[string]bool{}, map[string]map[string]bool{}
	for name, v := range loadVectors(t) {
		var object map[string]any
		if v.From != "client" || v.Endpoint != "" || v.Error != nil || v.Message == nil {
			continue
		}
		require.NoError(t, json.Unmarshal(v.Message, &object), name)
		kind := object["type"].(string)
		if missing[kind] == nil {
			missing[kind], present[kind] = map[string]bool{}, map[string]bool{}
		}
		render := func() []byte {
			text, err := json.Marshal(object)
			require.NoError(t, err)
			return text
		}
		removals(object, "", render, func(path string, text []byte) {
			present[kind][path] = true
			if strings.HasPrefix(path, "data.") {
				return // free
			}
			_, err := v.decoder(t).Decode(text)
			if err != nil && err.Code == CodeFieldMissing {
				missing[kind][path] = true
				leaf := path[strings.LastIndexByte(path, '.')+1:]
				require.True(t, strings.HasSuffix(err.Field, leaf) || leaf == "keyed" && err.Field == "rows", "%s: %s is missing, %s is named", name, path, err.Field)
			}
		})
	}
	got := map[string]string{}
	for kind, paths := range missing {
		got[kind] = strings.Join(slices.Sorted(maps.Keys(paths)), " ")
	}
	require.Equal(t, requiredMembers, got)
}

// TestValidSession: each digit counts, and the version and variant are those of RFC 9562.
//
// spec: SRV-02
func TestValidSession(t *testing.T) {
	const id = "019a6e12-3456-7abc-8def-0123456789ab"
	with := func(at int, c string) string { return id[:at] + c + id[at+1:] }
	for at, c := range id {
		accepted := "0123456789abcdef"
		switch {
		case c == '-':
			accepted = "-"
		case at == 14:
			accepted = "7"
		case at == 19:
			accepted = "89ab"
		}
		for other := range 128 {
			require.Equal(t, strings.ContainsRune(accepted, rune(other)), ValidSession(with(at, string(rune(other)))), "%d %q", at, other)
		}
		require.False(t, ValidSession(with(at, "é")), at)
		require.False(t, ValidSession(id[:at]), at)
	}
	require.False(t, ValidSession(id+"0"))
}

// TestByeSaysWhatItsCodeMeans: without a csError of its own it has that of its code.
//
// spec: SRV-02, AUTH-07
func TestByeSaysWhatItsCodeMeans(t *testing.T) {
	f := func(b Bye, want CSError) {
		t.Helper()
		var got struct{ CSError CSError }
		require.NoError(t, json.Unmarshal(AppendBye(nil, b), &got))
		require.Equal(t, want, got.CSError)
	}
	f(Bye{Code: CodeAuthFailed}, CSAuthError)
	f(Bye{Code: CodeThrottled}, CSHTTPError)
	f(Bye{Code: CodeGoingAway}, CSWSChannelFailure)
	f(Bye{Code: CodeFieldValue}, CSProtoError)
	f(Bye{Code: CodeAuthFailed, CSError: CSHTTPError}, CSHTTPError)
}

// TestCharactersAreNotBytes: a limit in characters is named as one, and so is one in bytes.
//
// spec: SRV-02
func TestCharactersAreNotBytes(t *testing.T) {
	f := func(member, text, message string) {
		t.Helper()
		_, err := NewDecoder().Decode([]byte(`{"type":"hello","versions":[1],"token":"t","` + member + `":"` + text + `"}`))
		require.NotNil(t, err)
		require.Equal(t, CodeFieldTooLong, err.Code)
		require.Equal(t, member, err.Field)
		require.Equal(t, message, err.Message)
	}
	f("applicationVersion", strings.Repeat("x", 31), "applicationVersion is 31 characters, at most 30 are allowed")
	f("applicationVersion", strings.Repeat("ü", 31), "applicationVersion is 31 characters, at most 30 are allowed")
	f("siteID", strings.Repeat("x", 257), "siteID is 257 bytes, at most 256 are allowed")
	f("siteID", strings.Repeat("ü", 129), "siteID is 258 bytes, at most 256 are allowed")
}

// rangeOf is what the range of a measure is by its name.
func rangeOf(name string) (least, most float64) {
	switch {
	case name == "ssrc":
		return 0, 1<<32 - 1
	case name == "qp":
		return 0, 255
	case name == "width" || name == "height":
		return 0, 65_535
	case strings.HasSuffix(name, "Ms"):
		return 0, 3_600_000
	case strings.HasSuffix(strings.ToLower(name), "fps"):
		return 0, 1000
	case strings.HasSuffix(name, "Level") || strings.HasSuffix(name, "Fraction"):
		return 0, 1
	case strings.HasSuffix(name, "Lost"):
		return -1 << 53, 1 << 53
	}
	return 0, 1 << 53
}

// TestMeasuresAtTheirBounds: a row is taken with each measure at its bounds and refused past
// them; a count is whole.
//
// spec: SRV-02
func TestMeasuresAtTheirBounds(t *testing.T) {
	for _, m := range Measures {
		if m.Type == Text {
			continue
		}
		decode := func(value float64) *Error {
			d := NewDecoder()
			for _, text := range []string{
				`{"type":"fabric","fabric":1,"conferenceID":"c","addedAt":1763702160050,"remoteUserID":"bob","fabricUsage":"audio"}`,
				`{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["` + m.Name + `"]}`,
			} {
				_, err := d.Decode([]byte(text))
				require.Nil(t, err)
			}
			_, err := d.Decode(fmt.Appendf(nil, `{"type":"stats","seq":1,"at":1763702160051,"fabric":1,"intervalMs":2000,"rows":[[1,%s]]}`, strconv.FormatFloat(value, 'f', -1, 64)))
			return err
		}
		least, most := rangeOf(m.Name)
		for _, value := range []float64{least, most} {
			require.Nil(t, decode(value), "%s %v", m.Name, value)
		}
		step := 1.0
		if m.Type == Float && most < 1<<53 {
			step = 0.0001
			require.Nil(t, decode(most-step), m.Name)
		}
		if m.Type == Int {
			require.NotNil(t, decode(0.5), m.Name)
		}
		for _, value := range []float64{least - max(step, -least/(1<<52)), most + max(step, most/(1<<52)), 1e300, -1e300} {
			err := decode(value)
			require.NotNil(t, err, "%s %v", m.Name, value)
			require.Equal(t, CodeFieldValue, err.Code, "%s %v", m.Name, value)
		}
	}
}
