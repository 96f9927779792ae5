package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// commandTimeout bounds one WebDriver BiDi command.
const commandTimeout = patience

// bidi is a connection that speaks WebDriver BiDi, which both browsers understand.
type bidi struct {
	conn    *websocket.Conn
	console func(text string) // takes what pages write to their console

	write   sync.Mutex
	mu      sync.Mutex
	last    int
	waiting map[int]chan bidiMessage
	gone    error
	wg      sync.WaitGroup
}

// bidiMessage is an answer or an event.
type bidiMessage struct {
	Type    string          `json:"type"`
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Params  json.RawMessage `json:"params"`
	Error   string          `json:"error"`
	Message string          `json:"message"`
}

func dialBidi(url string, console func(string)) (*bidi, error) {
	conn, resp, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		return nil, fmt.Errorf("BiDi %s: %w", url, err)
	}
	_ = resp.Body.Close()
	b := &bidi{conn: conn, console: console, waiting: map[int]chan bidiMessage{}}
	b.wg.Go(b.read)
	return b, nil
}

func (b *bidi) read() {
	for {
		var m bidiMessage
		if err := b.conn.ReadJSON(&m); err != nil {
			b.end(err)
			return
		}
		if m.Type == "event" {
			b.event(m)
			continue
		}
		b.mu.Lock()
		answer := b.waiting[m.ID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

func (b *bidi) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = err
	for id, answer := range b.waiting {
		close(answer)
		delete(b.waiting, id)
	}
}

func (b *bidi) event(m bidiMessage) {
	var entry struct {
		Level string `json:"level"`
		Text  string `json:"text"`
	}
	if m.Method == "log.entryAdded" && json.Unmarshal(m.Params, &entry) == nil {
		b.console(entry.Level + ": " + entry.Text)
	}
}

// do sends a command and decodes its result into result, unless that is nil.
func (b *bidi) do(method string, params map[string]any, result any) error {
	answer, id, err := b.expect()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	b.write.Lock()
	err = b.conn.WriteJSON(map[string]any{"id": id, "method": method, "params": params})
	b.write.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: the browser went away", method)
		case m.Type == "error":
			return fmt.Errorf("%s: %s: %s", method, m.Error, m.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-time.After(commandTimeout):
		return fmt.Errorf("%s: no answer within %s", method, commandTimeout)
	}
}

func (b *bidi) expect() (chan bidiMessage, int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone != nil {
		return nil, 0, b.gone
	}
	b.last++
	answer := make(chan bidiMessage, 1)
	b.waiting[b.last] = answer
	return answer, b.last, nil
}

func (b *bidi) close() {
	_ = b.conn.Close() // the browser may have closed it first
	b.wg.Wait()
}

// open opens a window and goes to the URL.
func (b *bidi) open(url string) (context string, err error) {
	var created struct {
		Context string `json:"context"`
	}
	if err := b.do("browsingContext.create", map[string]any{"type": "window"}, &created); err != nil {
		return "", err
	}
	return created.Context, b.navigate(created.Context, url)
}

func (b *bidi) navigate(context, url string) error {
	return b.do("browsingContext.navigate", map[string]any{"context": context, "url": url, "wait": "complete"}, nil)
}

// evaluate awaits a JavaScript expression in the page and decodes its value.
func (b *bidi) evaluate(context, expression string, value any) error {
	var answer struct {
		Type   string `json:"type"`
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	err := b.do("script.evaluate", map[string]any{
		"expression":   "(async () => JSON.stringify(await (" + expression + ")))()",
		"target":       map[string]any{"context": context},
		"awaitPromise": true,
	}, &answer)
	if err != nil {
		return err
	}
	if answer.Type != "success" {
		return fmt.Errorf("%s: %s", expression, answer.Exception.Text)
	}
	if value == nil || len(answer.Result.Value) == 0 {
		return nil // undefined
	}
	var text string
	if err := json.Unmarshal(answer.Result.Value, &text); err != nil {
		return err
	}
	return json.NewDecoder(strings.NewReader(text)).Decode(value)
}

// screenshot returns a PNG in base64, of the document or of the viewport.
func (b *bidi) screenshot(context, origin string) (string, error) {
	var shot struct {
		Data string `json:"data"`
	}
	err := b.do("browsingContext.captureScreenshot", map[string]any{"context": context, "origin": origin}, &shot)
	if err == nil && shot.Data == "" {
		err = errors.New("an empty screenshot")
	}
	return shot.Data, err
}
