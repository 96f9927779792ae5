package erasure

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/identity/mask"
)

// names are identifiers of a user: unchanged, and in the form by which texts are searched for them.
type names struct {
	IDs   digests `json:"ids,omitzero"`
	Forms digests `json:"forms,omitzero"`
}

func (n *names) add(key []byte, id string) {
	n.IDs.add(key, id)
	if form := mask.Form(id); form != "" {
		n.Forms.add(key, form)
	}
}

// digests are keyed digests of texts.
type digests struct {
	Sums  []keyed         `json:"sums"`
	known map[string]bool // cached results of has, by text
}

// keyed is a keyed digest.
type keyed struct {
	Length int    `json:"n"` // of the text in bytes
	Sum    []byte `json:"sum"`
}

// maxKnown bounds digests.known.
const maxKnown = 4096

func (d *digests) add(key []byte, text string) {
	d.Sums, d.known = append(d.Sums, keyed{len(text), sum(key, text)}), nil
}

// has reports whether the digest of a text is one of them.
func (d *digests) has(key []byte, text string) bool {
	if text == "" || !slices.ContainsFunc(d.Sums, func(k keyed) bool { return k.Length == len(text) }) {
		return false
	}
	if is, ok := d.known[text]; ok {
		return is
	}
	digest := sum(key, text)
	is := slices.ContainsFunc(d.Sums, func(k keyed) bool { return hmac.Equal(k.Sum, digest) })
	if d.known == nil || len(d.known) >= maxKnown {
		d.known = map[string]bool{}
	}
	d.known[strings.Clone(text)] = is
	return is
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)[:sumBytes]
}
