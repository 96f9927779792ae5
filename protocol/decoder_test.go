package protocol

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every code that a decoder can give has a vector, and so has every type.
func TestVectorsAreComplete(t *testing.T) {
	given := map[Code]bool{}
	types := map[Type]bool{}
	for _, v := range loadVectors(t) {
		if v.Error != nil && v.From == "client" {
			given[v.Error.Code] = true
			continue
		}
		for _, kind := range []Type{
			TypeScramFirst, TypeScramFinal, TypeJWT, TypeToken, TypeHello, TypeWelcome, TypeFabric, TypeColumns, TypeStats,
			TypeEvent, TypeError, TypeFeedback, TypeLog, TypeSkip, TypeAck, TypeNack, TypeSlowDown, TypeBye,
		} {
			if strings.Contains(string(v.bytes(t)), fmt.Sprintf("%q", kind)) {
				types[kind] = true
			}
		}
	}
	require.Len(t, types, 18)
	for code, info := range codes {
		// Whether hello comes first, the connection knows, not its decoder.
		if info.csError == CSProtoError && code != CodeHelloExpected {
			require.True(t, given[code], code)
		}
	}
}

// What a decoder read before leaves no trace in what it reads next.
func TestDecoderLeavesNoTrace(t *testing.T) {
	vectors := loadVectors(t)
	groups := map[string][]vector{}
	for _, name := range slices.Sorted(maps.Keys(vectors)) {
		v := vectors[name]
		if v.From == "client" && v.Endpoint == "" && !strings.Contains(string(v.bytes(t)), `"columns"`) {
			groups[fmt.Sprintf("%s", v.Context)] = append(groups[fmt.Sprintf("%s", v.Context)], v)
		}
	}
	for _, group := range groups {
		d := group[0].decoder(t)
		for _, v := range append(group, group...) {
			if strings.Contains(string(v.bytes(t)), `"type": "fabric"`) || v.Raw != nil && strings.Contains(string(v.Raw), `\"fabric\",`) {
				continue // would change the context of the others
			}
			frame, err := d.Decode(v.bytes(t))
			checkVerdict(t, v, err)
			if stats, ok := frame.(*Stats); ok {
				checkStatsOracle(t, d, v.bytes(t), stats)
				d.Release()
			}
		}
	}
}

func TestStatsAreReusedAndReleased(t *testing.T) {
	d, rows, _ := eightStreams(t)
	first, err := d.Decode(rows)
	require.Nil(t, err)
	require.Len(t, first.(*Stats).Records, 8)
	require.Len(t, first.(*Stats).Records[7].Values, 18)
	second, err := d.Decode(rows)
	require.Nil(t, err)
	require.Same(t, first, second)
	d.Release()
	d.Release()
	require.Nil(t, d.stats)
	_, err = d.Decode(rows)
	require.Nil(t, err)
}

// msg is the decoder's only while Decode runs.
func TestFramesDoNotShareTheMessage(t *testing.T) {
	for _, v := range loadVectors(t) {
		if v.From != "client" || v.Endpoint != "" || v.Error != nil {
			continue
		}
		wire := v.bytes(t)
		scratch := append([]byte(nil), wire...)
		d := v.decoder(t)
		frame, err := d.Decode(scratch)
		require.Nil(t, err)
		want, err := v.decoder(t).Decode(wire)
		require.Nil(t, err)
		clear(scratch)
		require.Equal(t, appendFrame(want), appendFrame(frame), v.Description)
	}
}

func TestFabricsAreBounded(t *testing.T) {
	d := NewDecoder()
	fabric := func(n int) *Error {
		_, err := d.Decode(appendFrame(&Fabric{
			Fabric: n, ConferenceID: "c", AddedAt: 1, RemoteUserID: UserID{"b", "b"}, FabricUsage: "audio",
		}))
		return err
	}
	for n := 1; n <= MaxFabrics; n++ {
		require.Nil(t, fabric(n))
	}
	err := fabric(MaxFabrics + 1)
	require.Equal(t, CodeTooMany, err.Code)
	require.Equal(t, "fabric", err.Field)
	require.Equal(t, MaxFabrics, err.Limit)
	require.Nil(t, fabric(MaxFabrics), "known ones go on")
}

