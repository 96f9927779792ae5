package protocol

import (
	"encoding/json"
	"fmt"
)

// Welcome answers a hello (section 4.1).
type Welcome struct {
	Version         int
	At              int64
	Acked           uint64
	StatsIntervalMs int
	WindowFrames    int
	ConferenceURL   string    // template, left out when empty
	LabelsMOS       []float64 // template; omitted if empty
}

// ScramReply answers a ScramFirst (section 3.1).
type ScramReply struct{ Scram, State string }

// TokenReply answers a ScramFinal or a JWTRequest. Scram is empty for the latter.
type TokenReply struct {
	Scram       string
	Token       string
	Session     string // ID for a session that begins with this token (section 2)
	ExpiresInMs int64
	At          int64
}

// Ack acknowledges all numbers up to Seq (section 4.7).
type Ack struct {
	Seq uint64
	At  int64
}

// Nack refuses one frame permanently (section 4.7).
type Nack struct{ Error }

// SlowDown asks the client to wait (section 4.8). StatsIntervalMs is 0 if absent.
type SlowDown struct {
	RetryAfterMs    int64
	StatsIntervalMs int
}

// Refusal is the body of a refused POST (section 3.4).
type Refusal struct {
	Error
	Retry        bool
	RetryAfterMs int64
}

// serverMessage has the members of all server messages.
type serverMessage struct {
	Type            Type    `json:"type"`
	Version         int     `json:"version"`
	At              int64   `json:"at"`
	Acked           uint64  `json:"acked"`
	Seq             uint64  `json:"seq"`
	StatsIntervalMs int     `json:"statsIntervalMs"`
	WindowFrames    int     `json:"windowFrames"`
	ConferenceURL   string  `json:"conferenceURL"`
	Code            Code    `json:"code"`
	CSError         CSError `json:"csError"`
	Field           string  `json:"field"`
	Limit           int     `json:"limit"`
	Message         string  `json:"message"`
	Retry           bool    `json:"retry"`
	RetryAfterMs    int64   `json:"retryAfterMs"`
	Scram           string  `json:"scram"`
	State           string  `json:"state"`
	Token           string  `json:"token"`
	Session         string  `json:"session"`
	ExpiresInMs     int64   `json:"expiresInMs"`
	Labels          struct {
		MOS []float64 `json:"mos"`
	} `json:"labels"`

	DefaultConfig     CallConfig        `json:"defaultConfig"`
	RecommendedConfig RecommendedConfig `json:"recommendedConfig"`
	ICEServers        []ICEServer       `json:"iceServers"`
	PreCall           *TestSettings     `json:"preCall"`
}

func (m *serverMessage) refusal() Error {
	return Error{Code: m.Code, Field: m.Field, Limit: m.Limit, Message: m.Message, Seq: m.Seq}
}

// DecodeServer reads a message of a server, for clients in Go and for tests. It returns *Welcome,
// *Ack, *Nack, *SlowDown, *Bye, *ScramReply, *TokenReply, *Configuration or *Refusal. It trusts the
// server: it checks types, not limits.
func DecodeServer(msg []byte) (any, error) {
	var m serverMessage
	if err := json.Unmarshal(msg, &m); err != nil {
		return nil, fmt.Errorf("server message: %w", err)
	}
	switch m.Type {
	case TypeWelcome:
		return &Welcome{
			Version: m.Version, At: m.At, Acked: m.Acked, StatsIntervalMs: m.StatsIntervalMs,
			WindowFrames: m.WindowFrames, ConferenceURL: m.ConferenceURL, LabelsMOS: m.Labels.MOS,
		}, nil
	case TypeAck:
		return &Ack{m.Seq, m.At}, nil
	case TypeNack:
		return &Nack{m.refusal()}, nil
	case TypeSlowDown:
		return &SlowDown{m.RetryAfterMs, m.StatsIntervalMs}, nil
	case TypeBye:
		return &Bye{m.Code, m.CSError, m.Message, m.Retry, m.RetryAfterMs}, nil
	case TypeScramFirst:
		return &ScramReply{m.Scram, m.State}, nil
	case TypeToken:
		return &TokenReply{m.Scram, m.Token, m.Session, m.ExpiresInMs, m.At}, nil
	case TypeConfiguration:
		return &Configuration{m.At, m.DefaultConfig, m.RecommendedConfig, m.ICEServers, m.ExpiresInMs, m.PreCall}, nil
	case TypeError:
		return &Refusal{m.refusal(), m.Retry, m.RetryAfterMs}, nil
	}
	return nil, fmt.Errorf("server message: unknown type %q", m.Type)
}
