package hours

import (
	"container/list"
	"time"

	"github.com/qosrtc/qos/internal/call/digest"
)

// maxBytes bounds the columns that are kept: some 200,000 conferences of two or three participants.
const maxBytes = 64 << 20

// cache is the columns of hours, of which those that were used last are kept. The zero value is empty.
type cache struct {
	of    map[key]*list.Element // of cached
	order list.List             // the last used first
	bytes int
}

// cached is the columns of an hour.
type cached struct {
	of      key
	columns *digest.Columns
	bytes   int
	at      time.Time // when they were read
}

// get returns the columns of an hour of an app, or nil.
func (c *cache) get(of key, now time.Time) *digest.Columns {
	e, ok := c.of[of]
	if !ok {
		return nil
	}
	one := e.Value.(*cached) // put makes it
	if now.Sub(one.at) > maxAge {
		c.remove(of)
		return nil
	}
	c.order.MoveToFront(e)
	return one.columns
}

func (c *cache) put(of key, columns *digest.Columns, now time.Time) {
	c.remove(of)
	if c.of == nil {
		c.of = map[key]*list.Element{}
	}
	one := &cached{of, columns, columns.Bytes(), now}
	c.of[of] = c.order.PushFront(one)
	for c.bytes += one.bytes; c.bytes > maxBytes; {
		c.remove(c.order.Back().Value.(*cached).of) // put makes it
	}
}

func (c *cache) remove(of key) {
	if e, ok := c.of[of]; ok {
		c.bytes -= e.Value.(*cached).bytes // put makes it
		c.order.Remove(e)
		delete(c.of, of)
	}
}
