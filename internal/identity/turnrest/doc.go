// Package turnrest makes and reads short-lived credentials of TURN servers: the REST scheme of
// draft-uberti-behave-turn-rest, which coturn (use-auth-secret) and others implement. A holder of the
// secret that a TURN server has makes credentials for it without a request to it.
//
// A username is "expiry:kind:app:user": the time of expiry in seconds since 1970, what the credential is
// for, the app ID in query escapes, and a keyed hash of the user ID. A server learns from it whose quota an
// allocation counts against and never the user ID. The credential is base64 of HMAC-SHA1 of the username.
package turnrest
