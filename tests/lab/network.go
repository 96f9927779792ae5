package lab

import (
	"fmt"
	"time"

	"github.com/qosrtc/qos/tests/network"
	"github.com/qosrtc/qos/tests/scenario"
)

// A part draws a part of a harm.
type part func(d *draw, h *network.Harm)

func (d *draw) harm(parts ...part) (h network.Harm) {
	for _, draws := range parts {
		draws(d, &h)
	}
	return h
}

// ranged draws a part from a range. Times are in milliseconds, limits in kbit/s, other values fractions.
func ranged(set func(h *network.Harm, value float64)) func(low, high float64) part {
	return func(low, high float64) part {
		return func(d *draw, h *network.Harm) { set(h, d.between(low, high)) }
	}
}

func ms(value float64) time.Duration { return time.Duration(value) * time.Millisecond }

var (
	loss    = ranged(func(h *network.Harm, v float64) { h.Loss = v })
	bursts  = ranged(func(h *network.Harm, v float64) { h.Burst = v })
	swapped = ranged(func(h *network.Harm, v float64) { h.Swapped = v })
	twice   = ranged(func(h *network.Harm, v float64) { h.Twice = v })
	corrupt = ranged(func(h *network.Harm, v float64) { h.Corrupt = v })
	limit   = ranged(func(h *network.Harm, v float64) { h.RateBps = 1000 * v })
	queue   = ranged(func(h *network.Harm, v float64) { h.Queue = ms(v) })
	delay   = ranged(func(h *network.Harm, v float64) { h.Delay = ms(v) })
	jitter  = ranged(func(h *network.Harm, v float64) { h.Jitter = ms(v) })
	behind  = ranged(func(h *network.Harm, v float64) { h.Behind = ms(v) })
	stall   = ranged(func(h *network.Harm, v float64) { h.Stall = ms(v) })
	period  = ranged(func(h *network.Harm, v float64) { h.Period = ms(v) })
	every   = ranged(func(h *network.Harm, v float64) { h.Every = ms(v) })
	lasts   = ranged(func(h *network.Harm, v float64) { h.Lasts = ms(v) })
	ends    = ranged(func(h *network.Harm, v float64) { h.Ends = ms(v) })
	grows   = ranged(func(h *network.Harm, v float64) { h.Grows = ms(v) })
	falls   = ranged(func(h *network.Harm, v float64) { h.Falls = ms(v) })
)

func noMedia(_ *draw, h *network.Harm) { h.Loss = 1 }

var (
	oneWay  = []*place{uplink, downlink}
	eachWay = []*place{access}
	anyWay  = []*place{uplink, downlink, access}
)

// fault is a kind with one harm of a network at one place.
func fault(name string, groups []*group, options int, places []*place, parts ...part) kind {
	return kind{name: name, groups: groups, draw: func(d *draw) {
		d.with(groups, options)
		d.impair("", d.harm(parts...), places...)
	}}
}