func TestWordsAndShapesAreBounded(t *testing.T) {
	d := fuzzDecoder(t)
	for i := range 10 * maxWords {
		_, err := d.Decode(fmt.Appendf(nil, `{"type":"stats","seq":1,"at":1,"fabric":1,"intervalMs":1,"rows":[[1,1,"codec%d",0,0,0,0]]}`, i))
		require.Nil(t, err)
		require.LessOrEqual(t, len(d.words), maxWords)
	}
	for i := range len(Measures) {
		for j := range i {
			_, err := d.Decode(fmt.Appendf(nil, `{"type":"stats","seq":1,"at":1,"fabric":1,"intervalMs":1,"keyed":[{"statsType":"candidate-pair",%q:null,%q:null}]}`,
				Measures[i].Name, Measures[j].Name))
			require.Nil(t, err)
			require.LessOrEqual(t, len(d.keyed), maxShapes)
		}
	}
}

func TestUnknownColumnsAreCounted(t *testing.T) {
	d := NewDecoder()
	f := func(want int, msg string) {
		t.Helper()
		_, err := d.Decode([]byte(msg))
		require.Nil(t, err)
		require.Equal(t, want, d.UnknownColumns())
	}
	f(0, fuzzContext[0])
	f(0, fuzzContext[1])
	f(1, fuzzContext[2])
	f(1, fuzzContext[2])
	f(2, `{"type":"stats","seq":1,"at":1,"fabric":1,"intervalMs":1,"keyed":[{"statsType":"candidate-pair","a":1}]}`)
}

func TestPeekSeq(t *testing.T) {
	f := func(want uint64, head string) {
		t.Helper()
		require.Equal(t, want, PeekSeq([]byte(head)))
	}
	f(17, `{"type":"stats","seq":17,"rows":[[`)
	f(17, `{"type":"stats","seq":17,`)
	f(0, `{"type":"stats","seq":17`)
	f(17, `{"seq":17}`)
	f(17, `{"rows":[[1,"a,b"],{}],"seq" : 17 }`)
	f(0, `{"text":"\"seq\":17,","a`)
	f(0, `{"a":{"seq":17},`)
	f(0, `{"seq":"17",`)
	f(0, `{"seq":0,`)
	f(0, `{"seq":1.5,`)
	f(0, `{"seq":9007199254740992,`)
	f(0, `[17,`)
	f(0, ``)
	f(0, `{"a":`+strings.Repeat("[", MaxFrameBytes))
}

// A refused skip says which numbers it stood for, so that the ack can pass them.
func TestRefusedSkipNamesItsNumbers(t *testing.T) {
	_, err := NewDecoder().Decode([]byte(`{"type":"skip","seq":29,"at":1,"lost":[{"fabric":7}],"from":20}`))
	require.Equal(t, CodeFabricUnknown, err.Code)
	require.EqualValues(t, 29, err.Seq)
	require.EqualValues(t, 20, err.From)
	_, err = NewDecoder().Decode([]byte(`{"type":"log","seq":29,"at":1,"fabric":7,"from":20}`))
	require.EqualValues(t, 29, err.Seq)
	require.Zero(t, err.From, "not a skip")
}

// A refusal names what is wrong and never repeats what came.
func TestRefusalsDoNotEcho(t *testing.T) {
	for name, v := range loadVectors(t) {
		if v.From != "client" || v.Endpoint != "" || v.Error == nil {
			continue
		}
		_, err := v.decoder(t).Decode([]byte(strings.ReplaceAll(string(v.bytes(t)), "standup", "SECRET")))
		require.NotNil(t, err, name)
		require.NotContains(t, err.Message, "SECRET", name)
		require.Less(t, len(err.Message), 300, name)
		require.Less(t, len(err.Field), 100, name)
	}
}

func TestEncodersEscape(t *testing.T) {
	text := "\"\\/\b\f\n\r\t\x00\x1f\u2028ä𝒸\xff"
	got, err := DecodeServer(AppendNack(nil, &Error{Code: CodeFieldValue, Field: text, Message: text, Limit: 3, Seq: 5}))
	require.NoError(t, err)
	want := strings.Replace(text, "\xff", "\ufffd", 1)
	require.Equal(t, Error{Code: CodeFieldValue, Field: want, Message: want, Limit: 3, Seq: 5}, got.(*Nack).Error)
}
