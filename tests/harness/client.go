package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
)

// ConferenceID is where clients are that were given no other.
const ConferenceID = "delivery"

// Habits say how a client behaves. The zero value is a client as docs/protocol.md wants
// it, whose connections are cut at random.
type Habits struct {
	// ConferenceID is where its fabrics are.
	ConferenceID string
	// Now is its clock, corrected as it thinks. nil: the true one.
	Now func() time.Time
	// Claim gives what hello says of the true acked. nil: the truth.
	Claim func(dice *rand.Rand, acked uint64) uint64
	// Deaf is one in how many connections never reads. 0: none.
	Deaf int
	// Twins sends what is not acknowledged once more, at the same time, over a second
	// connection, and each POST twice at the same time.
	Twins bool
	// Calm keeps connections until the end: nothing is cut, no POST is sent.
	Calm bool
	// PushEvery is how often two frames are made; 0: 4 ms.
	PushEvery time.Duration
}

// Client is one session that loses its connections. It is used by one goroutine.
type Client struct {
	urls    []string
	habits  Habits
	dice    *rand.Rand
	http    *http.Client
	name    string // of its user
	session string
	token   string
	addedAt int64

	frames  []*Frame // all that were not dropped, by number
	last    uint64   // number
	acked   uint64   // number
	settled int      // index of the first frame that is not acknowledged
	cursor  int      // index of the next frame for this connection's wire
	calls   int      // connections and POSTs tried: which URL is next
	leaked  []net.Conn
	made    atomic.Int64
	twins   sync.WaitGroup

	Cuts, Posts, Slowed int // what happened to it
}

// NewClient makes a client of one session that uses urls in rotation, one after another
// for each connection. seed and number decide its dice.
func NewClient(urls []string, seed int64, number int, habits Habits) *Client {
	dice := rand.New(rand.NewPCG(uint64(seed), uint64(number)))
	if habits.Now == nil {
		habits.Now = time.Now
	}
	if habits.ConferenceID == "" {
		habits.ConferenceID = ConferenceID
	}
	if habits.PushEvery == 0 {
		habits.PushEvery = 4 * time.Millisecond
	}
	now := time.Now().UnixMilli()
	return &Client{
		urls: urls, habits: habits, dice: dice, addedAt: now,
		http: &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
		name: fmt.Sprintf("%x-%d-%x", now, number, dice.Uint32()),
	}
}

// Session is the client's session id, which its first login brings; empty before.
func (c *Client) Session() string { return c.session }

// Made is how many frames it has made, those that it dropped included. It may be called while the client runs.
func (c *Client) Made() int64 { return c.made.Load() }

// Frames are all frames it made and did not drop.
func (c *Client) Frames() []*Frame { return c.frames }

// Run loads the collectors until load ends, then drains: it returns when all is
// acknowledged, or with an error when drain ends before. Any other error is a broken
// promise of a collector, not a broken connection.
func (c *Client) Run(load, drain context.Context) error {
	defer c.rest()
	for drain.Err() == nil {
		if load.Err() != nil && c.done() {
			return nil
		}
		if err := c.connection(load, drain); err != nil {
			return fmt.Errorf("client %s: %w", c.name, err)
		}
		if !c.habits.Calm && c.dice.IntN(3) == 0 {
			if err := c.post(drain); err != nil {
				return fmt.Errorf("client %s: %w", c.name, err)
			}
		}
		Pause(drain, time.Duration(c.dice.IntN(60))*time.Millisecond)
	}
	return fmt.Errorf("client %s: %d of %d numbers were acknowledged in time", c.name, c.acked, c.last)
}

// Pause waits for d or the end of ctx.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// rest ends what still runs beside the client.
func (c *Client) rest() {
	c.twins.Wait()
	for _, conn := range c.leaked {
		_ = conn.Close()
	}
}

func (c *Client) done() bool { return c.settled == len(c.frames) }

