package conference_test
import ("testing";"time";"fmt";"github.com/qosrtc/qos/internal/quality";"github.com/qosrtc/qos/internal/conference")
func TestTmpScale(t *testing.T) {
	for name, fill := range shapes {
		for _, n := range []int{500, 1000, 2000, 4000} {
			w := crowd{c: conference.New("app", "crowd")}
			fill(&w, n)
			t0 := time.Now(); w.c.Summary(quality.DefaultBounds()); t1 := time.Now()
			w.c.Evaluate(1_763_702_160_000+25_000, func([]conference.Issue) {})
			fmt.Printf("%-32s n=%d summary %v evaluate %v parts\n", name, n, t1.Sub(t0).Round(time.Millisecond), time.Since(t1).Round(time.Millisecond))
		}
	}
}
