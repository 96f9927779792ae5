package browser

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
const commandTimeout = Patience

// BiDi is a connection that speaks WebDriver BiDi, which both browsers implement.
type BiDi struct {
	conn    *websocket.Conn
	console func(text string) // receives each line that pages write to their console

	write   sync.Mutex
	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	gone    error
	wg      sync.WaitGroup
}

// message is an answer or an event.
type message struct {
	Type    string          `json:"type"`
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Params  json.RawMessage `json:"params"`
	Error   string          `json:"error"`
	Message string          `json:"message"`
}

func dialBidi(url string, console func(string)) (*BiDi, error) {
	conn, resp, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		return nil, fmt.Errorf("BiDi %s: %w", url, err)
	}
	_ = resp.Body.Close()
	b := &BiDi{conn: conn, console: console, waiting: map[int]chan message{}}
	b.wg.Go(b.read)
	return b, nil
}

func (b *BiDi) read() {
	for {
		var m message
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

func (b *BiDi) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = err
	for id, answer := range b.waiting {
		close(answer)
		delete(b.waiting, id)
	}
}

func (b *BiDi) event(m message) {
	var entry struct {
		Level string `json:"level"`
		Text  string `json:"text"`
	}
	if m.Method == "log.entryAdded" && json.Unmarshal(m.Params, &entry) == nil {
		b.console(entry.Level + ": " + entry.Text)
	}
}

// Do sends a command and decodes its result into result, unless that is nil.
func (b *BiDi) Do(method string, params map[string]any, result any) error {
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

func (b *BiDi) expect() (chan message, int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone != nil {
		return nil, 0, b.gone
	}
	b.last++
	answer := make(chan message, 1)
	b.waiting[b.last] = answer
	return answer, b.last, nil
}

func (b *BiDi) close() {
	_ = b.conn.Close() // the browser may have closed it first
	b.wg.Wait()
}

// Open opens a window and loads the URL in it.
func (b *BiDi) Open(url string) (context string, err error) {
	var created struct {
		Context string `json:"context"`
	}
	if err := b.Do("browsingContext.create", map[string]any{"type": "window"}, &created); err != nil {
		return "", err
	}
	return created.Context, b.Navigate(created.Context, url)
}

// Navigate loads the URL in a window.
func (b *BiDi) Navigate(context, url string) error {
	return b.Do("browsingContext.navigate", map[string]any{"context": context, "url": url, "wait": "complete"}, nil)
}

// Evaluate awaits a JavaScript expression in the page and decodes its value.
func (b *BiDi) Evaluate(context, expression string, value any) error {
	var answer struct {
		Type   string `json:"type"`
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	err := b.Do("script.evaluate", map[string]any{
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

// Screenshot returns a PNG in base64, of the document or of the viewport.
func (b *BiDi) Screenshot(context, origin string) (string, error) {
	var shot struct {
		Data string `json:"data"`
	}
	err := b.Do("browsingContext.captureScreenshot", map[string]any{"context": context, "origin": origin}, &shot)
	if err == nil && shot.Data == "" {
		err = errors.New("an empty screenshot")
	}
	return shot.Data, err
}