// url is the next back-end in rotation.
func (c *Client) url() string {
	c.calls++
	return c.urls[c.calls%len(c.urls)]
}

// push makes the next frame. At times it drops some of those that were never sent, and
// declares it.
func (c *Client) push() {
	c.made.Add(1)
	c.last++
	at := c.habits.Now().UnixMilli()
	c.frames = append(c.frames, newFrame(c.dice, c.name, c.last, at))
	if c.dice.IntN(40) != 0 {
		return
	}
	first := len(c.frames)
	for first > 0 && len(c.frames)-first < 5 && c.frames[first-1].Sent == 0 && !c.frames[first-1].Skip() {
		first--
	}
	if len(c.frames)-first > 1 {
		c.frames = append(c.frames[:first:first], newSkip(c.dice, c.frames[first:], at))
	}
}

const fabric = `{"type":"fabric","fabric":%d,"conferenceID":%q,"addedAt":%d,"remoteUserID":"bob","fabricUsage":"multiplex"}`

// Greeting is what a connection must hear first: hello, two fabrics, one set of columns.
func (c *Client) Greeting() []string {
	return c.GreetingFrom(c.claim())
}

// claim is what hello says of acked.
func (c *Client) claim() uint64 {
	if c.habits.Claim == nil {
		return c.acked
	}
	return c.habits.Claim(c.dice, c.acked)
}

// GreetingFrom is the Greeting of a client that says acked.
func (c *Client) GreetingFrom(acked uint64) []string {
	return []string{
		fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":%d,"at":%d}`, c.token, c.session, acked, c.habits.Now().UnixMilli()),
		fmt.Sprintf(fabric, 1, c.habits.ConferenceID, c.addedAt),
		fmt.Sprintf(fabric, 2, c.habits.ConferenceID, c.addedAt),
		`{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","codec","packets","jitterMs"]}`,
	}
}

// Login gets a token where there is none; the collector may be away just now.
func (c *Client) Login(ctx context.Context) bool {
	if c.token != "" {
		return true
	}
	grant, err := authtest.Login(ctx, c.http, c.url(), Origin, AppID, AppSecret, protocol.UserID{Name: c.name, Alias: c.name})
	if err != nil {
		return false
	}
	c.token = grant.Token
	if c.session == "" {
		c.session = grant.Session
	}
	return true
}

// answer takes what a server says of frames. bye reports that the connection is over.
func (c *Client) answer(message any) (bye bool, err error) {
	switch m := message.(type) {
	case *protocol.Ack:
		return false, c.acknowledged(m.Seq)
	case *protocol.Nack:
		return false, c.refused(m)
	case *protocol.Welcome:
	case *protocol.Bye:
		if !m.Retry {
			return true, fmt.Errorf("bye for good: %s %s", m.Code, m.Message)
		}
		return true, nil
	default:
		return true, fmt.Errorf("unexpected %T: %+v", m, m)
	}
	return false, nil
}

func (c *Client) acknowledged(seq uint64) error {
	if seq > c.last {
		return fmt.Errorf("ack of %d, the last number is %d", seq, c.last)
	}
	c.acked = max(c.acked, seq)
	for c.settled < len(c.frames) && c.frames[c.settled].Seq <= c.acked {
		f := c.frames[c.settled]
		if f.Sent == 0 {
			return fmt.Errorf("ack of %d, which was never sent", f.Seq)
		}
		if f.Bad && f.Refused == "" {
			return fmt.Errorf("ack of %d, which had to be refused", f.Seq)
		}
		f.Acked = true
		c.settled++
	}
	c.cursor = max(c.cursor, c.settled)
	return nil
}

func (c *Client) refused(m *protocol.Nack) error {
	for _, f := range c.frames {
		if f.Seq == m.Seq && f.Bad {
			f.Refused = m.Code
			return nil
		}
	}
	return fmt.Errorf("refused: seq %d, %s %s: %s", m.Seq, m.Code, m.Field, m.Message)
}
