package cluster

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

const callID = "recorded call"

// person is one session of a recorded call: its frames by number, with their times.
type person struct {
	name, session string
	begin         int64
	frames        []string
}

// record makes the frames of somebody's part of a call that began at begin: 20 intervals of
// 700 ms, what happened between them, and a word of farewell.
func record(name string, number int, begin int64) *person {
	p := &person{name: name, begin: begin}
	at := begin + int64(number)
	p.event(at, "fabricAdded", `{"alreadyConnected":false}`)
	p.event(at+100, "remoteDescriptionSet", `{}`)
	p.event(at+400, "fabricSetup", fmt.Sprintf(`{"setupMs":%d.25,"gatheringMs":101.5,"connectivityMs":33,"localCandidateType":"host","remoteCandidateType":"srflx","relayProtocol":null}`, 300+number))
	for i := range int64(20) {
		p.frames = append(p.frames, fmt.Sprintf(
			`{"type":"stats","seq":%d,"at":%d,"fabric":1,"intervalMs":700,"rows":[[1,7,"opus",%d,%d,%d.125,%d]]}`,
			len(p.frames)+1, at+400+(i+1)*700, 30+i, i%3, 3+i, 40+7*i))
		if i%7 == 3 {
			p.event(at+500+(i+1)*700, "audioMute", `{}`)
			p.event(at+800+(i+1)*700, "audioUnmute", `{}`)
		}
	}
	p.event(at+14_900, "fabricTerminated", `{"reason":"application"}`)
	return p
}

func (p *person) event(at int64, name, data string) {
	p.frames = append(p.frames, fmt.Sprintf(`{"type":"event","seq":%d,"at":%d,"fabric":1,"event":%q,"data":%s}`, len(p.frames)+1, at, name, data))
}

// play sends frames from to to to a collector, and waits until they are acknowledged. Some
// of them may have been sent before.
func (p *person) play(t *testing.T, c *harness.Collector, from, to int) {
	t.Helper()
	client := &http.Client{Timeout: harness.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	grant, err := authtest.Login(t.Context(), client, c.URL(), harness.Origin, harness.AppID, harness.AppSecret, protocol.UserID{Name: p.name, Alias: p.name})
	require.NoError(t, err)
	if p.session == "" {
		p.session = grant.Session
	}
	w, err := harness.Dial(t.Context(), c.URL(), false)
	require.NoError(t, err)
	defer w.Close()
	require.True(t, w.Send(
		fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":%d,"at":%d}`, grant.Token, p.session, from, time.Now().UnixMilli()),
		fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":%q,"addedAt":%d,"remoteUserID":"other","fabricUsage":"multiplex"}`, callID, p.begin),
		`{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","codec","packets","packetsLost","jitterMs","rttMs"]}`,
	))
	require.True(t, w.Send(p.frames[from:to]...))
	end := time.After(harness.Patience)
	for acked := uint64(0); acked < uint64(to); {
		select {
		case message := <-w.Heard():
			switch m := message.(type) {
			case *protocol.Ack:
				acked = m.Seq
			case *protocol.Welcome:
			default:
				require.FailNow(t, "unexpected", "%T %+v", m, m)
			}
		case <-end:
			require.FailNow(t, "no ack", "%d of %d", acked, to)
		}
	}
}
