package protocol

// Welcome answers a hello (section 4.1).
type Welcome struct {
	Version         int
	At              int64
	Acked           uint64
	StatsIntervalMs int
	WindowFrames    int
	ConferenceURL   string    // template, left out when empty
	LabelsMOS       []float64 // lower bounds of excellent, good, fair, poor
}

// ScramReply answers a ScramFirst (section 3.1).
type ScramReply struct{ Scram, State string }

// TokenReply answers a ScramFinal or a JWTRequest; Scram is empty for the latter.
type TokenReply struct {
	Scram       string
	Token       string
	ExpiresInMs int64
	At          int64
}

// Ack covers every number up to Seq (section 4.7).
type Ack struct {
	Seq uint64
	At  int64
}

// Nack refuses one frame for good (section 4.7).
type Nack struct{ Error }

// SlowDown asks for silence (section 4.8). StatsIntervalMs is 0 where it is absent.
type SlowDown struct {
	RetryAfterMs    int64
	StatsIntervalMs int
}

// Refusal is the body of a refused POST (section 3.4).
type Refusal struct {
	Error
	RetryAfterMs int64
}
