package protocol

// AppendWelcome appends a welcome (section 4.1).
func AppendWelcome(dst []byte, w Welcome) []byte { return dst }

// AppendAck appends an ack (section 4.7).
func AppendAck(dst []byte, seq uint64, at int64) []byte { return dst }

// AppendNack appends a nack (section 4.7).
func AppendNack(dst []byte, e *Error) []byte { return dst }

// AppendSlowDown appends a slow-down (section 4.8); statsIntervalMs 0 leaves it out.
func AppendSlowDown(dst []byte, retryAfterMs int64, statsIntervalMs int) []byte { return dst }

// AppendBye appends a bye (section 4.9).
func AppendBye(dst []byte, b Bye) []byte { return dst }

// AppendError appends the body of a refusal over HTTP (section 3.4); retryAfterMs 0
// leaves it out.
func AppendError(dst []byte, e *Error, retryAfterMs int64) []byte { return dst }

// AppendScramReply appends the answer to a ScramFirst (section 3.1).
func AppendScramReply(dst []byte, r ScramReply) []byte { return dst }

// AppendTokenReply appends the answer that carries a session token (section 3.1).
func AppendTokenReply(dst []byte, r TokenReply) []byte { return dst }
