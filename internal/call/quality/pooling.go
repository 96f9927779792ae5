package quality

// ParticipantAV joins the audio and the video score of one direction of a participant:
// 1.15 + 0.17 A V, limited to 1..5 (Hands 2004). It returns the only one that is not nil, or nil.
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

// Worse returns the lower of two scores, the only one that is not nil, or nil. A participant's
// score is the worse of what they receive and what they send.
func Worse(a, b *float64) *float64 {
	if a == nil || (b != nil && *b < *a) {
		return b
	}
	return a
}
