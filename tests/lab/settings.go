package lab

import (
	"fmt"
	"time"

	"github.com/qosrtc/qos/tests/scenario"
)

// A setting is what participants, applications or networks do in a good call. It is a kind of control and, with harms, also a
// kind of impaired call, whose name has "harm, " before it.
type setting struct {
	name    string
	groups  []*group
	options int
	do      func(d *draw) (did string)
	harms   [][]part
	places  []*place
}

var (
	badLoss   = []part{loss(.12, .3)}
	badJitter = []part{jitter(200, 400)}
)

var settings = []setting{
	{"nothing", anyGroup, sound | fox, func(*draw) string { return "nothing" }, nil, nil},
	{"little harm", anyGroup, sound | fox, func(d *draw) string {
		return d.harmless(loss(0, .012), delay(5, 60), jitter(1, 12))
	}, nil, nil},
	{"packets twice", anyGroup, sound, func(d *draw) string { return d.harmless(twice(.1, .3)) }, nil, nil},

	{"somebody muted", anyGroup, sound | fox, (*draw).mutes, [][]part{badLoss}, []*place{downlink}},
	{"discontinuous sound", anyGroup, sound, (*draw).sendsDTX, [][]part{badLoss}, oneWay},
	{"discontinuous sound, muted", anyGroup, sound, func(d *draw) string { return d.sendsDTX() + "; " + d.mutes() }, nil, nil},
	{"other codec of sound", direct, sound, func(d *draw) string {
		codec := pick(d, "PCMU", "G722", "red")
		d.allSend(func(s *scenario.Source) { s.AudioCodec = codec })
		return "sound is " + codec
	}, [][]part{badLoss, {stall(500, 800), period(2000, 3000)}}, oneWay},
	{"long packets of sound", anyGroup, sound, func(d *draw) string {
		d.allSend(func(s *scenario.Source) { s.PacketMs = 60 })
		return "packets of sound have 60 ms"
	}, [][]part{badLoss, badJitter}, oneWay},

	{"other codec of pictures", peers, 0, func(d *draw) string {
		codec := pick(d, "VP9", "H264")
		if d.group == pair { // two processors encode AV1 for one call of two
			codec = pick(d, "VP9", "H264", "AV1")
		}
		d.allSend(func(s *scenario.Source) { s.VideoCodec = codec })
		return "pictures are " + codec
	}, [][]part{badLoss, badLoss, badJitter}, oneWay},
	{"slides", ofPictures, fox, func(d *draw) string {
		d.does(scenario.InPage(d.who, "event('screenShareStart')"))
		return d.slides() + " and says so"
	}, [][]part{badLoss}, oneWay},
	{"hinted slides", ofPictures, fox, func(d *draw) string {
		d.does(scenario.InPage(d.who, "senders('video').forEach((s) => { s.track.contentHint = 'detail' })"))
		return d.slides() + " with a hint of detail"
	}, nil, nil},
	{"thumbnails", ofPictures, fox, func(d *draw) string {
		height := pick(d, 90, 120, 180)
		d.allSend(func(s *scenario.Source) { s.Height = height })
		return fmt.Sprintf("pictures of %dp", height)
	}, nil, nil},
	{"still picture", ofPictures, fox, func(d *draw) string {
		d.sends(d.who, func(s *scenario.Source) { s.Video, s.Height, s.FPS = "still", 480, 20 })
		return d.who + " shows a picture that does not move"
	}, nil, nil},
	{"detailed picture", ofPictures, fox, func(d *draw) string {
		d.sends(d.who, func(s *scenario.Source) { s.Video, s.Height, s.FPS = "canvas", 360, 20 })
		return d.who + " shows a moving picture with detail"
	}, nil, nil},
	{"other camera", ofPictures, 0, func(d *draw) string {
		d.does(scenario.InPage(d.who, "("+ended("video", smallVideo)+")(true)"))
		return d.who + " takes another camera"
	}, nil, nil},
	{"little bitrate by the application", ofPictures, fox, func(d *draw) string {
		rate := d.between(120e3, 280e3)
		return d.encodes(fmt.Sprintf("gives the encoder at most %.0f kbit/s", rate/1000), fmt.Sprintf("maxBitrate: %.0f", rate))
	}, nil, nil},
	{"few pictures by the application", ofPictures, 0, func(d *draw) string {
		return d.encodes("halves the picture and sends ten a second", "maxFramerate: 10, scaleResolutionDownBy: 2")
	}, nil, nil},
	{"camera added later", peers, 0, (*draw).addsCamera, [][]part{badLoss}, []*place{uplink}},

	{"wrong clock", direct, sound, func(d *draw) string {
		who, seconds := d.who, d.r.IntN(7200)-3600
		d.prepared(func(c *scenario.Call) { c.Of(who).AheadMs = 1000 * seconds })
		return fmt.Sprintf("%s's clock is wrong by %d s", who, seconds)
	}, [][]part{badLoss, {noMedia, every(4500, 6500), lasts(1500, 2200)}}, oneWay},
	{"ICE restarts", peers, sound | fox, func(d *draw) string {
		d.does(scenario.InPage(d.who, "setInterval(restartICE, 6000)"))
		return d.who + "'s application restarts ICE every 6 s"
	}, [][]part{badLoss}, oneWay},
	{"busy page", anyGroup, sound, func(d *draw) string {
		ms := d.betweenMs(150, 400).Milliseconds()
		d.does(scenario.InPage(d.other, fmt.Sprintf("setInterval(() => { for (const end = performance.now() + %d; performance.now() < end;); }, 1000)", ms)))
		return fmt.Sprintf("scripts of %s's page run for %d ms of every second", d.other, ms)
	}, [][]part{badLoss}, oneWay},

	{"tab closed", anyGroup, sound | fox, func(d *draw) string {
		d.Gone = 1
		return d.leaves("closes the tab", func(c *scenario.Call) { c.Of(d.who).Page.CloseTab() })
	}, nil, nil},
	{"hang-up", anyGroup, sound | fox, func(d *draw) string {
		return d.leaves("hangs up", func(c *scenario.Call) { c.HangUp(c.Of(d.who)) })
	}, nil, nil},
	{"listener", peers, 0, func(d *draw) string {
		d.Fails = true // media flow in one direction alone
		d.prepared(scenario.Remotes(d.Users[1], func(r *scenario.Remote) { r.Send, r.Direction = []string{"none"}, "receiveonly" }))
		return d.Users[1] + " only listens and says so"
	}, nil, nil},
}

