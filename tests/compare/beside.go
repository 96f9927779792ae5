package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/protocol"
)

// floods is the number of connections that one user keeps open, if the collector admits them.
const floods = 16

// beside measures how long acks of one application take while a user of another sends as much as possible, against the
// same without that user. The flood comes from a process of its own, which runs on the clients' core when they do not.
func (e *env) beside() error {
	var p50, p99, floodedP50, floodedP99 []float64
	for range max(1, e.options.turns/2) {
		err := e.with(kindLimited, fewClients, plog.Logs{}, func(p *process, clients []client) error {
			alone, err := e.openLoop(clients, 2*e.seconds)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(e.ctx)
			defer cancel()
			flood := exec.CommandContext(ctx, "nice", "-n", "19", os.Args[0], "-flood", p.address)
			flood.Stderr = os.Stderr
			if err := flood.Start(); err != nil {
				return err
			}
			flooded, err := e.openLoop(clients, 4*e.seconds)
			cancel()
			_ = flood.Wait() // it was killed
			p50, p99 = append(p50, percentile(alone, 0.5)), append(p99, percentile(alone, 0.99))
			floodedP50, floodedP99 = append(floodedP50, percentile(flooded, 0.5)), append(floodedP99, percentile(flooded, 0.99))
			return err
		})
		if err != nil {
			return err
		}
	}
	e.add(fmt.Sprintf("p50 of an ack in SQLite while a user of another application floods over %d connections, times alone", floods),
		fmt.Sprintf("%.2f (%.2f ms against %.2f)", medianRatio(floodedP50, p50), median(floodedP50), median(p50)), "≤ 2")
	e.add("p99 of the same", fmt.Sprintf("%.2f (%.2f ms against %.2f)", medianRatio(floodedP99, p99), median(floodedP99), median(p99)), "≤ 2")
	return nil
}

// floodUntil opens one connection after another as the same user, and floods each until the collector ends it.
func floodUntil(ctx context.Context, address string) error {
	header := http.Header{"X-Forwarded-For": {"203.0.113.66"}}
	var wg sync.WaitGroup
	for i := range floods {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := flood(ctx, address, header, r); err != nil {
					pause(ctx, 50*time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

func flood(ctx context.Context, address string, header http.Header, r *rand.Rand) error {
	grant, err := login(ctx, http.DefaultClient, "http://"+address, rival, "mallory", header)
	if err != nil {
		return err
	}
	ws, err := dialWebSocket(ctx, false, address+"/ws", header)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer func() { _ = ws.Close() }()
	wg.Go(func() {
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				return
			}
		}
	})
	for text, seq := helloOf(grant, time.Now()), uint64(1); ctx.Err() == nil; seq++ {
		if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			return err
		}
		text = hostile(r, seq)
	}
	return nil
}

// hostile returns a message that takes memory or time of the collector.
func hostile(r *rand.Rand, seq uint64) string {
	at := time.Now().UnixMilli()
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf(`{"type":"fabric","fabric":%d,"conferenceID":"%d","addedAt":%d,"remoteUserID":%q,"fabricUsage":"multiplex"}`,
			1+r.IntN(4096), r.IntN(1000), at, strings.Repeat("u", 250))
	case 1:
		return columns
	case 2:
		return fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":"x"}`, seq, at)
	case 3:
		return fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":%q}`, seq, at, strings.Repeat("x", protocol.MaxLogTextBytes))
	case 4:
		return fmt.Sprintf(`{"type":"stats","seq":%d,"at":%d,"fabric":1,"intervalMs":1000,"rows":[%s[1,1,"VP8"]]}`, seq, at, strings.Repeat(`[1,1,"VP8"],`, 500))
	}
	return `{"type":"stats","seq":` // not JSON
}
