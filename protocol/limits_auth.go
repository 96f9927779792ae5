package protocol

// Limits of section 3 and of the decoder, beside those of limits.go.
const (
	MaxTokenBytes  = 8 << 10  // a session token
	MaxScramBytes  = 2 << 10  // a SCRAM message
	MaxStateBytes  = 8 << 10  // the sealed state between two POSTs
	MaxJWTBytes    = 16 << 10 // a third-party token
	MaxDepth       = 32       // nested arrays and objects in one message
	MaxVersions    = 16       // versions that a hello may list
	MaxCodeBytes   = 64       // code and csError of a client's bye
	MaxReasonBytes = 1 << 10  // message of a client's bye
)
