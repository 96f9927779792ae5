package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
	"github.com/qosrtc/qos/tests/network"
	"github.com/qosrtc/qos/tests/scenario"
)

// A kind is a kind of call.
type kind struct {
	name    string
	draw    func(d *draw)
	control bool // nothing impairs the call
	groups  []*group
}

// catalogue returns all kinds of calls.
func catalogue() []kind {
	return slices.Concat(networkFaults, toggleKinds(), settingKinds(), failures, servedKinds())
}

// controlShare is the share of controls in a draw.
const controlShare = 0.5

// Draw returns the calls of a seed, in the order in which they are recorded. Each kind that wanted accepts has a call before
// any has a second one, controls and others apart.
func Draw(name string, seed uint64, calls int, wanted func(kind string) bool) []scenario.Scenario {
	r := rand.New(rand.NewPCG(seed, 1))
	var good, impaired []kind
	for _, k := range catalogue() {
		switch {
		case !wanted(k.name):
		case k.control:
			good = append(good, k)
		default:
			impaired = append(impaired, k)
		}
	}
	drawn := take(r, good, int(controlShare*float64(calls)))
	drawn = append(drawn, take(r, impaired, calls-len(drawn))...)
	drawn = append(drawn, take(r, good, calls-len(drawn))...) // of controls alone
	r.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	all := make([]scenario.Scenario, 0, calls)
	for i, k := range drawn {
		d := &draw{r: r, kind: k.name}
		d.Name = fmt.Sprintf("%s-%03d", name, i+1)
		k.draw(d)
		all = append(all, d.Scenario)
	}
	return all
}

// take draws n kinds, each once before any twice.
func take(r *rand.Rand, from []kind, n int) (drawn []kind) {
	for len(drawn) < n && len(from) > 0 {
		for _, i := range r.Perm(len(from)) {
			drawn = append(drawn, from[i])
		}
	}
	return drawn[:min(n, len(drawn))]
}

// draw is one call that is being drawn.
type draw struct {
	scenario.Scenario
	r          *rand.Rand
	kind       string
	group      *group
	through    []*group // in place of those of the kind
	who, other string   // two participants
	audioOnly  bool
}

// chance draws true with a probability of one in n.
func (d *draw) chance(n int) bool { return d.r.IntN(n) == 0 }

// between draws a number of a range.
func (d *draw) between(low, high float64) float64 { return low + d.r.Float64()*(high-low) }

// betweenMs draws a time of a range of milliseconds.
func (d *draw) betweenMs(low, high int) time.Duration {
	return time.Duration(low+d.r.IntN(high-low+1)) * time.Millisecond
}

func pick[T any](d *draw, list ...T) T { return list[d.r.IntN(len(list))] }

// A group is who takes part and how they are connected. A further media server is a topology and a group.
type group struct {
	users    []string
	topology scenario.Topology
	server   bool // between the participants
	real     bool // a server that applications use
}

var (
	pair   = &group{users: scenario.Two, topology: scenario.Mesh{}}
	mesh   = &group{users: scenario.Three, topology: scenario.Mesh{}}
	mesh4  = &group{users: []string{"ada", "ben", "cyd", "dan"}, topology: scenario.Mesh{}} // two processors do not encode twelve pictures
	served = &group{users: scenario.Three, topology: scenario.Forwarder{}, server: true}

	anyGroup   = []*group{pair, pair, pair, mesh, mesh, mesh, mesh4, served, served, served}
	ofPictures = []*group{pair, pair, mesh, served}
	peers      = []*group{pair, pair, mesh}
	direct     = []*group{pair, pair, mesh, mesh, mesh4}
	manyPeers  = []*group{mesh, mesh, mesh4}
)

// Options of a kind for its calls.
const (
	sound   = 1 << iota // some calls have sound only
	noVideo             // all have
	large               // pictures are large, if no server forwards them
	fox                 // some calls of two are made with Firefox
)

