package protocol

import "time"

// Limits of version 1. Names with the suffix Bytes count UTF-8 bytes, names with the suffix Chars
// Unicode code points.
const (
	MaxFrameBytes         = 64 << 10 // one WebSocket message or one POST body (section 4)
	MaxDiscardBytes       = 16 << 20 // a longer message ends the connection (section 9)
	MaxRefusals           = 100      // refused frames on one connection before bye
	MaxSeq                = 1<<53 - 1
	MaxFabric             = 1<<31 - 1
	MaxFabrics            = 4096 // announced on one connection
	MaxColumnSets         = 32
	MaxColumns            = 64
	MaxRows               = 512
	MaxSeqGaps            = 64 // gaps in the numbers accepted on one connection
	MaxIDBytes            = 256
	MaxUserNameChars      = 128
	MaxLibraryBytes       = 32
	MaxUserAgentBytes     = 512
	MaxAppVersionChars    = 30
	MaxSiteIDBytes        = 256
	MaxAdditionalBytes    = 256
	MaxUsageLabelBytes    = 20
	MaxEventNameBytes     = 64
	MaxEventDataBytes     = 4 << 10
	MaxErrorNameBytes     = 128
	MaxErrorTextBytes     = 1 << 10
	MaxErrorWordBytes     = 128       // code and constraintName of an error
	MaxStackBytes         = 4 << 10   // of an error
	MaxDetailsBytes       = 2 << 10   // of an error
	MaxSDPBytes           = 50_000    // of each SDP in an error frame
	MaxWholeSDPBytes      = 128 << 10 // of each SDP in sdp frames
	MaxCommentBytes       = 4 << 10
	MaxLogTextBytes       = 20 << 10
	MaxProviders          = 32  // of a pre-call test
	MaxProviderBytes      = 128 // name of a provider
	MaxNetworkBytes       = 64  // networkType of a pre-call test
	MaxPreCallReasonBytes = 64  // reason of a provider
	MaxRelayErrorBytes    = 256 // error of a transport
	MaxValueBytes         = 64  // a string in a stats row
	MinIntervalMs         = 1
	MaxIntervalMs         = 600_000
	WindowFrames          = 256     // frames that a client may have unacknowledged
	MaxUnackedBytes       = 1 << 20 // bytes of these frames

	MinStatsInterval = 2 * time.Second // section 4.1: how often to measure
	MaxStatsInterval = 20 * time.Second

	HelloTimeout        = 10 * time.Second
	SilenceTimeout      = 30 * time.Second // section 10
	TokenLifetime       = 2 * time.Hour
	SealedStateLifetime = 30 * time.Second
	MaxPast             = 24 * time.Hour   // section 5
	MaxFuture           = 60 * time.Second // section 5
	MinScramIterations  = 4096
)
