package protocol

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// fuzzContext is what the seeds need: fabric 1 and three column sets.
var fuzzContext = []string{
	`{"type":"fabric","fabric":1,"conferenceID":"standup","addedAt":1763702160050,"remoteUserID":"bob","fabricUsage":"multiplex"}`,
	`{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","codec","bytes","packets","packetsLost","jitterMs"]}`,
	`{"type":"columns","set":2,"statsType":"candidate-pair","names":["rttMs","notYetInvented"]}`,
	`{"type":"columns","set":3,"statsType":"outbound-rtp","mediaType":"video","names":["packets"]}`,
}

func fuzzDecoder(tb testing.TB) *Decoder {
	tb.Helper()
	d := NewDecoder()
	for _, msg := range fuzzContext {
		_, err := d.Decode([]byte(msg))
		require.Nil(tb, err)
	}
	return d
}

// checkRefusal makes sure that a refusal can be sent and read.
func checkRefusal(t *testing.T, err *Error) {
	t.Helper()
	require.NotEmpty(t, err.Code.CSError(), err.Code)
	require.NotEmpty(t, err.Message)
	require.Less(t, len(err.Message), 4<<10, "no echo of what came")
	message, e := DecodeServer(AppendNack(nil, err))
	require.NoError(t, e)
	sent := *err
	sent.From = 0 // the server's own affair
	require.Equal(t, sent, message.(*Nack).Error)
}

// FuzzDecode makes sure that nothing panics, that what is taken is JSON to
// encoding/json too and means the same there (stats) or after a round trip (all else),
// and that a refusal leaves the context as it was.
func FuzzDecode(f *testing.F) {
	for _, v := range loadVectors(f) {
		if v.From == "client" && v.Endpoint == "" {
			f.Add(v.bytes(f))
		}
	}
	for _, msg := range fuzzContext {
		f.Add([]byte(msg))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		d := fuzzDecoder(t)
		frame, err := d.Decode(msg)
		if err != nil {
			checkRefusal(t, err)
			require.Nil(t, frame)
			require.Len(t, d.fabrics, 1)
			require.Nil(t, d.set(4))
			return
		}
		require.True(t, json.Valid(msg))
		if stats, ok := frame.(*Stats); ok {
			checkStatsOracle(t, fuzzDecoder(t), msg, stats)
			return
		}
		wire := appendFrame(frame)
		require.True(t, json.Valid(wire), "%s", wire)
		if len(wire) > MaxFrameBytes {
			return // control characters may take six bytes where they took two
		}
		again, err := fuzzDecoder(t).Decode(wire)
		require.Nil(t, err)
		require.Equal(t, frame, again)
	})
}

// FuzzDecodeAuth makes sure that nothing panics and that what is taken is within limits.
func FuzzDecodeAuth(f *testing.F) {
	for _, v := range loadVectors(f) {
		if v.From == "client" {
			f.Add(v.bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		request, err := DecodeAuth(body)
		if err != nil {
			checkRefusal(t, err)
			require.Nil(t, request)
			return
		}
		require.True(t, json.Valid(body))
		switch r := request.(type) {
		case *ScramFirst:
			require.NotEmpty(t, r.AppID)
			require.NotEmpty(t, r.UserID.Alias)
			require.LessOrEqual(t, len(r.Scram), MaxScramBytes)
		case *ScramFinal:
			require.LessOrEqual(t, len(r.State), MaxStateBytes)
		case *JWTRequest:
			require.LessOrEqual(t, len(r.JWT), MaxJWTBytes)
		}
	})
}

// FuzzDecodeConfiguration makes sure that nothing panics, and that a request means the same after a round trip.
func FuzzDecodeConfiguration(f *testing.F) {
	for _, v := range loadVectors(f) {
		if v.From == "client" {
			f.Add(v.bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		request, err := DecodeConfiguration(body)
		if err != nil {
			checkRefusal(t, err)
			require.Nil(t, request)
			return
		}
		require.True(t, json.Valid(body))
		wire := appendConfigurationRequest(request)
		if len(wire) > MaxFrameBytes {
			return // control characters may take six bytes where they took two
		}
		again, err := DecodeConfiguration(wire)
		require.Nil(t, err)
		require.Equal(t, request, again)
	})
}

// FuzzPeekSeq makes sure that a seq found in a head is that of the whole.
func FuzzPeekSeq(f *testing.F) {
	f.Add([]byte(`{"type":"stats","seq":17,"at":1}`), 26)
	f.Add([]byte(`{"type":"stats","seq":17,"at":1}`), 23)
	f.Fuzz(func(t *testing.T, msg []byte, cut int) {
		if cut < 0 || cut > len(msg) {
			return
		}
		if seq := PeekSeq(msg[:cut]); seq != 0 {
			require.Equal(t, PeekSeq(msg), seq)
		}
	})
}
