package relay

import (
	"sync/atomic"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

// Outcome is that of checking a request's credential.
type Outcome string

// The outcomes of checks of credentials.
const (
	Accepted  Outcome = "accepted"
	Disabled  Outcome = "disabled"   // the kind is off
	Expired   Outcome = "expired"    //
	Malformed Outcome = "malformed"  // no username of ours, or another realm
	OtherUser Outcome = "other_user" // the allocation is of another user
	Replayed  Outcome = "replayed"   // the request made an allocation before
	Wrong     Outcome = "wrong"      // the integrity does not match: another secret, or changed on the way
)

// Refusal is why an authenticated allocation was refused.
type Refusal string

// The reasons of refused allocations.
const (
	RefusedAllocations     Refusal = "allocations"
	RefusedBytes           Refusal = "bytes"
	RefusedPorts           Refusal = "ports"       // no port is free
	RefusedUnsupported     Refusal = "unsupported" // EVEN-PORT, or a relay for TCP
	RefusedUserAllocations Refusal = "user_allocations"
	RefusedUserBytes       Refusal = "user_bytes"
	RefusedUsers           Refusal = "users"
)

// Drop is why a packet was dropped.
type Drop string

// The reasons of dropped packets.
const (
	DropAddressRate Drop = "address_rate" // too many requests of an address without an allocation
	DropBytes       Drop = "bytes"        // the last packet of a user's or the server's hour
	DropForm        Drop = "form"         // neither a STUN message nor data of a channel
	DropNoRelay     Drop = "no_allocation"
	DropPeer        Drop = "peer" // to or from an address that is barred
	DropRate        Drop = "rate" // the bytes a second of all
	DropRequestRate Drop = "request_rate"
	DropUserRate    Drop = "user_rate"
)

// End is why an allocation ended.
type End string

// The reasons of ended allocations.
const (
	EndBytes    End = "bytes"
	EndClient   End = "client" // deleted, expired without a refresh, or its connection ended
	EndLifetime End = "lifetime"
	EndStop     End = "stop" // of the server
)

// Transport is between a client and the server.
type Transport string

// The transports.
const (
	UDP Transport = "udp"
	TCP Transport = "tcp"
	TLS Transport = "tls"
)

// Direction is that of relayed bytes.
type Direction string

// The directions.
const (
	Received Direction = "received" // from peers
	Sent     Direction = "sent"     // to peers
)

// Flow is a direction of a kind.
type Flow struct {
	Kind      turnrest.Kind
	Direction Direction
}

// Made is what an allocation was made with.
type Made struct {
	Kind      turnrest.Kind
	Transport Transport
}

// Scope is whose limit refused a connection.
type Scope string

// The scopes.
const (
	ScopeAddress Scope = "address"
	ScopeAll     Scope = "all"
)

// Counter counts by the values of a fixed set, which begin at 0.
type Counter[K comparable] map[K]*atomic.Int64

func newCounter[K comparable](keys ...K) Counter[K] {
	c := make(Counter[K], len(keys))
	for _, key := range keys {
		c[key] = new(atomic.Int64)
	}
	return c
}

func (c Counter[K]) add(key K, n int) { c[key].Add(int64(n)) }

// Counts are those of a server since its start.
type Counts struct {
	Authentications Counter[Outcome]
	Allocations     Counter[Made]
	Refused         Counter[Refusal]
	Ended           Counter[End]
	Dropped         Counter[Drop]
	Connections     Counter[Scope] // refused ones
	Permissions     atomic.Int64   // refused ones, channels included
	Bytes           Counter[Flow]
}

// NewCounts returns counts at 0.
func NewCounts() *Counts {
	kinds := []turnrest.Kind{turnrest.Test, turnrest.Call}
	var flows []Flow
	var made []Made
	for _, kind := range kinds {
		flows = append(flows, Flow{kind, Received}, Flow{kind, Sent})
		made = append(made, Made{kind, UDP}, Made{kind, TCP}, Made{kind, TLS})
	}
	return &Counts{
		Authentications: newCounter(Accepted, Disabled, Expired, Malformed, OtherUser, Replayed, Wrong),
		Allocations:     newCounter(made...),
		Refused: newCounter(RefusedAllocations, RefusedBytes, RefusedPorts, RefusedUnsupported, RefusedUserAllocations,
			RefusedUserBytes, RefusedUsers),
		Ended:       newCounter(EndBytes, EndClient, EndLifetime, EndStop),
		Dropped:     newCounter(DropAddressRate, DropBytes, DropForm, DropNoRelay, DropPeer, DropRate, DropRequestRate, DropUserRate),
		Connections: newCounter(ScopeAddress, ScopeAll),
		Bytes:       newCounter(flows...),
	}
}
