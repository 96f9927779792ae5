package protocol

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vector is one file of testdata; its README says what the members mean.
type vector struct {
	Description string            `json:"description"`
	From        string            `json:"from"`
	Endpoint    string            `json:"endpoint"`
	Context     []json.RawMessage `json:"context"`
	Message     json.RawMessage   `json:"message"`
	Raw         json.RawMessage   `json:"raw"`
	Expect      json.RawMessage   `json:"expect"`
	Error       *struct {
		Code  Code   `json:"code"`
		Field string `json:"field"`
		Limit int    `json:"limit"`
		Seq   uint64 `json:"seq"`
	} `json:"error"`
}

func loadVectors(tb testing.TB) map[string]vector {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(tb, err)
	vectors := make(map[string]vector, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		text, err := os.ReadFile(file)
		require.NoError(tb, err)
		var v vector
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.DisallowUnknownFields()
		require.NoError(tb, dec.Decode(&v), name)
		good, fail := strings.HasPrefix(name, "good_"), strings.HasPrefix(name, "fail_")
		require.True(tb, good || fail, "%s: the name must start with good_ or fail_", name)
		require.Equal(tb, fail, v.Error != nil, "%s: error belongs to fail_ and only there", name)
		require.NotEmpty(tb, v.Description, name)
		require.Contains(tb, []string{"client", "server"}, v.From, name)
		require.Contains(tb, []string{"", "auth", "configuration"}, v.Endpoint, name)
		require.NotEqual(tb, v.Message == nil, v.Raw == nil, "%s: either message or raw", name)
		vectors[name] = v
	}
	return vectors
}

// bytes returns what is on the wire.
func (v vector) bytes(tb testing.TB) []byte {
	tb.Helper()
	if v.Raw == nil {
		return v.Message
	}
	var parts []json.RawMessage
	if json.Unmarshal(v.Raw, &parts) != nil {
		parts = []json.RawMessage{v.Raw}
	}
	var wire []byte
	for _, part := range parts {
		var text string
		if json.Unmarshal(part, &text) == nil {
			wire = append(wire, text...)
			continue
		}
		var p struct {
			Text   string `json:"text"`
			Times  int    `json:"times"`
			Base64 string `json:"base64"`
		}
		require.NoError(tb, json.Unmarshal(part, &p))
		wire = append(wire, strings.Repeat(p.Text, p.Times)...)
		b, err := base64.StdEncoding.DecodeString(p.Base64)
		require.NoError(tb, err)
		wire = append(wire, b...)
	}
	return wire
}

// decoder returns one that has the vector's context.
func (v vector) decoder(tb testing.TB) *Decoder {
	tb.Helper()
	d := NewDecoder()
	for _, msg := range v.Context {
		if _, err := d.Decode(msg); err != nil {
			require.FailNow(tb, "context refused", "%s: %v", msg, err)
		}
	}
	return d
}

func TestVectors(t *testing.T) {
	vectors := loadVectors(t)
	require.NotEmpty(t, vectors)
	for name, v := range vectors {
		t.Run(name, func(t *testing.T) {
			wire := v.bytes(t)
			switch {
			case v.From == "server":
				checkServerVector(t, v, wire)
			case v.Endpoint == "auth":
				request, err := DecodeAuth(wire)
				checkVerdict(t, v, err)
				require.Equal(t, err != nil, request == nil)
			case v.Endpoint == "configuration":
				checkConfigurationVector(t, v, wire)
			default:
				checkFrameVector(t, v, wire)
			}
		})
	}
}

func checkVerdict(t *testing.T, v vector, err *Error) {
	t.Helper()
	if v.Error == nil {
		if err != nil {
			require.FailNow(t, "refused", "%v", err)
		}
		return
	}
	require.NotNil(t, err, "accepted")
	require.Equal(t, v.Error.Code, err.Code, err.Error())
	require.Equal(t, v.Error.Field, err.Field, err.Error())
	require.NotEmpty(t, err.Message)
	if v.Error.Limit != 0 {
		require.Equal(t, v.Error.Limit, err.Limit)
	}
	require.Equal(t, v.Error.Seq, err.Seq, "seq")
}

func checkFrameVector(t *testing.T, v vector, wire []byte) {
	t.Helper()
	d := v.decoder(t)
	frame, err := d.Decode(wire)
	checkVerdict(t, v, err)
	if err != nil {
		require.Nil(t, frame)
		return
	}
	canonical := appendFrame(frame)
	if v.Expect != nil {
		require.JSONEq(t, string(v.Expect), string(canonical))
	}
	if stats, ok := frame.(*Stats); ok {
		checkStatsOracle(t, v.decoder(t), wire, stats)
		return
	}
	again, err := v.decoder(t).Decode(canonical)
	require.Nil(t, err)
	require.Equal(t, frame, again, "what was decoded, encoded and decoded again")
}

func checkConfigurationVector(t *testing.T, v vector, wire []byte) {
	t.Helper()
	request, err := DecodeConfiguration(wire)
	checkVerdict(t, v, err)
	if err != nil {
		require.Nil(t, request)
		return
	}
	canonical := appendConfigurationRequest(request)
	want := v.Expect
	if want == nil {
		want = wire
	}
	require.JSONEq(t, string(want), string(canonical))
	again, err := DecodeConfiguration(canonical)
	require.Nil(t, err)
	require.Equal(t, request, again)
}

// reencode encodes what DecodeServer returned.
func reencode(message any) []byte {
	switch m := message.(type) {
	case *Welcome:
		return AppendWelcome(nil, *m)
	case *Ack:
		return AppendAck(nil, m.Seq, m.At)
	case *Nack:
		return AppendNack(nil, &m.Error)
	case *SlowDown:
		return AppendSlowDown(nil, m.RetryAfterMs, m.StatsIntervalMs)
	case *Bye:
		return AppendBye(nil, *m)
	case *ScramReply:
		return AppendScramReply(nil, *m)
	case *TokenReply:
		return AppendTokenReply(nil, *m)
	case *Configuration:
		return AppendConfiguration(nil, m)
	case *Refusal:
		return AppendError(nil, &m.Error, m.Retry, m.RetryAfterMs)
	}
	return nil
}

func checkServerVector(t *testing.T, v vector, wire []byte) {
	t.Helper()
	message, err := DecodeServer(wire)
	if v.Error != nil {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	want := v.Expect
	if want == nil {
		want = wire
	}
	require.JSONEq(t, string(want), string(reencode(message)))
}
