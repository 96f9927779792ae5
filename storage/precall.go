package storage

import (
	"fmt"
	"math"
	"time"
)

// MaxPreCallBytes bounds the encoded Result of a PreCall. The protocol's limits are narrower.
const MaxPreCallBytes = 128 << 10

// PreCall is one pre-call test. It belongs to no conference. Its identity is (Session.AppID,
// Session.ID, Seq, Index).
type PreCall struct {
	Session    Session // as described when the test was made
	Seq        uint64  // 1 to 2^63-1
	Index      int
	At         time.Time // end of the test, client's corrected clock, in ms
	ObservedAt time.Time // arrival at the receiver, in ms
	Result     PreCallResult
}

// PreCallResult is the result of a pre-call test. nil means that a value was not measured.
type PreCallResult struct {
	Trigger           string            `json:"trigger"`               // initialize, makePrecallTest or startPrecallTests
	Status            string            `json:"status"`                // success or failure
	Reason            string            `json:"reason,omitempty"`      // reason of the failure or the interruption
	Interrupted       bool              `json:"interrupted"`           // a call or the application stopped the test: the results are partial
	MediaConnectivity bool              `json:"mediaConnectivity"`     // media can be sent through at least one server
	RTTMs             *float64          `json:"rttMs"`                 // round-trip time; null: no result
	LossFraction      *float64          `json:"lossFraction"`          // loss in one direction, 0 to 1; null: no result
	ThroughputBps     *float64          `json:"throughputBps"`         // throughput in bit/s; null: no result
	NetworkType       string            `json:"networkType,omitempty"` // wifi, ethernet, cellular, …; absent if the browser does not report it
	BytesSent         int64             `json:"bytesSent"`             // bytes that the test sent; 0: not known
	DurationMs        float64           `json:"durationMs"`            // length of the test
	Providers         []PreCallProvider `json:"providers"`             // results by provider, best first; null: no server was tested
}

// PreCallProvider is the result of one provider. nil means that a value was not measured.
type PreCallProvider struct {
	Provider      string             `json:"provider"`         // label of the server, otherwise the host of its first URL
	Acceptable    bool               `json:"acceptable"`       // the result is within the limits of docs/library.md
	Reason        string             `json:"reason,omitempty"` // why it is not: a word of docs/library.md; absent if it is, or if no reason was given
	RTTMs         *float64           `json:"rttMs"`            // round-trip time; null: no result
	JitterMs      *float64           `json:"jitterMs"`         // jitter of the round-trip time; null: no result
	LossFraction  *float64           `json:"lossFraction"`     // loss in one direction, 0 to 1; null: no result
	ThroughputBps *float64           `json:"throughputBps"`    // throughput in bit/s; null: no result
	Transports    []PreCallTransport `json:"transports"`       // results by relay protocol, each once
}

// PreCallTransport is the result of one relay protocol of a provider.
type PreCallTransport struct {
	RelayProtocol string   `json:"relayProtocol"`   // udp, tcp or tls
	Connected     bool     `json:"connected"`       // the relay was connected
	ConnectMs     *float64 `json:"connectMs"`       // time until it was connected; null: it was not
	Error         string   `json:"error,omitempty"` // why it was not connected
}

// Failed reports whether the test counts in a share of failed tests, and whether it failed: for one provider, or
// as a whole if provider is empty. A test that was interrupted, or that tested no server, does not count. A
// provider failed if its result is not acceptable.
func (r *PreCallResult) Failed(provider string) (counts, failed bool) {
	if r.Interrupted || len(r.Providers) == 0 {
		return false, false
	}
	if provider == "" {
		return true, r.Status == "failure"
	}
	for i := range r.Providers {
		if r.Providers[i].Provider == provider {
			return true, !r.Providers[i].Acceptable
		}
	}
	return false, false
}

// Check returns an error that wraps ErrInvalid if an engine must not store p.
func (p *PreCall) Check() error {
	switch {
	case p.Session.AppID == "" || len(p.Session.AppID) > MaxIDBytes:
		return fmt.Errorf("%w: the AppID of a pre-call test has 1 to %d bytes (got %d)", ErrInvalid, MaxIDBytes, len(p.Session.AppID))
	case p.Seq == 0 || p.Seq > math.MaxInt64:
		return fmt.Errorf("%w: seq %d of a pre-call test is not in 1 to 2^63-1", ErrInvalid, p.Seq)
	case p.Index < 0 || p.Index > math.MaxInt32:
		return fmt.Errorf("%w: index %d of a pre-call test is not in 0 to 2^31-1", ErrInvalid, p.Index)
	case p.At.UnixMilli() < 0 || p.At.UTC().Year() > 9999:
		return fmt.Errorf("%w: the time of a pre-call test is not in 1970 to 9999", ErrInvalid)
	}
	if _, err := ParseSessionID(p.Session.ID); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// PreCallQuery selects pre-call tests that fulfil all conditions. Zero values are no condition. Texts are
// compared byte by byte.
type PreCallQuery struct {
	AppID              string
	From, To           time.Time // by At, in [From, To)
	UserID             string    // name or alias of the session's user
	AliasesOnly        bool      // real names, other than the alias, find nothing
	SiteID             string
	ApplicationVersion string
	AdditionalID       string // of any key
	AdditionalKey      string // narrows AdditionalID to one key
	Provider           string // that was tested
	Status             string // success or failure
	OnlyFailed         bool   // only tests that failed: of Provider, or as a whole if that is empty (PreCallResult.Failed)

	Before Cursor // continue after this test; zero: from the newest
	Limit  int    // 1 to 200; 0 means 50
}

// PreCallPage is a page of tests, newest first. Next is zero on the last page.
type PreCallPage struct {
	PreCalls []PreCall
	Cursors  []Cursor // of each test
	Next     Cursor
}
