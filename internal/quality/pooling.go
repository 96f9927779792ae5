package quality

// ParticipantAV joins the audio and the video score of one side of a participant:
// 1.15 + 0.17 A V, limited to 1..5 (Hands 2004), or the one that is there, or nil.
func ParticipantAV(audio, video *float64) *float64 {
	switch {
	case audio == nil:
		return video
	case video == nil:
		return audio
	}
	av := clamp(1.15+0.17**audio**video, 1, 5)
	return &av
}

// Worse returns the lower of two scores, or the one that is there, or nil: a
// participant's score is the worse of what they receive and what they send.
func Worse(a, b *float64) *float64 {
	if a == nil || (b != nil && *b < *a) {
		return b
	}
	return a
}
