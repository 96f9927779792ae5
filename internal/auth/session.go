package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

// A session id is a UUID of version 7 whose last four bytes are a tag: what the
// installation's key makes of the twelve before it and of whom it was given to. So a
// session is taken up again by a token of the same app, user and origin and by no other,
// at any collector, and none has to remember it. Who guesses needs 2^31 connections on
// average to take up one session, whose id they must know already.
const (
	sessionBytes = 16
	tagBytes     = 4
)

// MintSession returns an id for a session of the identity that begins at now.
func (k *Keys) MintSession(id Identity, now time.Time) string {
	var uuid [sessionBytes]byte
	binary.BigEndian.PutUint64(uuid[:], uint64(now.UnixMilli())<<16)
	copy(uuid[6:], randomBytes(sessionBytes-tagBytes-6))
	uuid[6] = uuid[6]&0x0f | 0x70
	uuid[8] = uuid[8]&0x3f | 0x80
	copy(uuid[sessionBytes-tagBytes:], k.newest().tag(uuid[:sessionBytes-tagBytes], id))
	text := hex.EncodeToString(uuid[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// CheckSession reports whether session is an id that MintSession made for the identity,
// with any of the installation's keys.
func (k *Keys) CheckSession(session string, id Identity) bool {
	uuid, err := hex.DecodeString(strings.ReplaceAll(session, "-", ""))
	if err != nil || len(uuid) != sessionBytes {
		return false
	}
	body, tag := uuid[:sessionBytes-tagBytes], uuid[sessionBytes-tagBytes:]
	fits := 0
	for i := range k.all {
		fits |= subtle.ConstantTimeCompare(k.all[i].tag(body, id), tag)
	}
	return fits == 1
}

// tag is the last part of a session id. Each text stands after its length, so that no two
// identities give the same bytes.
func (s *keySet) tag(body []byte, id Identity) []byte {
	h := hmac.New(sha256.New, s.session)
	h.Write(body)
	for _, text := range []string{id.AppID, id.User.Name, id.User.Alias, id.Origin} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
		h.Write([]byte(text))
	}
	return h.Sum(nil)[:tagBytes]
}