// settingKinds returns the kinds of all settings.
func settingKinds() (kinds []kind) {
	for _, s := range settings {
		kinds = append(kinds, kind{name: s.name, control: true, groups: s.groups, draw: func(d *draw) {
			d.with(s.groups, s.options)
			d.labelled("none", s.do(d))
		}})
		if len(s.harms) > 0 {
			kinds = append(kinds, kind{name: "harm, " + s.name, draw: func(d *draw) {
				d.with(s.groups, s.options)
				d.impair(s.do(d)+", and ", d.harm(pick(d, s.harms...)...), s.places...)
			}})
		}
	}
	return kinds
}

// harmless impairs an access less than anybody notices.
func (d *draw) harmless(parts ...part) (did string) {
	h := d.harm(parts...)
	d.prepared(scenario.Edges)
	d.does(scenario.Both(d.who, h))
	return fmt.Sprintf("%v, each way at %s", h, d.who)
}

func (d *draw) mutes() (did string) {
	d.does(scenario.InPage(d.who, "("+reporting(enabled("audio"), "audioMute", "audioUnmute")+")(false)"))
	return d.who + " is muted and says so"
}

func (d *draw) sendsDTX() (did string) {
	d.allSend(func(s *scenario.Source) { s.DTX = true })
	return "discontinuous transmission"
}

func (d *draw) slides() (did string) {
	height := pick(d, 720, 1080)
	d.sends(d.who, func(s *scenario.Source) { s.Video, s.Height = "slides", height })
	return fmt.Sprintf("%s shows slides of %dp", d.who, height)
}

// encodes sets parameters of the encoder, as many applications do.
func (d *draw) encodes(did, parameters string) string {
	d.does(scenario.InPage(d.who, `senders('video').forEach((s) => {
		const parameters = s.getParameters()
		parameters.encodings.forEach((one) => Object.assign(one, { `+parameters+` }))
		s.setParameters(parameters)
	})`))
	return d.who + "'s application " + did
}

// addsCamera is a call of sound to which one participant adds a picture.
func (d *draw) addsCamera() (did string) {
	d.sends(d.who, func(s *scenario.Source) { s.Video = "" })
	d.Kinds = []string{"audio"}
	d.does(scenario.InPage(d.who, `(async () => {
		const media = await navigator.mediaDevices.getUserMedia({ video: `+smallVideo+` })
		for (const one of call.pcs.values()) {
			const place = one.pc.getTransceivers().find((t) => t.receiver.track.kind === 'video')
			place.direction = 'sendrecv'
			await place.sender.replaceTrack(media.getVideoTracks()[0])
			await one.pc.setLocalDescription()
			tell(one.user, { sdp: one.pc.localDescription })
		}
	})()`))
	return d.who + " begins with sound alone and shows a picture later"
}

// leaves lets a participant leave after 15 s. The others stay for some time.
func (d *draw) leaves(did string, do func(*scenario.Call)) string {
	d.Lasts = scenario.Length{Well: 15 * time.Second, Impaired: d.betweenMs(3000, 14000)}
	d.does(do)
	return d.who + " " + did + ", the others stay"
}

// lossWithoutLibrary impairs the access of a participant. The other has a page without the library.
func (d *draw) lossWithoutLibrary() {
	d.with([]*group{pair}, sound)
	h, other := d.harm(badLoss...), d.other
	d.atAccess(fmt.Sprintf("%v of all of %s, each way; %s has no library", h, d.who, other), access, scenario.Both(d.who, h))
	d.Scenario = scenario.Uninstrumented(d.Scenario, other)
}
