package relay

import (
	"net/netip"
	"testing"

	"github.com/pion/stun/v3"
	"github.com/stretchr/testify/require"
)

func TestParseReadsWhatTheServerNeeds(t *testing.T) {
	m := stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodChannelBind, stun.ClassRequest), channelNumber(0x4001),
		peer("::ffff:10.0.0.1", 5), peer("9.9.9.9", 6), stun.NewLongTermIntegrity("a", "b", "c"))
	got, ok := parse(m.Raw)
	require.True(t, ok)
	require.Equal(t, uint16(methodChannelBind), got.method)
	require.Equal(t, uint16(0x4001), got.channel)
	require.Equal(t, netip.MustParseAddrPort("10.0.0.1:5"), got.peer)
	require.True(t, got.hasIntegrity)
	integrity, err := m.Get(stun.AttrMessageIntegrity)
	require.NoError(t, err)
	require.Equal(t, integrity, got.integrity[:])
}

func TestParseRefusesAttributesOfTheWrongLength(t *testing.T) {
	for _, bad := range []stun.RawAttribute{
		{Type: stun.AttrXORPeerAddress},
		{Type: stun.AttrXORPeerAddress, Value: []byte{0, 1, 0, 0}},
		{Type: stun.AttrXORPeerAddress, Value: make([]byte, 8)},
		{Type: stun.AttrXORPeerAddress, Value: append([]byte{0, 2}, make([]byte, 6)...)},
		{Type: stun.AttrXORPeerAddress, Value: append([]byte{0, 1}, make([]byte, 18)...)},
		{Type: stun.AttrLifetime, Value: []byte{1}},
		{Type: stun.AttrChannelNumber},
		{Type: stun.AttrRequestedTransport},
		{Type: stun.AttrMessageIntegrity, Value: make([]byte, 19)},
		{Type: stun.AttrUsername, Value: make([]byte, 514)},
		{Type: stun.AttrEvenPort},
		{Type: stun.AttrReservationToken, Value: make([]byte, 7)},
	} {
		_, ok := parse(stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodAllocate, stun.ClassRequest), bad).Raw)
		require.False(t, ok, bad.Type)
	}
}

// What passes is decoded by the library, to the same peer.
func FuzzParse(f *testing.F) {
	f.Add(stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodChannelBind, stun.ClassRequest), channelNumber(0x4001), peer("9.9.9.9", 6)).Raw)
	f.Add(stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodCreatePermission, stun.ClassRequest), peer("::ffff:10.0.0.1", 6), stun.NewUsername("a")).Raw)
	f.Fuzz(func(t *testing.T, p []byte) {
		got, ok := parse(p)
		if !ok {
			return
		}
		m := &stun.Message{Raw: append([]byte{}, p...)}
		require.NoError(t, m.Decode())
		require.Equal(t, uint16(m.Type.Method), got.method)
		var at stun.XORMappedAddress
		err := at.GetFromAs(m, stun.AttrXORPeerAddress)
		require.Equal(t, err == nil, got.peer.IsValid())
		if err == nil {
			addr, _ := netip.AddrFromSlice(at.IP)
			require.Equal(t, netip.AddrPortFrom(addr.Unmap(), uint16(at.Port)), got.peer)
		}
	})
}
