package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
	"github.com/pion/webrtc/v4/pkg/media/ivfreader"
	"github.com/pion/webrtc/v4/pkg/media/oggreader"
)

// The recorded media. README.md has the commands that made them.
var (
	//go:embed media/video.ivf
	videoFile []byte
	//go:embed media/audio.ogg
	audioFile []byte
)

const (
	// videoFrame is the duration of a video frame, rounded up so that it has 6000 ticks of the RTP clock.
	videoFrame = time.Second/15 + time.Nanosecond
	// audioFrame is the duration of an Opus packet.
	audioFrame = 20 * time.Millisecond
	// keyFrameInterval is the least number of frames between two key frames that receivers request.
	keyFrameInterval = 8
)

// source writes a recorded clip to a track in a loop. RTP timestamps are continuous across the loop and across mutes.
type source struct {
	kind  string
	track *webrtc.TrackLocalStaticSample
	// frames has the clip. The first is a key frame.
	frames   [][]byte
	duration time.Duration
	// position is the index of the next frame, sinceKey the number of frames since a key frame was written.
	position, sinceKey int
	muted, keyRequest  atomic.Bool
}

// newSource returns the source of a kind, audio or video.
func newSource(kind string) (*source, error) {
	s := &source{kind: kind}
	mime, clock, channels := webrtc.MimeTypeVP8, uint32(90000), uint16(0)
	var err error
	switch kind {
	case "video":
		s.duration = videoFrame
		s.frames, err = videoFrames()
	case "audio":
		mime, clock, channels, s.duration = webrtc.MimeTypeOpus, 48000, 2, audioFrame
		s.frames, err = audioFrames()
	default:
		return nil, fmt.Errorf("kinds to publish are audio and video (got %q)", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("recorded %s: %w", kind, err)
	}
	s.track, err = webrtc.NewTrackLocalStaticSample(
		webrtc.RTPCodecCapability{MimeType: mime, ClockRate: clock, Channels: channels}, kind+"-track", "guest")
	return s, err
}

// videoFrames returns the frames of the recorded video.
func videoFrames() ([][]byte, error) {
	in, _, err := ivfreader.NewWith(bytes.NewReader(videoFile))
	if err != nil {
		return nil, err
	}
	return readAll(func() ([]byte, error) {
		frame, _, err := in.ParseNextFrame()
		return frame, err
	})
}

// audioFrames returns the Opus packets of the recorded audio. Each page after the two of headers has one packet.
func audioFrames() ([][]byte, error) {
	in, _, err := oggreader.NewWith(bytes.NewReader(audioFile))
	if err != nil {
		return nil, err
	}
	pages, err := readAll(func() ([]byte, error) {
		page, _, err := in.ParseNextPage()
		return page, err
	})
	if err != nil || len(pages) < 2 {
		return nil, errors.Join(err, errors.New("no packets"))
	}
	return pages[1:], nil
}

// readAll returns all frames until next returns io.EOF.
func readAll(next func() ([]byte, error)) (frames [][]byte, err error) {
	for {
		switch frame, err := next(); {
		case errors.Is(err, io.EOF):
			return frames, nil
		case err != nil:
			return nil, err
		default:
			frames = append(frames, frame)
		}
	}
}

// write writes frames at their times until done is closed.
func (s *source) write(done <-chan struct{}) error {
	ticker := time.NewTicker(s.duration)
	defer ticker.Stop()
	for begin, n := time.Now(), int64(0); ; {
		// A ticker drops ticks of a busy machine: all frames that are due are written.
		for ; time.Duration(n)*s.duration <= time.Since(begin); n++ {
			if err := s.track.WriteSample(media.Sample{Data: s.next(), Duration: s.duration}); err != nil {
				return err
			}
		}
		select {
		case <-done:
			return nil
		case <-ticker.C:
		}
	}
}

// next returns the next frame. It returns nil while the source is muted: then only the RTP timestamp advances. The first
// frame after a mute is a key frame.
func (s *source) next() []byte {
	if s.muted.Load() {
		s.position = 0
		return nil
	}
	if s.sinceKey >= keyFrameInterval && s.keyRequest.Swap(false) {
		s.seekKeyFrame()
	}
	frame := s.frames[s.position]
	s.sinceKey++
	if s.isKeyFrame(s.position) {
		s.sinceKey = 0
	}
	s.position = (s.position + 1) % len(s.frames)
	return frame
}

// seekKeyFrame moves the position to the next key frame.
func (s *source) seekKeyFrame() {
	for !s.isKeyFrame(s.position) {
		s.position = (s.position + 1) % len(s.frames)
	}
}

// isKeyFrame states whether a frame is a key frame: in VP8 the lowest bit of the first byte is 0 (RFC 6386, 9.1). Each
// packet of audio is one.
func (s *source) isKeyFrame(i int) bool {
	return s.kind == "audio" || s.frames[i][0]&1 == 0
}

// answerRequests reads RTCP of a sender until it is closed: interceptors answer NACK, and a PLI or FIR requests a key frame.
func (s *source) answerRequests(sender *webrtc.RTPSender) {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return
		}
		for _, p := range packets {
			switch p.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				s.keyRequest.Store(true)
			}
		}
	}
}
