package relay

import (
	"encoding/binary"
	"net/netip"

	"github.com/pion/stun/v3"
)

// Sizes and types of STUN and TURN, RFC 8489 and RFC 8656.
const (
	headerBytes        = 20
	channelHeaderBytes = 4
	attributeBytes     = 4
	cookie             = 0x2112A442

	methodAllocate    = 0x003
	methodChannelBind = 0x009

	attrUsername           = 0x0006
	attrIntegrity          = 0x0008
	attrChannelNumber      = 0x000C
	attrLifetime           = 0x000D
	attrPeer               = 0x0012
	attrRealm              = 0x0014
	attrNonce              = 0x0015
	attrEvenPort           = 0x0018
	attrRequestedTransport = 0x0019
	attrReservationToken   = 0x0022

	integrityBytes = 20
	transportUDP   = 17
)

// lengths are the limits of attributes that the library reads.
var lengths = map[uint16][2]int{
	attrUsername: {1, 513}, attrIntegrity: {integrityBytes, integrityBytes}, attrChannelNumber: {4, 4}, attrLifetime: {4, 4}, attrPeer: {8, 20},
	attrRealm: {1, 763}, attrNonce: {1, 763}, attrEvenPort: {1, 1}, attrRequestedTransport: {4, 4}, attrReservationToken: {8, 8},
}

// message is what an endpoint reads of a STUN message before the library handles it.
type message struct {
	method       uint16
	integrity    [integrityBytes]byte
	hasIntegrity bool
	nonce        string
	evenPort     bool
	transport    byte           // requested; 0: none
	channel      uint16         // 0: none
	peer         netip.AddrPort // the first one
}

// isChannelData reports whether a packet is data of a channel, complete.
func isChannelData(p []byte) bool {
	return len(p) >= channelHeaderBytes && p[0]&0xC0 == 0x40 && int(binary.BigEndian.Uint16(p[2:]))+channelHeaderBytes <= len(p)
}

// isError reports whether a packet is the error response of a request.
func isError(p []byte) bool { return len(p) >= headerBytes && p[0]&0xC1 == 1 && p[1]&0x10 == 0x10 }

// refuse returns the error response with another code, and with what a client needs to try again.
func refuse(response []byte, code stun.ErrorCode, realm, nonce string) ([]byte, error) {
	var m stun.Message
	if err := stun.Decode(response, &m); err != nil {
		return nil, err
	}
	answer, err := stun.Build(stun.NewTransactionIDSetter(m.TransactionID), m.Type, code, stun.NewRealm(realm), stun.NewNonce(nonce))
	if err != nil {
		return nil, err
	}
	return answer.Raw, nil
}

// parse reads a STUN message. It reports false where the form is wrong: the library reads attributes
// whose length it does not check.
func parse(p []byte) (m message, ok bool) {
	if len(p) < headerBytes || p[0]&0xC0 != 0 || binary.BigEndian.Uint32(p[4:]) != cookie {
		return m, false
	}
	if int(binary.BigEndian.Uint16(p[2:])) != len(p)-headerBytes || len(p)%4 != 0 {
		return m, false
	}
	kind := binary.BigEndian.Uint16(p)
	m.method = kind&0xF | kind&0xE0>>1 | kind&0x3E00>>2
	for rest := p[headerBytes:]; len(rest) > 0; {
		if len(rest) < attributeBytes {
			return m, false
		}
		id, n := binary.BigEndian.Uint16(rest), int(binary.BigEndian.Uint16(rest[2:]))
		whole := attributeBytes + (n+3)&^3
		if whole > len(rest) || !m.read(id, rest[attributeBytes:attributeBytes+n], p[4:headerBytes]) {
			return m, false
		}
		rest = rest[whole:]
	}
	return m, true
}

// read takes an attribute, and reports whether its value has the right form. pad is the cookie and the
// transaction ID.
func (m *message) read(id uint16, value, pad []byte) bool {
	if limit, ok := lengths[id]; ok && (len(value) < limit[0] || len(value) > limit[1]) {
		return false
	}
	switch id {
	case attrIntegrity:
		m.hasIntegrity = true
		copy(m.integrity[:], value)
	case attrNonce:
		m.nonce = string(value)
	case attrEvenPort:
		m.evenPort = true
	case attrRequestedTransport:
		m.transport = value[0]
	case attrChannelNumber:
		m.channel = binary.BigEndian.Uint16(value)
	case attrPeer:
		return m.readPeer(value, pad)
	}
	return true
}

// readPeer reads an XOR-PEER-ADDRESS.
func (m *message) readPeer(value, pad []byte) bool {
	family := binary.BigEndian.Uint16(value)
	if family == 1 && len(value) != 8 || family == 2 && len(value) != 20 || family != 1 && family != 2 {
		return false
	}
	plain := make([]byte, len(value)-4)
	for i := range plain {
		plain[i] = value[4+i] ^ pad[i]
	}
	addr, ok := netip.AddrFromSlice(plain)
	if !m.peer.IsValid() {
		m.peer = netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(value[2:])^cookie>>16)
	}
	return ok
}
