package budget

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A full account is refused alone, by its lowest level, and what it held is free after its end.
func TestTheLowestFullLevelRefuses(t *testing.T) {
	l := NewLedger(Limits{Total: 4000, User: 1000, Session: 600, Connection: 400})
	s := l.Open("app", "u", "s1")
	c1, c2 := s.Connect(), s.Connect()
	require.Equal(t, Connection, c1.Take(401))
	require.Equal(t, None, c1.Take(400))
	require.Equal(t, Session, c2.Take(201))
	require.Equal(t, None, c2.Take(200))
	s2 := l.Open("app", "u", "s2")
	c3 := s2.Connect()
	require.Equal(t, None, c3.Take(400))
	s3 := l.Open("app", "u", "s3")
	c4 := s3.Connect()
	require.Equal(t, User, c4.Take(1))
	other := l.Open("app", "v", "s")
	require.Equal(t, None, other.Take(1), "another user has room")
	require.EqualValues(t, 1001, l.Used())
	require.EqualValues(t, 1, l.Refused(User))
	for _, a := range []*Account{c1, c2, c3, c4, s, s2, s3, other} {
		a.Close()
	}
	require.Zero(t, l.Used())
	require.Zero(t, l.Accounts())
}

// Applications share the whole: each that floods leaves room to the next one.
func TestApplicationsLeaveRoom(t *testing.T) {
	l := NewLedger(Limits{Total: 28_000})
	fill := func(app string, kept bool) (n int64) {
		a := l.Open(app, "u", "s")
		take := a.Take
		if kept {
			take = a.Keep
		}
		for take(1) == None {
			n++
		}
		return n
	}
	require.EqualValues(t, 21_000, fill("one", false))
	require.EqualValues(t, 5250, fill("two", false))
	require.EqualValues(t, 1312, fill("three", false))
	l = NewLedger(Limits{Total: 28_000})
	require.EqualValues(t, 10_500, fill("one", true), "kept bytes have half")
	require.EqualValues(t, 10_500, fill("one", false), "and frames the rest")
}

// Addresses of strangers share the limit of a user in the same way. The limit of a session holds for each, and users
// of an application are not affected.
func TestAddressesLeaveRoom(t *testing.T) {
	l := NewLedger(Limits{Total: 1 << 20, User: 32_000, Session: 16_000, Connection: 15_000})
	var open []*Account
	fill := func(address string) (n int64, full Level) {
		of := l.OpenAddress(address)
		for range 2 {
			a := of.Connect()
			open = append(open, a)
			for full = a.Take(1); full == None; full = a.Take(1) {
				n++
			}
		}
		open = append(open, of)
		return n, full
	}
	for _, want := range []int64{16_000, 12_000, 3000, 750} {
		n, full := fill(strconv.FormatInt(want, 10))
		require.Equal(t, want, n)
		require.Equal(t, Address, full)
	}
	require.EqualValues(t, 7, l.Refused(Address), "the first connection of the first address was full before")
	require.EqualValues(t, 1, l.Refused(Connection))
	user := l.Open("app", "", "")
	require.Equal(t, None, user.Take(16_000))
	for _, a := range append(open, user) {
		a.Close()
	}
	require.Zero(t, l.Used())
	require.Zero(t, l.Accounts())
}

// Whatever is charged and given back: no account is above its limit, every account is the sum of those below it,
// nothing is left in the end, and an application that holds nothing gets its first bytes.
func TestLedgerProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{Total: 1 << 16, User: 1 << 13, Session: 1 << 12, Connection: 1 << 11}
		l := NewLedger(limits)
		var open []*Account
		held := map[*Account][2]int64{}
		pick := func() *Account { return rapid.SampledFrom(open).Draw(t, "account") }
		t.Repeat(map[string]func(*rapid.T){
			"connect": func(t *rapid.T) {
				n := func(what string) string { return strconv.Itoa(rapid.IntRange(0, 4).Draw(t, what)) }
				session := l.Open("a"+n("app"), n("user"), n("session"))
				if rapid.Bool().Draw(t, "stranger") {
					session.Close()
					session = l.OpenAddress(n("address"))
				}
				open = append(open, session.Connect())
				session.Close()
			},
			"take": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				a, n := pick(), rapid.Int64Range(0, 1<<12).Draw(t, "n")
				kept := rapid.Bool().Draw(t, "kept")
				h := held[a]
				if kept && a.Keep(n) == None {
					h[1] += n
				} else if !kept && a.Take(n) == None {
					h[0] += n
				}
				held[a] = h
			},
			"give": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				a := pick()
				a.Give(held[a][0])
				held[a] = [2]int64{0, held[a][1]}
			},
			"close": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				open[i].Close()
				delete(held, open[i])
				open = append(open[:i], open[i+1:]...)
			},
			"": func(t *rapid.T) {
				var sum int64
				for a, h := range held {
					require.Equal(t, h[0]+h[1], a.used)
					sum += h[0] + h[1]
					for b := a; b != nil; b = b.parent {
						if limit := limits.limitOf(b.level); limit > 0 {
							require.LessOrEqual(t, b.used, limit)
							require.LessOrEqual(t, b.kept, limit/2)
						}
					}
				}
				require.Equal(t, sum, l.Used())
				fresh := l.Open("fresh", "u", "s")
				require.Equal(t, None, fresh.Take(1))
				require.Equal(t, None, fresh.Keep(1))
				fresh.Close()
			},
		})
		for _, a := range open {
			a.Close()
		}
		require.Zero(t, l.Used())
		require.Zero(t, l.Accounts())
	})
}
