package address

import (
	"strconv"
	"strings"
	"testing"
)

// benchmarkTexts are texts by name, and units that are hard to scan.
var benchmarkTexts = map[string]string{
	"plain":   "The microphone was muted by the application after the third attempt\n",
	"sdp":     "a=candidate:3 1 udp 1677729535 203.0.113.9 41234 typ srflx raddr 192.168.1.7 rport 41234\r\na=rtpmap:111 opus/48000/2\r\na=fmtp:111 minptime=10;useinbandfec=1\r\n",
	"stack":   "    at std::vector webrtc::Call (https://cdn.example.org/app.js:10:2345)\n",
	"hex":     "0123456789abcdef",
	"dots":    "1.",
	"colons":  ":",
	"groups":  "1:",
	"double":  "a::",
	"escapes": `\u0031%3A`,
	"zones":   "fe80::1%",
	"locals":  "x.localx",
	"names":   "a.local ",
}

// BenchmarkText shows the bytes per second for texts of 8 and 64 KiB: equal rates mean linear time.
// Copy is the rate of copying 64 KiB.
func BenchmarkText(b *testing.B) {
	b.Run("copy", func(b *testing.B) {
		text := strings.Repeat("x", 64<<10)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			_ = strings.Clone(text)
		}
	})
	for name, unit := range benchmarkTexts {
		for _, size := range []int{8 << 10, 64 << 10} {
			for _, mode := range []Mode{Truncate, Drop} {
				b.Run(name+"/"+string(mode)+"/"+strconv.Itoa(size>>10), func(b *testing.B) {
					p, text := policy(b, mode), strings.Repeat(unit, size/len(unit))
					b.SetBytes(int64(len(text)))
					b.ReportAllocs()
					for b.Loop() {
						_ = p.Text(text)
					}
				})
			}
		}
	}
}