// networkFaults are the kinds of one harm at one place. Nobody sees the direction of a delay, so both have it.
var networkFaults = []kind{
	fault("loss", anyGroup, sound|fox, anyWay, loss(.06, .3)),
	fault("little loss", anyGroup, sound, oneWay, loss(.045, .07)),
	fault("loss that comes and goes", anyGroup, sound, oneWay, loss(.25, .5), every(8000, 8000), lasts(3500, 5000)),
	fault("loss that grows", anyGroup, sound, oneWay, loss(.2, .4), grows(12000, 12000)),
	fault("loss that falls", anyGroup, sound, oneWay, loss(.35, .6), falls(20000, 20000)),
	fault("bursts of loss", anyGroup, sound|fox, oneWay, bursts(.08, .2)),
	fault("bursts that come and go", anyGroup, sound, oneWay, bursts(.25, .4), every(9000, 9000), lasts(5500, 7000)),
	fault("one-way media", anyGroup, sound, oneWay, noMedia),
	fault("media gone in turns", anyGroup, sound, oneWay, noMedia, every(9000, 9000), lasts(3500, 5000)),
	// A browser that serves a call counts no loss over a short gap and encodes again.
	fault("short outages", direct, sound|fox, oneWay, noMedia, every(4500, 6500), lasts(1100, 1900)),
	fault("small packets lost", anyGroup, sound, oneWay, loss(.2, .4), func(_ *draw, h *network.Harm) { h.UpTo = 250 }),
	fault("large packets lost", []*group{pair, mesh, served}, 0, oneWay, func(d *draw, h *network.Harm) { h.Largest = pick(d, 400, 600, 800) }),
	fault("packets with a wrong bit", anyGroup, sound|fox, oneWay, corrupt(.1, .3)),
	fault("packets out of order", anyGroup, sound, oneWay, swapped(.15, .35), behind(120, 250)),

	fault("delay", anyGroup, sound|fox, eachWay, delay(200, 450)),
	fault("delay that comes and goes", anyGroup, sound, eachWay, delay(250, 450), every(10000, 10000), lasts(5000, 7000)),
	fault("delay that grows", anyGroup, sound, eachWay, delay(300, 600), grows(10000, 10000)),
	fault("jitter", anyGroup, sound, oneWay, jitter(200, 400)),
	fault("jitter that comes and goes", anyGroup, sound, oneWay, jitter(200, 400), every(8000, 8000), lasts(4000, 6000)),
	fault("jitter that grows", anyGroup, sound, oneWay, jitter(250, 500), grows(10000, 10000)),
	fault("jitter that falls", anyGroup, sound, oneWay, jitter(350, 500), falls(25000, 25000)),
	fault("radio stalls", anyGroup, sound, anyWay, stall(350, 800), period(1300, 2600)),
	fault("long stalls", anyGroup, sound, oneWay, stall(1200, 2000), period(5500, 7500)),
	fault("stalls that come and go", anyGroup, sound, oneWay, stall(400, 700), period(1500, 2200), every(10000, 10000), lasts(6000, 8000)),

	fault("cap", ofPictures, large, oneWay, limit(80, 180)),
	fault("cap each way", peers, large, eachWay, limit(80, 150)),
	fault("cap that comes and goes", peers, 0, []*place{uplink}, limit(90, 200), every(10000, 10000), lasts(5000, 7000)),
	fault("cap that shrinks", peers, large, oneWay, limit(60, 120), grows(10000, 10000)),
	fault("cap that opens", peers, large, oneWay, limit(50, 90), falls(30000, 30000)),
	fault("cap of sound", peers, noVideo, oneWay, limit(15, 28)),
	fault("cap of sound with a long queue", peers, noVideo, oneWay, limit(18, 30), queue(1000, 1600)),
	orAccess(fault("cap of pictures with a long queue", peers, large, oneWay, limit(100, 220), queue(1200, 2200))),
	orAccess(fault("delay of one way", anyGroup, sound, oneWay, delay(450, 800))),

	fault("loss and jitter", anyGroup, sound, oneWay, loss(.06, .15), jitter(60, 120)),
	fault("loss and delay", anyGroup, sound, eachWay, loss(.05, .15), delay(200, 400)),
	fault("bursts and jitter", anyGroup, sound, oneWay, bursts(.1, .2), jitter(150, 300)),
	fault("bursts and delay", anyGroup, sound, eachWay, bursts(.1, .2), delay(150, 350)),
	fault("stalls and loss", anyGroup, sound, oneWay, stall(350, 700), period(1500, 2600), loss(.05, .12)),
	fault("stalls and jitter", anyGroup, sound, oneWay, stall(350, 700), period(1500, 2600), jitter(150, 300)),
	fault("stalls and delay", anyGroup, sound, eachWay, stall(350, 700), period(1500, 2600), delay(200, 350)),
	fault("cap and loss", peers, 0, oneWay, limit(100, 250), loss(.05, .12)),
	fault("cap and jitter", peers, 0, oneWay, limit(80, 160), jitter(150, 300)),
	fault("cap and delay", peers, 0, eachWay, limit(80, 150), delay(200, 350)),
	fault("cap and bursts", peers, 0, oneWay, limit(80, 150), bursts(.1, .2)),
	fault("cap and stalls", peers, 0, oneWay, limit(80, 160), stall(300, 600), period(1500, 2600)),

	opposite("loss one way, jitter the other", anyGroup, sound, loss(.08, .2), jitter(200, 400)),
	opposite("cap one way, loss the other", peers, 0, limit(80, 150), loss(.08, .2)),
	moreOneWay("loss one way, and delay", loss(.08, .2)),
	moreOneWay("jitter one way, and delay", jitter(200, 400)),
	{name: "two accesses", draw: func(d *draw) { d.twoAccesses(d.harm(loss(.08, .2)), d.harm(jitter(200, 400)), 0) }},
	{name: "one access after the other", draw: func(d *draw) {
		first := d.harm(loss(.15, .3), ends(10000, 10000))
		d.twoAccesses(first, d.harm(loss(.15, .3)), first.Ends)
		d.Lasts = scenario.Length{Well: time.Second, Impaired: 10 * time.Second}
	}},
	{name: "loss that begins late", draw: func(d *draw) {
		d.with(anyGroup, sound)
		well := d.betweenMs(11000, 14000)
		d.impair(fmt.Sprintf("after %v ", well), d.harm(loss(.1, .3)), oneWay...)
		d.Act = scenario.Each(scenario.Wait(well), d.Act)
		d.Lasts = scenario.Length{Well: 2 * time.Second, Impaired: 9 * time.Second}
	}},
	ending("loss that ends early", anyGroup, sound, scenario.Length{Well: time.Second, Impaired: 11 * time.Second}, loss(.1, .3), ends(9000, 11000)),
	ending("short fault in a long call", []*group{pair, served}, 0, scenario.Length{Well: 30 * time.Second, Impaired: 45 * time.Second}, loss(.15, .4), ends(18000, 18000)),
	{name: "loss, and the participant leaves", draw: func(d *draw) {
		d.with(manyPeers, sound)
		h, stays, who := d.harm(loss(.15, .35)), d.betweenMs(12000, 15000), d.who
		d.atAccess(fmt.Sprintf("%v of all of %s, each way, who leaves after %v", h, who, stays), access,
			scenario.Both(who, h), scenario.Wait(stays), func(c *scenario.Call) { c.HangUp(c.Of(who)) })
		d.Lasts = scenario.Length{Well: 2 * time.Second, Impaired: 8 * time.Second}
	}},
	{name: "weak wireless network", draw: func(d *draw) {
		d.with(peers, 0)
		h := d.harm(loss(.08, .2))
		d.atAccess(fmt.Sprintf("%s's wireless network is weak: %v of what %s sends", d.who, h, d.who), uplink, scenario.Up(d.who, h), scenario.InPage(d.who,
			"library.attachWifiStatsHandler(async () => JSON.stringify({ signal: 18, rssi: -88, timestamp: Date.now() }))"))
		d.Label.Cause, d.Label.Users = "senderUplink", []string{d.who}
	}},
}

