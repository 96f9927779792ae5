package e2e

import (
	"fmt"
	"time"

	"github.com/qosrtc/qos/internal/call/digest"
)

// goingOn returns a conference of an app that began 40 s ago and lasts for five minutes.
func goingOn(app string, now time.Time) planted {
	ann := plantedUser{name: "Ann Real", alias: "ann", facts: digest.Member{SiteID: "hq", ApplicationVersion: "7.1"}}
	return planted{app: app, id: "going on", start: now.Add(-40 * time.Second), lasted: 5 * time.Minute, people: []plantedUser{ann}}
}

// oddNames are texts that pages must show as they are.
var oddNames = []string{
	"Wöchentliche Besprechung der Zweigstelle Großräschen-Süd", "週次定例会議 東京・大阪", "اجتماع الفريق الأسبوعي", `<b>bold</b> & "quoted" 'text'`,
	"AVeryLongConferenceIDWithoutAnyPlaceToBreakWhichSomeApplicationMade0123456789", "standup",
}

// ordinaryDay returns conferences of a day up to a time, every step: mostly good ones, and some of each kind of failure.
func ordinaryDay(until time.Time, count int, step time.Duration) (all []planted) {
	outcomes := []string{"success", "success", "dropped", "success", "totallyFailed", "success", "partiallyFailed", "success", "missed"}
	for i := range count {
		s := planted{
			id: fmt.Sprint(oddNames[i%len(oddNames)], " ", i), start: until.Add(-time.Duration(i+1) * step), lasted: time.Duration(40+i%20*17) * time.Second,
			outcome: outcomes[i%len(outcomes)], setupMs: []int64{int64(200 + 31*i%900), 350},
		}
		for n := range 1 + i%4 {
			s.people = append(s.people, plantedUser{name: fmt.Sprint("Real Name ", n), alias: fmt.Sprint(oddNames[(i+n)%len(oddNames)], " user"), facts: digest.Member{
				SiteID: []string{"Ålesund & Søn", "東京", "hq"}[(i+n)%3], ApplicationVersion: "7.1", Browser: "firefox", BrowserVersion: []string{"144", "143"}[n%2],
			}})
		}
		switch s.outcome {
		case "success":
			s.mos = 3.2 + float64(i%12)/10
		case "dropped", "partiallyFailed":
			s.mos, s.cause = 1.8, []string{"senderUplink", "receivingMachine"}[i%2]
		case "totallyFailed":
			s.cause, s.errors = "iceConnectivity", []digest.Count{{Name: "createOffer", Count: 2}}
		}
		all = append(all, s)
	}
	return all
}
