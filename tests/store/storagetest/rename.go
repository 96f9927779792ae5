package storagetest

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// renaming returns a record that gives a session's user a new name.
func renaming(seq uint64, second float64, to string) storage.Record {
	return fabricEvent(seq, second, "userIDChange", fmt.Sprintf(`{"userIDType":"local","newUserID":%q}`, to))
}

func name(both string) storage.Name { return storage.Name{UserID: both, UserAlias: both} }

// renames returns the renames of the participants of the conference at a second, in order
// of their sessions. It requires that the listing and the conference agree.
func (f *fixture) renames(second float64) (out [][]storage.Name) {
	f.t.Helper()
	c := f.conference(second)
	for _, listed := range f.list(storage.Query{AppID: app, ConferenceID: call}).Conferences {
		if listed.Start.Equal(c.Start) {
			require.Equal(f.t, c.Participants, listed.Participants)
		}
	}
	for _, p := range c.Participants {
		out = append(out, p.Renames)
	}
	return out
}

// A local rename applies to its session in its conference only. Renames are in order of their numbers,
// in any order of arrival. Former names find the conference, too.
//
// spec: API-06 DASH-01
func testRenames(f *fixture) {
	t := f.t
	f.append(
		batch(1, activity(1, 0, 0), renaming(9, 1, "ann-3"),
			fabricEvent(10, 2, "userIDChange", `{"userIDType":"remote","newUserID":"bob"}`),
			fabricEvent(11, 2, "userIDChange", `{"userIDType":"local","newUserID":{"userName":"no alias"}}`),
			fabricEvent(12, 2, "userIDChange", `{"userIDType":"local"`),
			fabricEvent(13, 2, "somethingElse", `{"userIDType":"local","newUserID":"eve"}`)),
		batch(2, activity(1, 0, 0)))
	require.Equal(t, [][]storage.Name{{name("ann-3")}, nil}, f.renames(0))

	older := renaming(8, 3, "unused")
	older.Attributes[eventData] = `{"userIDType":"local","newUserID":{"userName":"Ann New","aliasName":"ann-2"}}`
	f.append(batch(1, older))
	now := []storage.Name{{UserID: "Ann New", UserAlias: "ann-2"}, name("ann-3")}
	require.Equal(t, [][]storage.Name{now, nil}, f.renames(0))
	p := f.conference(0).Participants
	require.Equal(t, []storage.Name{name("ann-3"), {UserID: "user 2", UserAlias: "alias 2"}}, []storage.Name{p[0].Name(), p[1].Name()})
	require.Equal(t, "user 1", p[0].Session.UserID, "the session keeps its names")

	f.append(batch(1, older, activity(14, 0, 100)))
	require.Equal(t, [][]storage.Name{now, nil}, f.renames(0), "a duplicate changes nothing")
	require.Equal(t, [][]storage.Name{nil}, f.renames(100), "the same session in the next conference")
	other := renaming(15, 1, "elsewhere")
	other.ConferenceID = "other"
	f.append(batch(1, other))
	require.Equal(t, [][]storage.Name{now, nil}, f.renames(0), "nor does another conference")
	for _, user := range []string{"user 1", "alias 1", "Ann New", "ann-2", "ann-3"} {
		require.Contains(t, starts(f.list(storage.Query{UserID: user, ConferenceID: call})), at(0), user)
	}

	f.pack(3600)
	f.append(batch(1, renaming(20, 2, "late")))
	require.Equal(t, [][]storage.Name{append(now, name("late")), nil}, f.renames(0), "after packing")
}

func starts(p storage.Page) (out []any) {
	for _, c := range p.Conferences {
		out = append(out, c.Start)
	}
	return out
}

// Merged conferences have the renames of both; the newest few are kept.
//
// spec: API-06 CONF-02
func testRenamesMerged(f *fixture) {
	t := f.t
	f.append(batch(1, renaming(30, 0, "second")), batch(2, renaming(1, 0, "zoe")))
	f.append(batch(1, renaming(10, 50, "first"), renaming(40, 51, "third")))
	require.Equal(t, [][]storage.Name{{name("first"), name("third")}}, f.renames(50))
	f.append(batch(1, activity(50, 0, 25)))
	require.Len(t, f.spans(), 1)
	require.Equal(t, [][]storage.Name{{name("first"), name("second"), name("third")}, {name("zoe")}}, f.renames(0))

	var many []storage.Record
	var newest []storage.Name
	for seq := uint64(100); seq < 140; seq++ {
		many = append(many, renaming(seq, float64(seq)/10, fmt.Sprint("name ", seq)))
		if seq >= 124 {
			newest = append(newest, name(fmt.Sprint("name ", seq)))
		}
	}
	slices.Reverse(many)
	f.append(batch(1, many[:7]...))
	f.append(batch(1, many[7:]...))
	require.Equal(t, [][]storage.Name{newest, {name("zoe")}}, f.renames(0))

	f.append(batch(1, renaming(141, 200, "apart"), renaming(90, 201, "old")))
	f.append(batch(1, activity(142, 0, 75), activity(143, 0, 100), activity(144, 0, 125), activity(145, 0, 150), activity(146, 0, 175)))
	require.Equal(t, [][]storage.Name{append(newest[1:], name("apart")), {name("zoe")}}, f.renames(0))
}
