// Package identity is the room of who takes part and who may see what: sessions of clients (auth), people at the
// dashboard (access), their names in texts (mask, pseudonym, visible) and credentials of TURN servers (turnrest).
package identity
