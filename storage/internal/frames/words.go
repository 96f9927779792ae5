package frames

import (
	"maps"
	"sync/atomic"
)

// MaxWords bounds a dictionary. Names beyond it are written out in each body: records
// from elsewhere may bring any number of names.
const MaxWords = 4096

// Dictionary maps the words of a store to ids and back. Only committed words are in it,
// and a word is never removed. It is safe for concurrent use.
type Dictionary struct {
	current atomic.Pointer[words]
}

type words struct {
	ids   map[string]uint64
	texts map[uint64]string
}

// NewDictionary returns a dictionary without words.
func NewDictionary() *Dictionary {
	d := &Dictionary{}
	d.current.Store(&words{})
	return d
}

// Text returns the word of an id.
func (d *Dictionary) Text(id uint64) (string, bool) {
	text, ok := d.current.Load().texts[id]
	return text, ok
}

// Room returns how many more words can be learnt.
func (d *Dictionary) Room() int { return max(0, MaxWords-len(d.current.Load().ids)) }

// Add takes in committed words.
func (d *Dictionary) Add(learnt map[string]uint64) {
	for {
		have := d.current.Load()
		next := &words{ids: make(map[string]uint64, len(have.ids)+len(learnt)), texts: make(map[uint64]string, len(have.ids)+len(learnt))}
		maps.Copy(next.ids, have.ids)
		maps.Copy(next.texts, have.texts)
		for text, id := range learnt {
			next.ids[text], next.texts[id] = id, text
		}
		if d.current.CompareAndSwap(have, next) {
			return
		}
	}
}

func (d *Dictionary) ids() map[string]uint64 { return d.current.Load().ids }

// ID returns the id of a word, 0 when it has none.
func (d *Dictionary) ID(word string) uint64 { return d.ids()[word] }