// with draws who is in the call, two of them, and what the options leave open.
func (d *draw) with(groups []*group, options int) {
	if d.through != nil {
		groups = d.through
	}
	d.group = pick(d, groups...)
	d.Users, d.Topology = d.group.users, d.group.topology
	order := d.r.Perm(len(d.Users))
	d.who, d.other = d.Users[order[0]], d.Users[order[1]]
	silent := d.chance(4)
	switch {
	case d.group.real:
		d.prepared(scenario.ForAll(func(m *scenario.Member) { m.Media.Height = 180 }))
	case d.group.server: // for pictures through a server, a machine of two processors has little time
		silent = !d.chance(3)
	}
	d.audioOnly = options&noVideo != 0 || options&sound != 0 && silent || d.group == mesh4
	if options&large != 0 && !d.group.server {
		d.prepared(scenario.ForAll(scenario.High))
	}
	if options&fox != 0 && (d.group == pair || d.group.real) && d.chance(4) {
		d.Browser = browser.Firefox
	}
}

// prepared adds to what is done before all join.
func (d *draw) prepared(do ...func(*scenario.Call)) {
	d.Prepare = scenario.Each(d.Prepare, scenario.Each(do...))
}

// does adds to what is done in the call.
func (d *draw) does(do ...func(*scenario.Call)) { d.Act = scenario.Each(d.Act, scenario.Each(do...)) }

// sends changes what a participant sends.
func (d *draw) sends(user string, change func(*scenario.Source)) {
	d.prepared(func(c *scenario.Call) { change(&c.Of(user).Media) })
}

// allSend changes what all participants send.
func (d *draw) allSend(change func(*scenario.Source)) {
	d.prepared(scenario.ForAll(func(m *scenario.Member) { change(&m.Media) }))
}

// labelled sets the label, and leaves the call without pictures if it was drawn so.
func (d *draw) labelled(found, did string, users ...string) {
	if d.Browser == browser.Firefox {
		did += ", in Firefox"
	}
	if d.audioOnly {
		did += ", sound only"
		d.Kinds = []string{"audio"}
		d.prepared(scenario.ForAll(scenario.SoundOnly))
	}
	did = fmt.Sprintf("%s (%d people)", did, len(d.Users))
	if d.group.server {
		did += ", a media server"
	}
	d.Label = cause.Label{Cause: found, Users: users, Did: did, Kind: d.kind}
}

// ends are those at whom a connection of one participant fails: in a call of two both.
func (d *draw) ends() []string {
	if d.group == pair {
		return []string{d.who, d.other}
	}
	return []string{d.who}
}

// A place is a part of the network that can be impaired.
type place struct {
	did   string // with %s for a participant
	found string // the cause in a call of several
	set   func(user string, h network.Harm) func(*scenario.Call)
}

var (
	uplink   = &place{"of what %s sends", "senderUplink", scenario.Up}
	downlink = &place{"of what %s receives", "receiverDownlink", scenario.Down}
	access   = &place{"of all of %s, each way", "senderUplink", scenario.Both}
	path     = &place{did: "between two participants of several"}
	ofServer = &place{did: "between a server and all participants"}
)

// impair impairs one of the places, a path between two of several participants, or the network of a server.
func (d *draw) impair(prefix string, h network.Harm, places ...*place) {
	switch {
	case len(d.Users) > 2 && !d.group.server:
		places = append(slices.Clone(places), path)
	case d.group.server && h.RateBps == 0:
		places = append(slices.Clone(places), ofServer)
	}
	what := prefix + h.String()
	switch at := pick(d, places...); at {
	case ofServer:
		d.labelled("mediaServer", what+" for everybody")
		d.prepared(scenario.Edges)
		d.does(scenario.Everywhere(h))
	case path:
		d.labelled("pathOrTurn", fmt.Sprintf("%s between %s and %s alone", what, d.who, d.other), d.who, d.other)
		d.prepared(scenario.EdgeBetween(d.who, d.other))
		d.does(scenario.OnPath(d.who, d.other, h))
	default:
		d.atAccess(what+" "+withUser(at.did, d.who), at, at.set(d.who, h))
	}
}

// atAccess labels a fault of one participant's access. In a call of two nobody can report whose access it is, and nobody sees the
// direction of a fault of both.
func (d *draw) atAccess(did string, at *place, do ...func(*scenario.Call)) {
	d.prepared(scenario.Edges)
	d.does(do...)
	if d.group == pair {
		d.labelled("pathOrTurn", did, d.who, d.other)
		return
	}
	d.labelled(at.found, did, d.who)
	if at == access {
		d.Label.Also = []string{downlink.found}
	}
}