// orAccess also accepts the access as the cause, where nobody sees the direction, or whether media or connections fail.
func orAccess(k kind) kind {
	return kind{name: k.name, draw: func(d *draw) {
		k.draw(d)
		switch {
		case d.Label.Cause == "mediaServer" || d.Label.Cause == "pathOrTurn":
		case d.group == pair:
			d.Label.Also = []string{"pathOrTurn"}
		default:
			d.Label.Also = []string{"senderUplink", "receiverDownlink"}
		}
	}}
}

// opposite impairs both directions of an access, each in its own way.
func opposite(name string, groups []*group, options int, sends, receives part) kind {
	return kind{name: name, draw: func(d *draw) {
		d.with(groups, options)
		up, down := d.harm(sends), d.harm(receives)
		d.atAccess(fmt.Sprintf("%v of what %s sends and %v of what %s receives", up, d.who, down, d.who), access,
			scenario.Up(d.who, up), scenario.Down(d.who, down))
	}}
}

// moreOneWay delays both directions of an access, and impairs one of them more.
func moreOneWay(name string, more part) kind {
	return kind{name: name, draw: func(d *draw) {
		d.with(anyGroup, sound)
		both := d.harm(delay(200, 350))
		one, at := both, pick(d, uplink, downlink)
		more(d, &one)
		d.atAccess(fmt.Sprintf("%v each way, and %v %s", both, one, withUser(at.did, d.who)), access, scenario.Both(d.who, both), at.set(d.who, one))
	}}
}

// twoAccesses impairs what one participant sends, and later what another receives. Either is right.
func (d *draw) twoAccesses(up, down network.Harm, later time.Duration) {
	d.with(manyPeers, sound)
	d.labelled("senderUplink", fmt.Sprintf("%v of what %s sends, and %v of what %s receives", up, d.who, down, d.other), d.who, d.other)
	d.Label.Also = []string{"receiverDownlink"}
	d.prepared(scenario.Edges)
	d.does(scenario.Up(d.who, up), scenario.Wait(later), scenario.Down(d.other, down))
}

// ending is a kind with a harm that ends. The rest of the call is good.
func ending(name string, groups []*group, options int, length scenario.Length, parts ...part) kind {
	return kind{name: name, draw: func(d *draw) {
		d.with(groups, options)
		h := d.harm(parts...)
		d.impair("", h, oneWay...)
		d.does(scenario.Wait(h.Ends))
		d.Lasts = length
	}}
}
