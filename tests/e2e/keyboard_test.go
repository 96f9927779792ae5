package e2e

import (
	"fmt"

	"github.com/stretchr/testify/require"
)

// Keys of WebDriver that are no characters.
const (
	keyTab    = "\uE004"
	keyEnter  = "\uE007"
	keyEscape = "\uE00C"
)

// press presses keys, one after the other.
func (p *page) press(keys ...string) {
	p.T.Helper()
	var actions []map[string]any
	for _, key := range keys {
		actions = append(actions, map[string]any{"type": "keyDown", "value": key}, map[string]any{"type": "keyUp", "value": key})
	}
	require.NoError(p.T, p.Browser.Do("input.performActions", map[string]any{
		"context": p.Context, "actions": []any{map[string]any{"type": "key", "id": "keyboard", "actions": actions}},
	}, nil), p.Name)
}

// types types a text into what has the focus.
func (p *page) types(text string) {
	p.T.Helper()
	var keys []string
	for _, r := range text {
		if r == '\n' {
			keys = append(keys, keyEnter)
			continue
		}
		keys = append(keys, string(r))
	}
	p.press(keys...)
}

// maxTabs bounds the stops between two elements of a page.
const maxTabs = 120

// tabTo moves the focus to an element by the Tab key alone.
func (p *page) tabTo(selector string) {
	p.T.Helper()
	p.Until(patience, "document.querySelector("+quote(selector)+")")
	var at string
	for range maxTabs {
		var there bool
		p.Get("Boolean(document.activeElement?.matches("+quote(selector)+"))", &there)
		if there {
			return
		}
		p.press(keyTab)
	}
	p.Get("document.activeElement?.outerHTML", &at)
	require.Fail(p.T, "Tab does not reach the element", "%s: %s\nfocus: %s", p.Name, selector, at)
}

// focused waits until an element has the focus, without a key.
func (p *page) focused(selector string) {
	p.T.Helper()
	p.Until(patience, "document.activeElement?.matches("+quote(selector)+")")
}

// write replaces what a control has by a text, with the keyboard.
func (p *page) write(selector, text string) {
	p.T.Helper()
	p.Run(fmt.Sprintf("(() => { const c = document.querySelector(%s); c.focus(); c.select(); })()", quote(selector)))
	if text == "" {
		p.press("\uE003") // Backspace
		return
	}
	p.types(text)
}

// click activates an element as a mouse does.
func (p *page) click(selector string) {
	p.T.Helper()
	p.Until(patience, fmt.Sprintf(`(() => {
		const e = document.querySelector(%s);
		return e && !e.disabled && !e.closest('[inert]') && (e.closest('dialog') || !document.querySelector('dialog'));
	})()`, quote(selector)))
	p.Run(fmt.Sprintf("document.querySelector(%s).click()", quote(selector)))
}
