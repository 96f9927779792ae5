package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
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
	var session uuid.UUID
	binary.BigEndian.PutUint64(session[:], uint64(now.UnixMilli())<<16)
	copy(session[6:], randomBytes(sessionBytes-tagBytes-6))
	session[6] = session[6]&0x0f | 0x70
	session[8] = session[8]&0x3f | 0x80
	copy(session[sessionBytes-tagBytes:], k.newest().tag(session[:sessionBytes-tagBytes], id))
	return session.String()
}

// CheckSession reports whether session is an id that MintSession made for the identity,
// with any of the installation's keys.
func (k *Keys) CheckSession(session string, id Identity) bool {
	parsed, err := uuid.Parse(session)
	if err != nil {
		return false
	}
	body, tag := parsed[:sessionBytes-tagBytes], parsed[sessionBytes-tagBytes:]
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
